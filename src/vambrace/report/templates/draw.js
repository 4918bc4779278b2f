// Lay each figure out for the width that there is, again when that changes; `ast` needs no right to make programs.
const ink = "currentColor";
const look = {background: null, font: "system-ui, sans-serif", view: {stroke: null},
  axis: {labelColor: ink, titleColor: ink, domainColor: ink, tickColor: ink, gridColor: ink, gridOpacity: 0.15,
    labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal"},
  legend: {labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12},
  header: {labelColor: ink, titleColor: ink, labelFontSize: 13}, title: {color: ink, subtitleColor: ink},
  text: {color: ink}, rule: {color: ink}};
async function draw(figure) {
  const spec = JSON.parse(figure.nextElementSibling.textContent), room = figure.clientWidth;
  const facets = Number(figure.dataset.facets), fitting = Math.max(1, Math.floor(room / 380));
  const rows = Math.ceil(facets / fitting), columns = Math.ceil(facets / rows);  // as even as can be: 2 + 2, not 3 + 1
  delete spec.title;  // the heading says it
  if (spec.spec) {
    spec.columns = columns;
    spec.spec.width = Math.max(180, Math.floor((room - 75 - 20 * (columns - 1)) / columns) - 10);
    spec.spec.height = Math.round(Math.max(200, Math.min(340, spec.spec.width * 0.7)));
  } else {
    spec.width = Math.min(spec.width, room - 85);  // one drawing, whose labels have their places
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const menu = {export: true, source: false, compiled: false, editor: false};
  const legend = {...look.legend, columns: Math.max(1, Math.floor(room / 330)), labelLimit: Math.min(320, room - 60)};
  const drawn = await vegaEmbed(figure, spec, {renderer: "svg", ast: true, actions: menu, config: {...look, legend},
    tooltip: {theme: dark ? "dark" : "light"}});
  figure.querySelector("summary").ariaLabel = "Save this figure";  // it shows three dots only
  figure.view = drawn.view;
}
// A line of a legend is a button that shows this line alone, and again all of them.
for (const line of document.querySelectorAll(".key [data-line]")) {
  const figure = line.closest("figure"), key = [...figure.querySelectorAll("[data-line]")];
  line.role = "button";
  line.tabIndex = 0;
  line.ariaPressed = "false";
  const pick = () => {
    const alone = line.ariaPressed === "false";
    for (const each of key) each.ariaPressed = String(each === line && alone);
    figure.querySelector("[data-facets]").view.signal("picked", alone ? line.dataset.line : "").run();
  };
  line.addEventListener("click", pick);
  line.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); }
  });
}
const figures = [...document.querySelectorAll("[data-facets]")];
let width = 0, waiting = 0;
async function drawAll() {
  width = document.body.clientWidth;
  for (const figure of figures) await draw(figure);
  document.body.dataset.drawn = figures.length;
}
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (document.body.clientWidth !== width) drawAll(); }, 200);
});
drawAll();
