"use strict";

/* The map: all nodes on a canvas, the links of what is selected, and what a failure would change. */

const OverlayMap = (() => {
  const LABELS = 40;
  const REACH = 14;
  const FLASH = 2500;
  const REST = 150;
  const MANY = 4000;
  const canvas = document.getElementById("map");
  const context = canvas.getContext("2d");
  let world = null;
  let land = null;
  let index = new Map();
  let view = { scale: 1, x: 0, y: 0 };
  let chosen = { nodes: new Set(), links: [], title: "" };
  let failing = null;
  let flashes = [];
  let asked = false;
  let cost = 0;
  let loaded = 0;
  let stale = false;
  let moved = -Infinity;
  let fitted = true;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const left = (i) => world.x[i] * view.scale + view.x;
  const top = (i) => world.y[i] * view.scale + view.y;

  async function load() {
    const begin = performance.now();
    const found = await ask("/v1/map");
    if (found.by === "places" && !land) land = await ask("/land.json");
    const first = !world;
    world = found;
    index = new Map(found.names.map((name, i) => [name, i]));
    cost = performance.now() - begin;
    loaded = performance.now();
    stale = false;
    const shown = found.links ? "" : " Links are drawn for what is selected.";
    const by = found.by === "places" ? "at their places" : "near those that they are linked to";
    at("map-about").textContent = `${many(found.names.length, "node", "nodes")}, drawn ${by}.${shown}`;
    if (first) {
      fit();
      showChosen(); // It may have been selected while the map was on its way.
    } else redraw();
  }

  /** Steps of the overlay: links that it opened flash, and positions of new nodes are asked for later. */
  function follow(steps) {
    if (!world) return;
    const now = performance.now();
    for (const step of steps) {
      for (const [a, b] of step.opened.slice(0, 50)) flashes.push([a, b, now]);
      stale = true;
    }
    flashes = flashes.slice(-200);
    redraw();
  }

  /** Ask again for a map that has changed, but not so often that it is all that the server does. */
  async function refresh() {
    if (!world || !stale || document.hidden || performance.now() - loaded < Math.max(2000, 20 * cost)) return;
    try {
      await load();
    } catch {
      loaded = performance.now();
    }
  }

  function fit() {
    if (!world.names.length) return redraw();
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < world.names.length; i++) {
      x0 = Math.min(x0, world.x[i]);
      x1 = Math.max(x1, world.x[i]);
      y0 = Math.min(y0, world.y[i]);
      y1 = Math.max(y1, world.y[i]);
    }
    const scale = Math.min((w - 48) / Math.max(x1 - x0, 50), (h - 48) / Math.max(y1 - y0, 50));
    view = { scale, x: (w - (x0 + x1) * scale) / 2, y: (h - (y0 + y1) * scale) / 2 };
    fitted = true;
    redraw();
  }

  function zoom(factor, cx = canvas.clientWidth / 2, cy = canvas.clientHeight / 2) {
    const scale = Math.min(Math.max(view.scale * factor, 0.005), 50);
    const by = scale / view.scale;
    view = { scale, x: cx - (cx - view.x) * by, y: cy - (cy - view.y) * by };
    move();
  }

  function pan(x, y) {
    view.x += x;
    view.y += y;
    move();
  }

  /** The view has changed: draw now, and again with everything when it rests. */
  function move() {
    moved = performance.now();
    fitted = false;
    redraw();
    setTimeout(redraw, REST + 20);
  }

  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (world) draw();
    });
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, w, h);
    if (land && world.by === "places") drawLand();
    // Many links are left out while the map is moved, so that it follows at once.
    if (world.links && (world.links.length < 2 * MANY || performance.now() - moved >= REST)) drawAllLinks(w, h);
    drawNodes(w, h);
    drawPairs(chosen.links, colour("--ours"), 1.6, []);
    if (failing) {
      drawPairs(failing.closed, colour("--bad"), 1.6, [3, 4]);
      drawPairs(failing.opened, colour("--good"), 2.4, [8, 3]);
    }
    const now = performance.now();
    flashes = flashes.filter(([, , when]) => now - when < FLASH);
    drawPairs(flashes, colour("--warn"), 2, []);
    drawChosen();
    drawLabels(w, h);
    if (flashes.length) setTimeout(redraw, FLASH);
  }

  function drawLand() {
    const degree = world.side / 360;
    context.strokeStyle = colour("--line");
    context.lineWidth = 1;
    context.beginPath();
    for (const line of land) {
      for (let i = 0; i < line.length; i += 2) {
        const px = (line[i] / 10 + 180) * degree * view.scale + view.x;
        const py = ((90 - line[i + 1] / 10) / 360 + 0.25) * world.side * view.scale + view.y;
        if (i) context.lineTo(px, py);
        else context.moveTo(px, py);
      }
    }
    context.stroke();
  }

  function drawAllLinks(w, h) {
    context.strokeStyle = colour("--others");
    context.globalAlpha = Math.min(0.5, 0.08 + 1500 / (world.links.length + 1));
    context.lineWidth = 0.7;
    context.beginPath();
    for (let i = 0; i < world.links.length; i += 2) {
      const [x1, y1] = [left(world.links[i]), top(world.links[i])];
      const [x2, y2] = [left(world.links[i + 1]), top(world.links[i + 1])];
      if (Math.max(x1, x2) < 0 || Math.max(y1, y2) < 0 || Math.min(x1, x2) > w || Math.min(y1, y2) > h) continue;
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  function size(i) {
    const base = world.names.length > 20000 ? 1 : world.names.length > 1000 ? 2 : 3;
    return base + Math.min(3, Math.log2(1 + world.degrees[i]) / 2) * Math.min(1, 300 / world.names.length + view.scale);
  }

  function drawNodes(w, h) {
    context.fillStyle = colour("--others");
    for (let i = 0; i < world.names.length; i++) {
      const [px, py] = [left(i), top(i)];
      if (px < -5 || py < -5 || px > w + 5 || py > h + 5) continue;
      const r = size(i);
      context.fillRect(px - r / 2, py - r / 2, r, r);
    }
  }

  function drawPairs(pairs, style, width, dashes) {
    if (!pairs.length) return;
    context.strokeStyle = style;
    context.lineWidth = width;
    context.setLineDash(dashes);
    context.beginPath();
    for (const [a, b] of pairs) {
      const [i, j] = [index.get(a), index.get(b)];
      if (i === undefined || j === undefined) continue;
      context.moveTo(left(i), top(i));
      context.lineTo(left(j), top(j));
    }
    context.stroke();
    context.setLineDash([]);
  }

  function drawChosen() {
    context.fillStyle = colour("--ours");
    for (const name of chosen.nodes) {
      const i = index.get(name);
      if (i === undefined) continue;
      context.beginPath();
      context.arc(left(i), top(i), size(i) / 2 + 2.5, 0, 2 * Math.PI);
      context.fill();
    }
    if (!failing) return;
    context.strokeStyle = colour("--bad");
    context.lineWidth = 2.5;
    for (const name of failing.nodes) {
      const i = index.get(name);
      if (i === undefined) continue;
      context.beginPath();
      context.arc(left(i), top(i), 9, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  function drawLabels(w, h) {
    const named = [...chosen.nodes].slice(0, LABELS).map((name) => index.get(name));
    const inside = [];
    for (let i = 0; i < world.names.length && inside.length <= LABELS; i++) {
      if (left(i) > 0 && left(i) < w && top(i) > 0 && top(i) < h) inside.push(i);
    }
    if (inside.length <= LABELS) named.push(...inside);
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.fillStyle = colour("--ink");
    context.strokeStyle = colour("--card");
    context.lineWidth = 3;
    for (const i of new Set(named)) {
      if (i === undefined) continue;
      context.strokeText(world.names[i], left(i) + 7, top(i) - 5);
      context.fillText(world.names[i], left(i) + 7, top(i) - 5);
    }
  }

  function nearest(px, py, reach) {
    let [best, found] = [reach * reach, -1];
    for (let i = 0; i < world.names.length; i++) {
      const away = (left(i) - px) ** 2 + (top(i) - py) ** 2;
      if (away < best) [best, found] = [away, i];
    }
    return found;
  }

  function describe(i) {
    at("map-hint").textContent =
      i < 0 ? chosen.title || "\u00a0" : `${world.names[i]}: ${many(world.degrees[i], "link", "links")}`;
  }

  /** Show nodes and links as selected; what is outside the view is brought into it. */
  function select(nodes, links, title) {
    chosen = { nodes: new Set(nodes), links, title };
    failing = null;
    if (world) showChosen();
  }

  function showChosen() {
    describe(-1);
    const [only] = chosen.nodes.size === 1 ? chosen.nodes : [];
    const i = index.get(only);
    if (i !== undefined) {
      const outside = left(i) < 0 || top(i) < 0 || left(i) > canvas.clientWidth || top(i) > canvas.clientHeight;
      if (outside) {
        view.x += canvas.clientWidth / 2 - left(i);
        view.y += canvas.clientHeight / 2 - top(i);
        fitted = false;
      }
    }
    redraw();
  }

  function showFailure(found) {
    failing = found;
    redraw();
  }

  /* Pointer and keys */

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, moved: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!world) return;
    if (!held) {
      describe(nearest(event.offsetX, event.offsetY, REACH));
      return;
    }
    held.moved += Math.abs(event.clientX - held.x) + Math.abs(event.clientY - held.y);
    pan(event.clientX - held.x, event.clientY - held.y);
    [held.x, held.y] = [event.clientX, event.clientY];
  });
  canvas.addEventListener("pointerup", (event) => {
    const still = held && held.moved < 5;
    held = null;
    const i = still && world ? nearest(event.offsetX, event.offsetY, REACH) : -1;
    if (i >= 0) guarded(() => showNode(world.names[i], true));
  });
  canvas.addEventListener("pointercancel", () => (held = null));
  canvas.addEventListener(
    "wheel",
    (event) => {
      // Only of a map that has the focus: otherwise the wheel scrolls the page.
      if (!world || (document.activeElement !== canvas && !event.ctrlKey)) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    },
    { passive: false },
  );

  const KEYS = {
    ArrowLeft: () => pan(60, 0),
    ArrowRight: () => pan(-60, 0),
    ArrowUp: () => pan(0, 60),
    ArrowDown: () => pan(0, -60),
    "+": () => zoom(1.4),
    "=": () => zoom(1.4),
    "-": () => zoom(1 / 1.4),
    0: fit,
    Enter: () => {
      const i = nearest(canvas.clientWidth / 2, canvas.clientHeight / 2, Infinity);
      if (i >= 0) guarded(() => showNode(world.names[i], true));
    },
  };
  canvas.addEventListener("keydown", (event) => {
    if (!world || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  at("map-in").addEventListener("click", () => world && zoom(1.6));
  at("map-out").addEventListener("click", () => world && zoom(1 / 1.6));
  at("map-all").addEventListener("click", () => world && fit());
  // A phone that is turned shows all again, unless somebody has moved the map.
  new ResizeObserver(() => (world && fitted ? fit() : redraw())).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  setInterval(refresh, 1000);

  /** Which nodes are inside the view. */
  function shows() {
    const inside = (i) => left(i) >= 0 && top(i) >= 0 && left(i) <= canvas.clientWidth && top(i) <= canvas.clientHeight;
    return world.names.map((_, i) => inside(i));
  }

  return { load, follow, select, showFailure, shows };
})();
