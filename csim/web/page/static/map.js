// The map: draws points, shows pictures, selects by click or lasso, labels the selection.
"use strict";

(() => {
  const { send, toast } = window.csim;
  const canvas = document.getElementById("map");
  const context = canvas.getContext("2d");
  const layer = document.createElement("canvas"); // 5,000 points take too long for every move
  const hover = document.getElementById("map-hover");
  const state = document.getElementById("map-state");
  const legend = document.getElementById("map-legend");
  const panel = document.getElementById("map-selection");
  const isDark = matchMedia("(prefers-color-scheme: dark)");
  const MARGIN = 24;
  const REACH = 16; // pixels between neighbours of one cluster
  const MOST_PER_MESSAGE = 1000; // the service takes no more
  let points = [];
  let names = {};
  let selected = new Set();
  let lasso = null;

  // The golden angle keeps neighbouring class ids apart.
  function colour(classId) {
    if (classId === null) return isDark.matches ? "#f0a352" : "#b25b00";
    return `hsl(${(classId * 137.5 + 175) % 360} 55% ${isDark.matches ? 66 : 42}%)`;
  }

  /** Compute where points are on the screen, and draw them on a layer of their own. */
  function drawPoints() {
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const ratio = devicePixelRatio || 1;
    for (const one of [canvas, layer]) {
      one.width = width * ratio;
      one.height = height * ratio;
    }
    const pen = layer.getContext("2d");
    pen.scale(ratio, ratio);
    pen.lineWidth = 2;
    for (const point of points) {
      point.px = MARGIN + point.x * (width - 2 * MARGIN);
      point.py = MARGIN + point.y * (height - 2 * MARGIN);
      pen.globalAlpha = selected.size && !selected.has(point) ? 0.25 : 0.85;
      pen.beginPath();
      pen.arc(point.px, point.py, point.told ? 4.5 : 3.2, 0, 7);
      if (point.class === null) {
        pen.strokeStyle = colour(null);
        pen.stroke();
      } else {
        pen.fillStyle = colour(point.class);
        pen.fill();
      }
    }
    draw();
  }

  /** Show the layer of points, and the lasso above it. */
  function draw() {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(layer, 0, 0);
    if (!lasso) return;
    context.scale(devicePixelRatio || 1, devicePixelRatio || 1);
    context.beginPath();
    for (const [x, y] of lasso) context.lineTo(x, y);
    context.closePath();
    context.strokeStyle = colour(null);
    context.setLineDash([5, 4]);
    context.stroke();
  }

  const squared = (point, x, y) => (point.px - x) ** 2 + (point.py - y) ** 2;

  function nearest(x, y, reach) {
    let best = null;
    let least = reach * reach;
    for (const point of points) {
      const distance = squared(point, x, y);
      if (distance < least) {
        least = distance;
        best = point;
      }
    }
    return best;
  }

  /** Return all points that are joined to one by short steps between points of its class. */
  function cluster(start) {
    const cells = new Map(); // squares of the map with their points: neighbours are in nine of them
    const cell = (x, y) => `${Math.floor(x / REACH)} ${Math.floor(y / REACH)}`;
    for (const point of points.filter((one) => one.class === start.class)) {
      const key = cell(point.px, point.py);
      cells.set(key, [...(cells.get(key) ?? []), point]);
    }
    const found = new Set([start]);
    const open = [start];
    while (open.length) {
      const { px, py } = open.pop();
      for (const dx of [-REACH, 0, REACH]) {
        for (const dy of [-REACH, 0, REACH]) {
          for (const other of cells.get(cell(px + dx, py + dy)) ?? []) {
            if (!found.has(other) && squared(other, px, py) < REACH * REACH) {
              found.add(other);
              open.push(other);
            }
          }
        }
      }
    }
    return found;
  }

  function inside(shape, [x, y]) {
    let is = false;
    for (let i = 0, j = shape.length - 1; i < shape.length; j = i, i += 1) {
      const [ax, ay] = shape[i];
      const [bx, by] = shape[j];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) is = !is;
    }
    return is;
  }

  function select(found) {
    selected = found;
    panel.hidden = !found.size;
    const count = found.size === 1 ? "1 image selected" : `${found.size} images selected`;
    document.getElementById("map-count").textContent = count;
    const pictures = document.getElementById("map-pictures");
    pictures.replaceChildren(
      ...[...found].slice(0, 24).map((point) => {
        const image = new Image();
        image.className = "picture";
        image.src = `/v1/pictures/${point.place}?size=small`;
        image.alt = "";
        return image;
      }),
    );
    drawPoints();
  }

  function drawLegend() {
    const counts = new Map();
    for (const point of points) counts.set(point.class, (counts.get(point.class) || 0) + 1);
    const order = [...counts].sort((a, b) => (a[0] === null ? -1 : b[0] === null ? 1 : b[1] - a[1]));
    legend.replaceChildren(
      ...order.map(([classId, count]) => {
        const row = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        icon.setAttribute("viewBox", "0 0 10 10");
        icon.setAttribute("aria-hidden", "true");
        const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
        for (const [key, value] of [["cx", 5], ["cy", 5], ["r", 3.6], ["stroke-width", 2]]) {
          circle.setAttribute(key, value);
        }
        circle.setAttribute("stroke", colour(classId));
        circle.setAttribute("fill", classId === null ? "none" : colour(classId));
        icon.append(circle);
        const name = document.createElement("bdi");
        name.textContent = classId === null ? "waiting, no class yet" : names[classId];
        const number = document.createElement("span");
        number.className = "muted";
        number.textContent = count.toLocaleString("en");
        button.append(icon, name, number);
        button.addEventListener("click", () => {
          select(new Set(points.filter((point) => point.class === classId)));
        });
        row.append(button);
        return row;
      }),
    );
  }

  async function refresh() {
    try {
      const found = await (await fetch("/map/points")).json();
      if (found.points) {
        const ids = new Set([...selected].map((point) => point.id));
        points = found.points;
        names = found.classes;
        selected = new Set(points.filter((point) => ids.has(point.id)));
        const count = points.length.toLocaleString("en");
        state.textContent = `${count} images under model ${found.model}`;
        canvas.dataset.points = points.length;
        drawLegend();
        drawPoints();
      } else if (found.trouble) {
        state.textContent = found.trouble;
      } else if (found.total) {
        state.textContent = `The map is being drawn: csim has looked at ${found.done} of ${found.total} images`;
      }
    } catch {
      state.textContent = "No connection. csim tries again by itself.";
    }
  }

  async function follow() {
    await refresh();
    setTimeout(follow, points.length ? 5000 : 700);
  }

  function at(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    lasso = [at(event)];
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (lasso) {
      lasso.push([x, y]);
      draw();
      return;
    }
    const point = nearest(x, y, 10);
    hover.hidden = !point;
    if (!point) return;
    const image = hover.querySelector("img");
    const path = `/v1/pictures/${point.place}?size=small`;
    if (image.getAttribute("src") !== path) image.src = path;
    const name = point.class === null ? "waiting" : names[point.class];
    hover.querySelector("figcaption").textContent = point.told ? `${name}, labelled` : name;
    hover.style.left = `${Math.min(x + 14, canvas.clientWidth - 130)}px`;
    hover.style.top = `${Math.min(y + 14, canvas.clientHeight - 150)}px`;
  });
  canvas.addEventListener("pointerleave", () => (hover.hidden = true));
  canvas.addEventListener("pointerup", (event) => {
    const shape = lasso;
    lasso = null;
    const [x, y] = at(event);
    const size = Math.max(...shape.map(([px, py]) => Math.hypot(px - x, py - y)));
    if (size < 6) {
      const point = nearest(x, y, 14);
      select(point ? cluster(point) : new Set());
    } else {
      select(new Set(points.filter((point) => inside(shape, [point.px, point.py]))));
    }
  });

  async function label(body) {
    const free = [...selected].filter((point) => point.question === null);
    const images = free.map((point) => point.id);
    const left = selected.size - images.length;
    if (!images.length) return toast("Questions show these images: answer them there.", true);
    try {
      for (let start = 0; start < images.length; start += MOST_PER_MESSAGE) {
        const part = images.slice(start, start + MOST_PER_MESSAGE);
        await send("/v1/images/label", { images: part, ...body });
      }
      const rest = left ? `; ${left} that questions show are left out` : "";
      toast(`${images.length} ${images.length === 1 ? "image" : "images"} labelled${rest}`);
      panel.reset();
      select(new Set());
      await refresh();
    } catch (error) {
      toast(error.message, true);
    }
  }

  panel.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = document.getElementById("name").value.trim();
    if (name) label({ name });
    else document.getElementById("name").focus();
  });
  document.getElementById("map-junk").addEventListener("click", () => label({ junk: true }));
  document.getElementById("map-clear").addEventListener("click", () => select(new Set()));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") select(new Set());
  });
  addEventListener("resize", drawPoints);
  isDark.addEventListener("change", () => {
    drawLegend();
    drawPoints();
  });
  follow();
})();
