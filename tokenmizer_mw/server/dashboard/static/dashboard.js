"use strict";

// Everything works without this file: it renews what changed, moves the slider, and fills in a token from a link.

const renewAfter = 250;
const slideAfter = 400;
const main = document.getElementById("main");

function busy(part) {
  const here = document.activeElement;
  return part.contains(here) && here !== part || part.querySelector("details[open], form:focus-within") !== null;
}

function renewed(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const part of document.querySelectorAll("[data-live][id]")) {
    const other = fresh.getElementById(part.id);
    if (part.dataset.load) { load(part); continue; }
    if (!other || busy(part) || other.isEqualNode(part)) continue;
    const scrolled = [...part.querySelectorAll(".block, .drawing")].map((box) => box.scrollTop);
    part.replaceWith(document.adoptNode(other));
    const boxes = document.getElementById(part.id).querySelectorAll(".block, .drawing");
    for (const [place, box] of boxes.entries()) if (scrolled[place]) box.scrollTop = scrolled[place];
  }
  zooming();
}

// The picture of the graph in another size: what stands in the middle of its box stays there.
const zoomStep = 1.25;
let zoomed = 1;

function zoom(box, factor) {
  const svg = box.querySelector("svg");
  const { width, height } = svg.viewBox.baseVal;
  const x = (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth;
  const y = box.scrollTop && (box.scrollTop + box.clientHeight / 2) / box.scrollHeight;
  zoomed = Math.min(4, Math.max(0.1, factor));
  svg.setAttribute("width", width * zoomed);
  svg.setAttribute("height", height * zoomed);
  box.scrollLeft = x * box.scrollWidth - box.clientWidth / 2;
  box.scrollTop = y * box.scrollHeight - box.clientHeight / 2;
}

function zooming() {
  const box = document.querySelector(".drawing");
  const buttons = document.querySelector(".zoom[hidden]");
  if (!box || !buttons) return;
  const steps = {
    in: () => zoom(box, zoomed * zoomStep),
    out: () => zoom(box, zoomed / zoomStep),
    whole: () => zoom(box, box.clientWidth / box.querySelector("svg").viewBox.baseVal.width),
  };
  const keys = { "+": steps.in, "=": steps.in, "-": steps.out, 0: steps.whole };
  buttons.hidden = false;
  for (const button of buttons.children) button.addEventListener("click", steps[button.dataset.zoom]);
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  if (zoomed !== 1) zoom(box, zoomed);
}

// What takes long is loaded behind the rest of the page: from the page at data-load comes the part of the same id.
async function load(part) {
  try {
    const answer = await fetch(part.dataset.load, { credentials: "same-origin", redirect: "manual" });
    if (!answer.ok) return;
    const other = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(part.id);
    if (!other || busy(part) || other.isEqualNode(part)) return;
    const scrolled = part.querySelector(".block")?.scrollTop ?? 0;
    part.replaceWith(document.adoptNode(other));
    if (scrolled) other.querySelector(".block").scrollTop = scrolled;
  } catch {
    // The link in the part leads to the same page.
  }
}

function listen(address) {
  const sign = document.getElementById("live");
  const source = new EventSource(address);
  let waiting = 0;
  async function renew() {
    waiting = 0;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin", redirect: "manual" });
      if (answer.status === 401 || answer.status === 403 || answer.type === "opaqueredirect") source.close();
      else if (answer.ok) renewed(await answer.text());
    } catch {
      // The server is away: the stream says so, and the browser tries again.
    }
  }
  source.addEventListener("open", () => { if (sign) sign.hidden = false; });
  source.addEventListener("error", () => { if (sign) sign.hidden = true; });
  source.addEventListener("change", () => { if (!waiting) waiting = setTimeout(renew, renewAfter); });
  addEventListener("pagehide", () => source.close());
}

function slide(form) {
  const range = form.querySelector("input[type=range]");
  const shown = form.querySelector("output");
  const moments = (range.dataset.moments ?? "").split(",");
  range.addEventListener("input", () => {
    const [number, seconds] = (moments[range.value - 1] ?? "").split(" ");
    const when = seconds ? new Date(seconds * 1000).toISOString() : "";
    const message = number === "0" ? "no message" : `message ${number}`;
    const label = when && `: ${message}, ${when.slice(0, 10)} ${when.slice(11, 19)} UTC`;
    shown.textContent = `change ${range.value} of ${range.max}${label}`;
    range.setAttribute("aria-valuetext", shown.textContent);
  });
  form.querySelector("button").hidden = true;
  let waiting = 0;
  range.addEventListener("change", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => form.requestSubmit(), slideAfter); // whoever holds a key down is not there yet
  });
  for (const choice of form.elements) {
    if (choice.type === "radio") choice.addEventListener("change", () => form.requestSubmit()); // stands outside of it
  }
}

function signIn(form) {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.secret.value = given;
  form.requestSubmit();
}

for (const part of document.querySelectorAll("[data-load]")) if (!part.querySelector(".block")) load(part);
if (main?.dataset.events) listen(main.dataset.events);
for (const tab of document.querySelectorAll(".tabs [aria-current]")) tab.scrollIntoView({ block: "nearest", inline: "center" });
zooming();
const slider = document.getElementById("slider");
if (slider) slide(slider);
const login = document.getElementById("login");
if (login) {
  signIn(login);
  addEventListener("hashchange", () => signIn(login)); // the link was pasted where this page was open already
}
