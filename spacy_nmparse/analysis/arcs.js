"use strict";
// Trees as SVG: the drawing that all pages share. An arc is [head, dependent, label, confidence];
// words have numbers, the head of a root is ROOT.
const ROOT = -1, LEVEL = 27, TOP = 26;
const byId = (id) => document.getElementById(id);

function element(name, attributes, ...children) {
  const svg = ["svg", "g", "path", "rect", "text", "title"].includes(name) && attributes.svg;
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
                   : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") made.style.cssText = value;  // which a content security policy lets be
    else if (key !== "svg") made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
const svg = (name, attributes, ...children) => element(name, {...attributes, svg: 1}, ...children);

// The arcs of a tree in which a root is its own head, and null an unknown one.
const treeArcs = (heads, labels, sure) => heads.map((head, word) => head === null ? null
  : [head === word ? ROOT : head, word, labels[word], sure?.[word]]).filter((arc) => arc);
// The dependents of arcs that cross others.
function crossing(arcs) {
  const found = new Set();
  const spans = arcs.filter((arc) => arc[0] !== ROOT).map((arc) =>
    [Math.min(arc[0], arc[1]), Math.max(arc[0], arc[1]), arc[1]]);
  for (const [a, b, d] of spans) for (const [c, e] of spans) {
    if ((a < c && c < b && b < e) || (c < a && a < e && e < b)) found.add(d);
  }
  return found;
}

const context = document.createElement("canvas").getContext("2d");
function width(string, size) {
  context.font = `${size}px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
  return context.measureText(string).width;
}
function levels(arcs) {
  const placed = [];
  const sorted = [...arcs].filter((arc) => arc[0] !== ROOT).map((arc) =>
    ({arc, a: Math.min(arc[0], arc[1]), b: Math.max(arc[0], arc[1])}));
  sorted.sort((x, y) => (x.b - x.a) - (y.b - y.a) || x.a - y.a);
  for (const one of sorted) {
    one.level = 1;
    for (const other of placed) {
      if (one.a <= other.a && other.b <= one.b) one.level = Math.max(one.level, other.level + 1);
    }
    while (placed.some((o) => o.level === one.level && o.a < one.b && one.a < o.b)) one.level++;
    placed.push(one);
  }
  return placed;
}
const nameOf = ([head, , label, sure]) => (label || (head === ROOT ? "ROOT" : ""))
  + (sure === undefined ? "" : ` ${Math.round(100 * sure)}%`);
const keyOf = (arc) => `${arc[0]}>${arc[1]}`;
// Places at a word where arcs end, so that they do not run into each other.
function ports(arcs, x) {
  const ends = new Map();
  const add = (word, other, arc) => {
    if (!ends.has(word)) ends.set(word, []);
    ends.get(word).push({other, arc});
  };
  for (const arc of arcs) {
    if (arc[0] === ROOT) add(arc[1], arc[1], arc);
    else { add(arc[0], arc[1], arc); add(arc[1], arc[0], arc); }
  }
  const places = new Map();
  for (const [word, list] of ends) {
    const side = (end) => end.other < word ? 0 : end.other > word ? 2 : 1;
    list.sort((p, q) => side(p) - side(q) || q.other - p.other);
    const gap = Math.min(8, (x.rooms.get(word) + 6) / Math.max(1, list.length));
    list.forEach((end, i) => places.set(`${word}|${keyOf(end.arc)}`,
      x.centers.get(word) + (i - (list.length - 1) / 2) * gap * x.way));
  }
  return places;
}

// Where the words first to end - 1 of a text are drawn, and arcs above and below them: all that are
// ever drawn there, so that words keep their places.
function layoutOf({words, rtl, first, end, above, below}) {
  const widths = new Map(), rooms = new Map(), centers = new Map();
  const ends = (arcs, word) => arcs.filter((arc) => arc[0] === word || arc[1] === word).length;
  let at = 18;
  for (let word = first; word < end; word++) {
    widths.set(word, Math.max(width(words[word], 15), 14));
    const most = Math.max(ends(above, word), ends(below, word));
    const room = Math.max(widths.get(word), 7 * (most - 1));
    rooms.set(word, room);
    centers.set(word, at + room / 2);
    at += room + 26;
  }
  const all = [...above, ...below].filter((arc) => arc[0] !== ROOT);
  all.sort((p, q) => Math.abs(p[0] - p[1]) - Math.abs(q[0] - q[1]));
  for (const arc of all) {
    const a = Math.min(arc[0], arc[1]), b = Math.max(arc[0], arc[1]);
    const lack = width(nameOf(arc), 11) + 48 - (centers.get(b) - centers.get(a));
    if (lack > 0) for (let word = b; word < end; word++) {
      centers.set(word, centers.get(word) + lack);
    }
  }
  const total = centers.get(end - 1) + rooms.get(end - 1) / 2 + 18;
  const way = rtl ? -1 : 1;
  if (rtl) for (const [word, x] of centers) centers.set(word, total - x);
  const x = {widths, rooms, centers, total, way};
  const make = (arcs) => {
    const placed = levels(arcs), height = new Map();
    for (const one of placed) height.set(keyOf(one.arc), one.level);
    const most = Math.max(1, ...placed.map((one) => one.level));
    return {height, most, ports: ports(arcs, x)};
  };
  return {words, rtl, first, end, x, up: make(above), down: make(below)};
}

function drawArc(arc, plan, x, base, away, kind) {
  const group = svg("g", {class: `arc ${kind}`, "data-arc": arc.slice(0, 2).join(",")});
  const d = plan.ports.get(`${arc[1]}|${keyOf(arc)}`);
  let line, labelX, labelY;
  if (arc[0] === ROOT) {
    const tip = base - away * (plan.most + 0.9) * LEVEL;
    line = `M${d},${tip} V${base - away * 6}`;
    [labelX, labelY] = [d, tip - away * 4];
  } else {
    const h = plan.ports.get(`${arc[0]}|${keyOf(arc)}`);
    const y = base - away * (LEVEL * plan.height.get(keyOf(arc)) + 4);
    const way = d > h ? 1 : -1, r = Math.min(9, Math.abs(d - h) / 2);
    line = `M${h},${base} V${y + away * r} Q${h},${y} ${h + way * r},${y} H${d - way * r} ` +
      `Q${d},${y} ${d},${y + away * r} V${base - away * 6}`;
    [labelX, labelY] = [(h + d) / 2, y];
  }
  group.append(svg("path", {class: "halo", d: line}), svg("path", {class: kind, d: line}));
  group.append(svg("path", {class: `head ${kind}`,
    d: `M${d},${base} l-4,${-8 * away} h8 z`}));
  const name = svg("text", {class: `label ${kind}`, x: labelX, y: labelY + 4,
    "text-anchor": "middle", "data-label": arc[1]}, nameOf(arc));
  return [group, name];
}

// Long arcs first, so that short ones are drawn over them. shown: [arc, kind].
const bySpan = (shown) => {
  const span = ([arc]) => arc[0] === ROOT ? 0 : Math.abs(arc[0] - arc[1]);
  return shown.sort((p, q) => span(q) - span(p));
};
// The picture of a layout. above, below: [arc, kind] in the order in which they are drawn; below is
// null where there is no room for it. boxOf: the class of the box around a word, or "".
function drawTree(plan, above, below = null, boxOf = () => "") {
  const {words, rtl, first, end, x, up, down} = plan;
  const base = TOP + (up.most + 0.9) * LEVEL;
  const under = base + 30;
  const height = under + (below ? (down.most + 0.9) * LEVEL + 20 : 12);
  const picture = svg("svg", {width: x.total, height, viewBox: `0 0 ${x.total} ${height}`,
    role: "img"});
  const drawn = [...above.map(([arc, kind]) => drawArc(arc, up, x, base, 1, kind)),
    ...(below ?? []).map(([arc, kind]) => drawArc(arc, down, x, under, -1, kind))];
  picture.append(...drawn.map(([group]) => group), ...drawn.map(([, name]) => name));
  for (let word = first; word < end; word++) {
    const center = x.centers.get(word), wide = x.widths.get(word), kind = boxOf(word);
    if (kind) picture.append(svg("rect", {class: kind, "data-box": word, x: center - wide / 2 - 6,
      y: base + 3, width: wide + 12, height: 24, rx: 5}));
    picture.append(svg("text", {x: center, y: base + 20, "text-anchor": "middle",
      "data-word": word, direction: rtl ? "rtl" : "ltr", "unicode-bidi": "plaintext"},
      words[word]));
  }
  return picture;
}
