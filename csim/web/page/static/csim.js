// What all views share: messages, live figures, pictures. Without scripts, forms work.
"use strict";

document.documentElement.classList.add("js");

const byId = (id) => document.getElementById(id);

function toast(text, isBad = false) {
  const box = byId("toast");
  if (!box) return;
  box.textContent = text;
  box.classList.toggle("bad", isBad);
  box.classList.add("shown");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.classList.remove("shown"), isBad ? 6000 : 2500);
}

/** Show small pictures pixel by pixel; of the smallest, people recognise more when they are smooth. */
function fitPicture(image) {
  const side = Math.max(image.naturalWidth, image.naturalHeight);
  image.classList.toggle("small", side <= 128);
  image.classList.toggle("pixelated", side > 16 && side <= 128);
}

function fitPictures(element) {
  for (const image of element.querySelectorAll("img.picture")) {
    if (image.complete) fitPicture(image);
  }
}

document.addEventListener(
  "load",
  ({ target }) => {
    if (target.classList?.contains("picture")) fitPicture(target);
  },
  true,
);
fitPictures(document);

// ---- Messages: sent once, repeated with the same key until the service confirms them ----

const UNSENT = "csim-unsent";
const unsent = new Map(JSON.parse(localStorage.getItem(UNSENT) || "[]"));

function keepUnsent() {
  localStorage.setItem(UNSENT, JSON.stringify([...unsent]));
}

// crypto.randomUUID is missing where the page comes by plain HTTP from another machine.
const newKey = () => `page ${Date.now()} ${Math.random()}`;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Send a message to the API until it is confirmed or refused; return the answer. */
async function send(path, body, key = newKey()) {
  unsent.set(key, { path, body });
  keepUnsent();
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": key },
        body: JSON.stringify(body),
      });
      if (response.status === 401) location.assign("/login?to=" + encodeURIComponent(location.pathname));
      if (response.status < 500 && response.status !== 429 && response.status !== 401) {
        unsent.delete(key);
        keepUnsent();
        const answer = await response.json();
        if (!response.ok) throw new RefusedError(answer.detail);
        return answer;
      }
    } catch (error) {
      if (error instanceof RefusedError) throw error;
    }
    connection("No connection. Your answers are kept and sent again.");
    await pause(Math.min(5000, 250 * 2 ** attempt));
  }
}

class RefusedError extends Error {}

// ---- Live figures ----

const onFigures = [];

function connection(text) {
  const box = byId("connection");
  box.textContent = text;
  box.hidden = !text;
}

function follow() {
  const source = new EventSource("/live");
  source.onopen = () => connection("");
  source.onerror = () => {
    connection("No connection. csim tries again by itself.");
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 2000);
  };
  source.onmessage = (event) => {
    const figures = JSON.parse(event.data);
    for (const element of document.querySelectorAll("[data-live]")) {
      const value = figures[element.dataset.live];
      element.textContent = typeof value === "number" ? value.toLocaleString("en") : value;
    }
    for (const react of onFigures) react(figures);
  };
  addEventListener("pagehide", () => source.close());
}

/** Return a function that replaces an element's content by a part of a page, not too often. */
function refresher(element, path, ms) {
  let isWaiting = false;
  return async () => {
    if (isWaiting) return;
    isWaiting = true;
    await pause(ms);
    isWaiting = false;
    try {
      const response = await fetch(path);
      if (response.ok && !element.contains(document.activeElement)) {
        element.innerHTML = await response.text();
      }
    } catch {
      // the live figures say that there is no connection
    }
  };
}

// ---- Grids of images: arrows move, x ticks ----

/** Let Tab stop at one image of a grid; arrows lead to the others. */
function makeOneStop(tiles) {
  tiles.forEach((tile, index) => (tile.tabIndex = index ? -1 : 0));
}

/** Move the focus in a grid by an arrow key, first to its first image. */
function moveInGrid(tiles, key) {
  const seen = tiles.filter((tile) => tile.checkVisibility());
  if (!seen.length) return;
  const now = seen.indexOf(document.activeElement);
  const tops = seen.map((tile) => tile.parentElement.getBoundingClientRect().top);
  const columns = Math.max(1, tops.filter((top) => Math.abs(top - tops[0]) < 2).length);
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  const next = now < 0 ? 0 : Math.min(seen.length - 1, Math.max(0, now + step));
  tiles.forEach((tile) => (tile.tabIndex = -1));
  seen[next].tabIndex = 0;
  seen[next].focus();
}

function tickTile(tiles) {
  const tile = document.activeElement;
  if (tiles.includes(tile)) tile.checked = !tile.checked;
  else moveInGrid(tiles, "ArrowRight");
}

/** On the page of a class, the keys choose wrong images and lead to the box for their name. */
function correctByKeys(form) {
  const tiles = [...form.querySelectorAll(".grid input")];
  makeOneStop(tiles);
  document.addEventListener("keydown", (event) => {
    const isTile = tiles.includes(event.target);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!isTile && event.target.matches("input, select, textarea")) return;
    let act = { x: () => tickTile(tiles), "/": () => byId("name").focus() }[event.key];
    if (event.key.startsWith("Arrow") && isTile) act = () => moveInGrid(tiles, event.key);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

// ---- Start ----

for (const [key, { path, body }] of unsent) {
  send(path, body, key).then(() => toast("An earlier answer is saved now"), () => {});
}
const overview = byId("overview");
if (overview) onFigures.push(refresher(overview, `/overview/part?span=${overview.dataset.span}`, 1500));
const correction = document.querySelector("form.correct");
if (correction) correctByKeys(correction);
if (byId("connection")) follow();

// For the scripts of single views.
window.csim = {
  byId, connection, fitPictures, makeOneStop, moveInGrid, onFigures, pause, refresher, send,
  tickTile, toast,
};
