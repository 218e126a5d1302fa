"use strict";

const MOST_ROWS = 50;
const MOST_NAMES = 20;
const MOST_LISTED = 200;
const FIRST_TIME = 1e8;
const MEASURE_EVERY = 10000;
const UNREACHABLE = "The server does not answer; links stay as they are";

function say(words, state) {
  at("status").textContent = words;
  at("status").className = `verdict ${state}`;
}

/* Signing in */

function showEntry() {
  if (stream) stream.close();
  stream = null;
  Fleet.leave();
  at("inside").hidden = true;
  at("leave").hidden = true;
  at("entry").hidden = false;
  say("Not signed in", "");
  at("token").focus();
}

at("entry-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("entry-error").textContent = "";
  try {
    await send("/v1/session", { token: at("token").value.trim() });
    at("token").value = "";
    await enter();
  } catch (error) {
    at("entry-error").textContent =
      error.status === 401 ? "This token is not known here." : error.message;
  }
});

at("leave").addEventListener("click", async () => {
  try {
    await ask("/v1/session", { method: "DELETE" });
    showEntry();
  } catch (error) {
    say(error.status ? error.message : UNREACHABLE, "bad");
  }
});

/* The overview */

function showCounts(overlay) {
  at("nodes").textContent = whole(overlay.nodes);
  at("links").textContent = whole(overlay.links);
  at("maximum").textContent = whole(overlay.maximum_degree);
  at("average").textContent = overlay.nodes ? ((2 * overlay.links) / overlay.nodes).toFixed(2) : "0";
}

async function measure() {
  const found = await ask("/v1/evaluation");
  at("topics").textContent = whole(found.topics);
  at("connected").textContent = found.topic_connected ? "all" : `all but ${whole(found.disconnected_topics)}`;
  at("connected").className = found.topic_connected ? "good-words" : "bad-words";
  const bound = found.lower_bound_average_degree;
  at("distance").textContent = bound ? `${(100 * (found.average_degree / bound - 1)).toFixed(1)}%` : "–";
  at("exposed").textContent = found.cut_nodes_topics
    ? `${many(found.cut_nodes_topics, "topic", "topics")} would be parted by the failure of some one node, until the repair.`
    : "No failure of one node would part a topic.";
}

async function measureAgain() {
  if (document.hidden || at("inside").hidden) return;
  try {
    await measure();
  } catch (error) {
    if (error.status === 401) showEntry();
  }
}

/* The timeline */

let stream = null;
let last = -1;
const recent = [];

function row(step) {
  return make(
    "tr",
    {},
    make("td", { text: whole(step.revision), className: "number" }),
    make("td", { text: timeText(step.at), className: "time" }),
    make("td", { text: step.cause, className: "name" }),
    make("td", { text: linksText(step.opened), className: "name" }),
    make("td", { text: linksText(step.closed), className: "name" }),
    make("td", { text: (1000 * step.repair_seconds).toFixed(1), className: "number" }),
  );
}

/** The time of an event, as its sender gave it: seconds since 1970, or the number of a round. */
function timeText(seconds) {
  if (seconds === null) return "–";
  return seconds < FIRST_TIME ? whole(seconds) : new Date(1000 * seconds).toLocaleString("sv");
}

/** Count a step of so many seconds ago. */
function count(step, seconds) {
  recent.push([performance.now() - 1000 * seconds, step.events, step.opened.length + step.closed.length ? 1 : 0]);
}

let waiting = [];

function follow(step) {
  last = step.revision;
  count(step, 0);
  waiting.push(step);
  if (waiting.length === 1) requestAnimationFrame(draw);
}

/** Draw at most once a frame, however many steps come. */
function draw() {
  const steps = waiting.slice(-MOST_ROWS).reverse();
  const newest = waiting[waiting.length - 1];
  waiting = [];
  at("timeline").prepend(...steps.map(row));
  while (at("timeline").rows.length > MOST_ROWS) at("timeline").lastElementChild.remove();
  showCounts(newest);
  showRate();
  OverlayMap.follow(steps);
}

function showRate() {
  while (recent.length && performance.now() - recent[0][0] > 60000) recent.shift();
  at("rate").textContent = whole(recent.reduce((sum, [, events]) => sum + events, 0));
  at("repairs").textContent = whole(recent.reduce((sum, [, , repairs]) => sum + repairs, 0));
}

/** Listen to steps; the browser itself reconnects, and says which step it saw last. */
function listen() {
  if (stream) stream.close();
  stream = new EventSource(`/v1/changes?since=${last}`);
  stream.addEventListener("open", () => say("Live", "good"));
  stream.addEventListener("step", (event) => follow(JSON.parse(event.data)));
  stream.addEventListener("error", () => {
    say(UNREACHABLE, "bad");
    if (stream && stream.readyState === EventSource.CLOSED) setTimeout(enter, 2000);
  });
}

/* Searching */

let turn = 0;

async function search() {
  const own = ++turn;
  const wanted = `search=${encodeURIComponent(at("search").value)}&limit=${MOST_NAMES}`;
  try {
    const [nodes, topics] = await Promise.all([ask(`/v1/nodes?${wanted}`), ask(`/v1/topics?${wanted}`)]);
    if (own !== turn) return;
    list(at("found-nodes"), nodes.nodes, nodes.next, showNode, (one) => many(one.links, "link", "links"));
    list(at("found-topics"), topics.topics, topics.next, showTopic, (one) =>
      many(one.subscribers, "subscriber", "subscribers"),
    );
  } catch (error) {
    if (error.status === 401) showEntry();
  }
}

function list(place, rows, more, show, words) {
  const items = rows.map((one) => make("li", {}, choice(one.name, show), make("small", { text: words(one) })));
  if (!rows.length) items.push(make("li", { text: "None.", className: "empty" }));
  if (more) items.push(make("li", { text: "There are more; type more of the name.", className: "note" }));
  place.replaceChildren(...items);
}

function choice(name, show) {
  return make("button", { type: "button", text: name, className: "name", onclick: () => guarded(() => show(name)) });
}

let pause = 0;
at("search").addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(search, 150);
});
at("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});

/* A node, a topic, and what if */

async function guarded(work) {
  try {
    await work();
  } catch (error) {
    if (error.status === 401) showEntry();
    else showDetail("Not found", [make("p", { text: error.message, className: "bad-words" })]);
  }
}

function showDetail(title, parts, stay = false) {
  at("detail-title").textContent = title;
  at("detail-body").replaceChildren(...parts);
  at("detail").hidden = false;
  if (stay) return;
  at("detail").focus({ preventScroll: true });
  at("detail").scrollIntoView({ block: "nearest" });
}

function names(title, found, show) {
  const items = found.slice(0, MOST_LISTED).map((name) => make("li", {}, choice(name, show)));
  if (found.length > MOST_LISTED) items.push(make("li", { text: `and ${whole(found.length - MOST_LISTED)} more` }));
  if (!found.length) items.push(make("li", { text: "none", className: "empty" }));
  return [make("h3", { text: `${title}: ${whole(found.length)}` }), make("ul", { className: "inline" }, ...items)];
}

async function showNode(name, fromMap = false) {
  const node = await ask(`/v1/nodes/${encodeURIComponent(name)}`);
  const result = make("div", { id: "what-if" });
  result.setAttribute("aria-live", "polite");
  const button = make("button", { type: "button", text: "What if it failed?", id: "try-failure" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const found = await send("/v1/what-if", { nodes: [name] });
      result.replaceChildren(...failure(found));
      OverlayMap.showFailure(found);
    } catch (error) {
      result.replaceChildren(make("p", { text: error.message, className: "bad-words" }));
    } finally {
      button.disabled = false;
    }
  });
  OverlayMap.select([name], node.neighbours.map((other) => [name, other]), `Node ${name}`);
  const backups = node.backups === null ? [] : names("Backups", node.backups, showNode);
  const parts = [
    ...names("Neighbours", node.neighbours, showNode),
    ...names("Topics", node.topics, showTopic),
    ...backups,
    button,
    result,
  ];
  showDetail(`Node ${name}`, parts, fromMap);
}

function failure(found) {
  const cut = Object.entries(found.cut);
  const topics = cut.slice(0, MOST_LISTED).map(([topic, parts]) => `${topic} (${parts} parts)`);
  const verdict = cut.length
    ? `${many(cut.length, "topic", "topics")} would be parted until the repair: ${topics.join(", ")}`
    : "No topic would be parted.";
  return [
    make("p", { text: verdict, className: cut.length ? "bad-words" : "good-words" }),
    make("p", { text: `The repair would open ${many(found.opened.length, "link", "links")}: ${linksText(found.opened)}` }),
    make("p", { text: `${many(found.closed.length, "link", "links")} would be gone.` }),
    make("p", { text: "Nothing was applied.", className: "note" }),
  ];
}

async function showTopic(name) {
  const topic = await ask(`/v1/topics/${encodeURIComponent(name)}`);
  OverlayMap.select(topic.subscribers, topic.tree, `Topic ${name}`);
  const others = topic.links.length - topic.tree.length;
  showDetail(`Topic ${name}`, [
    ...names("Subscribers", topic.subscribers, showNode),
    ...tree(topic.tree),
    make("p", { text: `${many(others, "more link", "more links")} among its subscribers.`, className: "note" }),
  ]);
}

/** A tree as a line for each node that passes something on, below the one that it gets it from. */
function tree(links) {
  if (!links.length) return [make("h3", { text: "Tree: no links" })];
  const root = links[0][0];
  const children = new Map(links.map(([parent]) => [parent, []]));
  const hops = new Map([[root, 0]]);
  let depth = 0;
  for (const [parent, child] of links) {
    children.get(parent).push(child);
    hops.set(child, hops.get(parent) + 1);
    depth = Math.max(depth, hops.get(child));
  }
  const [lines, waiting] = [[], [root]];
  while (waiting.length && lines.length < MOST_LISTED) {
    const node = waiting.pop();
    const own = children.get(node);
    waiting.push(...own.filter((child) => children.has(child)).reverse());
    const to = make("span", { text: ` to ${shortened(own)}`, className: "name" });
    lines.push(make("li", { className: `hops-${Math.min(hops.get(node), 5)}` }, choice(node, showNode), to));
  }
  if (waiting.length) lines.push(make("li", { text: "and more", className: "note" }));
  const title = `Tree: ${many(links.length, "link", "links")}, ${many(depth, "hop", "hops")} deep`;
  return [make("h3", { text: title }), make("ul", { className: "tree" }, ...lines)];
}

function shortened(names) {
  const more = names.length > MOST_NAMES ? ` and ${whole(names.length - MOST_NAMES)} more` : "";
  return names.slice(0, MOST_NAMES).join(", ") + more;
}

/* Beginning */

async function enter() {
  try {
    const session = await ask("/v1/session");
    if (!session) return showEntry();
    const overlay = await ask("/v1/overlay");
    at("entry").hidden = true;
    at("inside").hidden = false;
    at("leave").hidden = false;
    showCounts(overlay);
    if (last < 0 || last > overlay.revision) {
      const back = await ask(`/v1/changes?since=${Math.max(-1, overlay.revision - MOST_ROWS)}&limit=${MOST_ROWS}`);
      const seconds = (step) => Math.max(0, Date.now() / 1000 - (step.at ?? 0));
      recent.splice(0);
      back.steps.filter((step) => seconds(step) < 60).forEach((step) => count(step, seconds(step)));
      showRate();
      at("timeline").replaceChildren(...back.steps.reverse().map(row));
      last = back.revision;
    }
    listen();
    Fleet.enter(session);
    await Promise.all([measure(), search(), OverlayMap.load()]);
  } catch (error) {
    if (error.status === 401) showEntry();
    else {
      say(UNREACHABLE, "bad");
      setTimeout(enter, 2000);
    }
  }
}

setInterval(measureAgain, MEASURE_EVERY);
setInterval(showRate, 5000);
enter();
