// Makes the wall live: hears from the server that the standing is another one, has htmx fetch it, says what is new.
// Without it the wall is a page that one loads again.

const SPREAD = 800; // ms: two hundred walls do not ask at the same moment
const AGAIN = 3000; // ms until a connection that was refused is tried again
const TURN = 12000; // ms for each group when all are shown in turn

const board = () => document.getElementById("board");
const still = matchMedia("(prefers-reduced-motion: reduce)");
let fetching = 0;
let before = null;
let touring = 0;

function say(words) {
  document.getElementById("news").textContent = words;
}

function live(connected) {
  const lamp = document.getElementById("live");
  const words = connected ? "Live" : "Connection lost, trying again";
  if (lamp.hidden || document.getElementById("live-words").textContent !== words) {
    lamp.hidden = false;
    lamp.classList.toggle("lost", !connected);
    document.getElementById("live-words").textContent = words;
  }
}

function refresh() {
  if (!fetching) {
    fetching = setTimeout(() => {
      fetching = 0;
      htmx.trigger(board(), "standing");
    }, Math.random() * SPREAD);
  }
}

function listen() {
  const events = new EventSource(board().dataset.events);
  let first = true; // the first event of a connection says how things are, later ones that they have changed
  events.addEventListener("open", () => { live(true); first = true; });
  events.addEventListener("standing", (event) => {
    if (!first || String(JSON.parse(event.data).version) !== board().dataset.version) refresh();
    first = false;
  });
  events.addEventListener("error", () => {
    live(false);
    if (events.readyState === EventSource.CLOSED) {
      setTimeout(listen, AGAIN);
    }
  });
  addEventListener("pagehide", () => events.close());
}

// What is compared before and after: who is first on each split, where each row stands, which details are open.
function look() {
  const seen = { first: {}, tops: {}, text: {}, open: [] };
  for (const panel of document.querySelectorAll("[data-first]")) seen.first[panel.dataset.split] = panel.dataset.first;
  for (const row of document.querySelectorAll("tr.row")) {
    seen.tops[row.id] = row.getBoundingClientRect().top + scrollY;
    seen.text[row.id] = row.textContent;
  }
  for (const each of document.querySelectorAll("details[open]")) seen.open.push(each.id);
  return seen;
}

function news(was, is) {
  const said = [];
  for (const [split, first] of Object.entries(is.first)) {
    const names = JSON.parse(first);
    if (first === was.first[split] || !names.length) continue;
    if (names.length === 1) said.push(`${names[0]} is now first on the ${split} split.`);
    else if (names.length < 4) {
      said.push(`${names.slice(0, -1).join(", ")} and ${names.at(-1)} now share the first rank on the ${split} split.`);
    } else said.push(`${names.length} groups now share the first rank on the ${split} split.`);
  }
  if (said.length) say(said.join(" "));
}

function move(was, is) {
  if (still.matches) return;
  for (const row of document.querySelectorAll("tr.row")) {
    const by = was.tops[row.id] - is.tops[row.id];
    if (by) row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 700, easing: "ease" });
    else if (was.tops[row.id] === undefined) row.animate([{ opacity: 0 }, { opacity: 1 }], 700);
    if (was.text[row.id] !== is.text[row.id]) row.classList.add("changed");
  }
}

function left(seconds) {
  const parts = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const from = Math.max(0, parts.findIndex(([size]) => seconds >= size));
  return parts.slice(from, from + 2).map(([size, name], i) => {
    const n = Math.floor((i ? seconds % parts[from][0] : seconds) / size);
    return `${n} ${name}${n === 1 ? "" : "s"}`;
  }).join(" ");
}

let clock = null;
function tick() {
  const shown = document.getElementById("left");
  if (!shown) return;
  if (!clock || clock.shown !== shown) clock = { shown, at: performance.now(), seconds: Number(shown.dataset.seconds) };
  const seconds = Math.floor(clock.seconds - (performance.now() - clock.at) / 1000);
  if (seconds <= 0) {
    shown.removeAttribute("id");
    refresh();
  } else shown.textContent = left(seconds);
}

function turn() {
  const choose = document.getElementById("choose-group");
  if (!choose || choose.options.length < 2) return;
  const next = choose.options[(choose.selectedIndex + 1) % choose.options.length].value;
  const url = new URL(location.href);
  url.search = new URLSearchParams({ group: next });
  url.hash = "";
  before = look();
  htmx.ajax("GET", url.href, { target: "#board", select: "#board", swap: "outerHTML" });
}

function tour(on) {
  clearInterval(touring);
  touring = on ? setInterval(turn, TURN) : 0;
  show();
  if (on) turn();
}

function show() {
  const button = document.getElementById("tour");
  if (!button) return;
  button.hidden = false;
  button.setAttribute("aria-pressed", String(Boolean(touring)));
  button.textContent = touring ? "Stop" : "Show each in turn";
}

document.addEventListener("click", (event) => {
  if (event.target.id === "tour") tour(!touring);
});

addEventListener("DOMContentLoaded", () => {
  document.body.addEventListener("htmx:beforeSwap", () => { before = look(); });
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const id of before.open) document.getElementById(id)?.setAttribute("open", "");
    const is = look();
    news(before, is);
    move(before, is);
    show();
    tick();
  });
  show();
  tick();
  setInterval(tick, 1000);
  listen();
});
