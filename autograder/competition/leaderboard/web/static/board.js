// Keeps the wall up to date: the server announces a new standing, htmx fetches it, and the news is announced.
// Without this script the wall is a page to reload by hand.

const SPREAD = 800; // ms over which two hundred walls spread their requests
const AGAIN = 3000; // ms until a refused connection is tried again
const TURN = 12000; // ms per group when all are shown in turn

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
  let first = true; // the first event of a connection has the present version, later ones announce a change
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

// What is compared before and after a change: the leaders of each split, each row's place and text, open details.
function readState() {
  const state = { first: {}, tops: {}, text: {}, open: [] };
  for (const panel of document.querySelectorAll("[data-first]")) state.first[panel.dataset.split] = panel.dataset.first;
  for (const row of document.querySelectorAll("tr.row")) {
    state.tops[row.id] = row.getBoundingClientRect().top + scrollY;
    state.text[row.id] = row.textContent;
  }
  for (const each of document.querySelectorAll("details[open]")) state.open.push(each.id);
  return state;
}

function announce(was, is) {
  const sentences = [];
  for (const [split, first] of Object.entries(is.first)) {
    const names = JSON.parse(first);
    if (first === was.first[split] || !names.length) continue;
    if (names.length === 1) sentences.push(`${names[0]} is now first on the ${split} split.`);
    else if (names.length < 4) {
      sentences.push(`${names.slice(0, -1).join(", ")} and ${names.at(-1)} now share the first rank on the ${split} split.`);
    } else sentences.push(`${names.length} groups now share the first rank on the ${split} split.`);
  }
  if (sentences.length) say(sentences.join(" "));
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

function formatDuration(seconds) {
  const parts = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const from = Math.max(0, parts.findIndex(([size]) => seconds >= size));
  return parts.slice(from, from + 2).map(([size, name], i) => {
    const n = Math.floor((i ? seconds % parts[from][0] : seconds) / size);
    return `${n} ${name}${n === 1 ? "" : "s"}`;
  }).join(" ");
}

let clock = null;
function tick() {
  const element = document.getElementById("left");
  if (!element) return;
  if (!clock || clock.element !== element) clock = { element, at: performance.now(), seconds: Number(element.dataset.seconds) };
  const seconds = Math.floor(clock.seconds - (performance.now() - clock.at) / 1000);
  if (seconds <= 0) {
    element.removeAttribute("id");
    refresh();
  } else element.textContent = formatDuration(seconds);
}

function turn() {
  const choose = document.getElementById("choose-group");
  if (!choose || choose.options.length < 2) return;
  const next = choose.options[(choose.selectedIndex + 1) % choose.options.length].value;
  const url = new URL(location.href);
  url.search = new URLSearchParams({ group: next });
  url.hash = "";
  before = readState();
  htmx.ajax("GET", url.href, { target: "#board", select: "#board", swap: "outerHTML" });
}

function tour(on) {
  clearInterval(touring);
  touring = on ? setInterval(turn, TURN) : 0;
  updateButton();
  if (on) turn();
}

function updateButton() {
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
  document.body.addEventListener("htmx:beforeSwap", () => { before = readState(); });
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const id of before.open) document.getElementById(id)?.setAttribute("open", "");
    const is = readState();
    announce(before, is);
    move(before, is);
    updateButton();
    tick();
  });
  updateButton();
  tick();
  setInterval(tick, 1000);
  listen();
});
