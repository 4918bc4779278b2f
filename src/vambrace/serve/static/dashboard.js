// Keep the page of an experiment up to date: wait for news, then replace the part that changes and draw the charts.
"use strict";
const root = document.getElementById("experiment"), now = document.getElementById("now");
const live = document.getElementById("live"), address = `/v1/experiments/${encodeURIComponent(root.dataset.name)}`;
const sleep = (milliseconds) => new Promise((wake) => setTimeout(wake, milliseconds));
let past = null, width = 0;

async function get(url) {
  const answer = await fetch(url, {headers: {Accept: "application/json, text/html"}});
  if (answer.redirected || answer.status === 401) location.reload();  // the session has ended
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer;
}

async function drawAll() {
  const options = {planned: Number(root.dataset.planned) || 0, whole: now.querySelector(".answer").dataset.whole === "yes"};
  const rows = [...now.querySelectorAll("[data-rates]")].map((row) => JSON.parse(row.dataset.rates));
  width = document.body.clientWidth;
  for (const figure of document.querySelectorAll("figure[data-chart] > div")) {
    const name = figure.parentElement.dataset.chart;
    const spec = name === "rates" ? charts.rates(rows) : charts[name](past, options);
    await draw(figure, spec, figure.getAttribute("aria-label"));
  }
  root.dataset.drawn = past.events;
}

function replace(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html"), headline = now.querySelector("h1").textContent;
  for (const figure of now.querySelectorAll("figure[data-chart] > div")) {  // keep the drawings until there are new ones
    const place = fresh.querySelector(`figure[data-chart="${figure.parentElement.dataset.chart}"] > div`);
    if (place) place.replaceWith(figure);
  }
  for (const details of now.querySelectorAll("details[id]")) {
    const other = fresh.getElementById(details.id);
    if (other) other.open = details.open;
  }
  const focused = now.contains(document.activeElement) ? document.activeElement.id : "";
  now.replaceChildren(...fresh.body.childNodes);
  if (focused) document.getElementById(focused)?.focus({preventScroll: true});
  const changed = now.querySelector("h1").textContent;
  live.textContent = changed === headline ? "" : changed;
}

async function refresh() {
  const [text, data] = await Promise.all([get(`/experiments/${encodeURIComponent(root.dataset.name)}/now`), get(`${address}/history`)]);
  past = await data.json();
  replace(await text.text());
  await drawAll();
}

async function watch() {
  let failures = 0, last = Date.now(), known = Number(now.querySelector(".answer").dataset.events);
  past = await (await get(`${address}/history`)).json();
  await drawAll();
  for (;;) {
    try {
      if (document.hidden) { await sleep(1000); continue; }
      const news = past.behind ? {events: known} : await (await get(`${address}/changes?after=${known}&wait=20`)).json();
      if (news.events !== known || past.behind || Date.now() - last > 60000) {
        known = news.events;
        await refresh();
        last = Date.now();
        await sleep(past.behind ? 200 : 1000);
      }
      if (failures) live.textContent = "";
      failures = 0;
    } catch (error) {
      failures += 1;
      live.textContent = "No connection to the service; trying again.";
      await sleep(Math.min(30000, 1000 * 2 ** failures));
    }
  }
}
addEventListener("resize", () => setTimeout(() => { if (past && document.body.clientWidth !== width) drawAll(); }, 200));
watch();
