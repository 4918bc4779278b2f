// The charts of an experiment, as Vega-Lite: data in, a drawing in the colours of the page out. What a screen reader
// says stands in the page: a label for each chart, and a table of its numbers.
"use strict";
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8F4BE8", "#8C8C8C", "#BF0099"];
const RED = "#D62839", BLUE = "#2B8FD0", INK = "currentColor";
const LOOK = {background: null, font: "system-ui, sans-serif", view: {stroke: null},
  axis: {labelColor: INK, titleColor: INK, domainColor: INK, tickColor: INK, gridColor: INK, gridOpacity: 0.12,
    labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal"},
  legend: {labelColor: INK, titleColor: INK, labelFontSize: 12, orient: "top", title: null, symbolStrokeWidth: 3},
  text: {color: INK}};
const drawn = new Map();  // the view in each figure

async function draw(figure, spec, words) {
  if (typeof spec === "string") {  // why there is nothing to draw
    drawn.get(figure)?.finalize();
    drawn.delete(figure);
    figure.textContent = spec;
    return;
  }
  const room = Math.min(figure.clientWidth, 1000), known = drawn.get(figure);
  figure.style.minHeight = `${figure.clientHeight}px`;  // the page must not jump
  const full = {autosize: {type: "fit-x", contains: "padding"},
    width: room, height: 240, description: words, ...spec};
  const legend = {...LOOK.legend, columns: room < 500 ? 2 : 4, labelLimit: room < 500 ? 130 : 220};
  const result = await vegaEmbed(figure, full, {mode: "vega-lite", renderer: "svg", ast: true, actions: false,
    defaultStyle: false, tooltip: {disableDefaultStyle: true}, config: {...LOOK, legend}});
  figure.querySelector("svg").setAttribute("aria-hidden", "true");
  if (known) known.finalize();
  drawn.set(figure, result.view);
  figure.style.minHeight = "";
}

const time = (past) => {
  const days = (past.points.at(-1).time - past.points[0].time) / 86400;
  const axis = {title: "time (UTC)", grid: false, labelOverlap: true, tickCount: innerWidth < 600 ? 4 : 8,
    format: days > 2 ? "%-d %b" : days > 0.01 ? "%H:%M" : "%H:%M:%S"};
  return {field: "time", type: "temporal", scale: {type: "utc"}, axis};
};
const marked = (past) => past.points.length < 4 ? {filled: true, size: 60} : false;  // a line of one point is invisible

const charts = {
  rates(rows) {
    const best = rows.slice().sort((a, b) => (b.rate ?? -1) - (a.rate ?? -1)).slice(0, 20);
    const flat = best.map((row) => ({arm: row.arm, rate: row.rate, status: row.status,
      low: row.plain?.[0], high: row.plain?.[1], under: row.armoured?.[0], over: row.armoured?.[1]}));
    const y = {field: "arm", type: "nominal", title: null, sort: best.map((row) => row.arm),
      axis: {labelLimit: innerWidth < 600 ? 110 : 260, labelPadding: 8, ticks: false, domain: false}};
    const x = (field) => ({field, type: "quantitative", title: "rate", axis: {format: "~%", tickCount: 5}});
    const layer = (field, mark, more) => flat.some((row) => Number.isFinite(row[field])) ?
      [{transform: [{filter: `isValid(datum.${field})`}], mark, encoding: {y, x: x(field), ...more}}] : [];
    const known = layer("rate", {type: "point", filled: true, size: 110, opacity: 1, color: COLOURS[1], shape: "diamond"}, {});
    if (!known.length) return "There are no answers yet.";
    return {data: {values: flat}, height: 34 * flat.length, layer: [
      ...layer("under", {type: "rule", strokeWidth: 14, opacity: 0.35, color: BLUE}, {x2: {field: "over"}}),
      ...layer("low", {type: "rule", strokeWidth: 3, color: BLUE}, {x2: {field: "high"}}), ...known]};
  },
  certificate(past, options) {
    const values = past.points.map((point) => ({time: 1000 * point.time, leader: point.leader,
      needed: point.budget === null ? null : point.budget + (options.whole ? 1 : 0)}));
    if (!values.some((point) => point.needed !== null)) return "No arm has been ahead for certain so far.";
    const y = {field: "needed", type: "quantitative", title: "fakes to overturn it", scale: {domainMin: 0},
      axis: {tickCount: 5, tickMinStep: 1}};
    const layer = [{data: {values}, mark: {type: "line", color: RED, strokeWidth: 3, interpolate: "step-after",
      point: marked(past) && {...marked(past), color: RED}}, encoding: {x: time(past), y}}];
    if (options.planned) {
      layer.push({data: {values: [{planned: options.planned}]}, mark: {type: "rule", strokeDash: [2, 4], strokeWidth: 2,
        color: INK}, encoding: {y: {field: "planned", type: "quantitative"}}});
    }
    return {layer};
  },
  share(past) {
    const values = [], window = Math.ceil(past.points.length / 12);
    const made = past.points.map((point, n) => point.asked - (n ? past.points[n - 1].asked : 0));
    past.points.forEach((point, n) => {
      for (const [what, who] of [["shares", "decided"], ["shadow", "without armour"]]) {
        const sums = past.names.map(() => 0);
        for (let m = Math.max(0, n - window + 1); m <= n; m += 1) {
          if (past.points[m][what]) past.points[m][what].forEach((share, k) => { sums[k] += made[m] * share; });
        }
        const all = sums.reduce((a, b) => a + b, 0);
        if (all) past.names.forEach((arm, k) => values.push({time: 1000 * point.time, arm, share: sums[k] / all, who}));
      }
    });
    if (!values.length) return "There are no decisions yet.";
    const dash = {field: "who", ...(innerWidth < 600 && {legend: null}), scale: {domain: ["decided", "without armour"], range: [[1, 0], [5, 4]]}};
    return {data: {values}, mark: {type: "line", strokeWidth: 2, point: marked(past)}, encoding: {
      x: time(past), y: {field: "share", type: "quantitative", title: "share of decisions",
        axis: {format: "~%", tickCount: 5}, scale: {domain: [0, 1]}},
      color: {field: "arm", scale: {domain: past.names, range: COLOURS}}, strokeDash: dash}};
  },
  loss(past) {
    const values = past.points.flatMap((point) => [
      {time: 1000 * point.time, loss: point.loss, who: "decided"},
      {time: 1000 * point.time, loss: point.shadow_loss, who: "without armour"}]);
    const dash = {field: "who", scale: {domain: ["decided", "without armour"], range: [[1, 0], [5, 4]]}};
    return {data: {values}, mark: {type: "line", strokeWidth: 2.5, color: BLUE, point: marked(past)}, encoding: {
      x: time(past), y: {field: "loss", type: "quantitative", title: "rewards missed (estimate)", scale: {domainMin: 0},
        axis: {tickCount: 5}}, strokeDash: dash}};
  },
};
