let data = null;  // the derivation, or the tree
let takes = null;  // makes another move of the step that is shown, where a parser is at hand
let now = 0;  // the step that is shown; behind the last one: the tree
let layouts = new Map();
const ICONS = {first: "M3 3h2v10H3zM13 3v10L5.5 8z", back: "M12 3v10L4 8z", next: "M4 3v10l8-5z",
  last: "M11 3h2v10h-2zM3 3v10l7.5-5z", repair: "M5.5 2.5 2.5 5.5l3 3M2.5 5.5h6a4 4 0 0 1 0 8h-3"};
const icon = (name) => svg("svg", {class: name === "repair" ? "icon drawn" : "icon",
  viewBox: "0 0 16 16", "aria-hidden": "true"}, svg("path", {d: ICONS[name]}));
// What is explained on demand, as text where nothing is known about it.
function term(name, shown, reached = true) {
  const about = data.glossary[name];
  if (!about) return element("span", {}, shown);
  const button = element("button", {class: "term", type: "button", title: about,
    popovertarget: "explanation", tabindex: reached ? 0 : -1}, shown);
  button.addEventListener("click", () => byId("explanation").replaceChildren(
    element("b", {}, shown), " ", about));
  return button;
}
const text = (word) => word === ROOT ? "ROOT" : data.words[word];

// The sentence around a word.
function sentenceOf(word) {
  let found = 0;
  data.sentences.forEach(([first], i) => { if (first <= word) found = i; });
  return found;
}
let viewed = null;  // a sentence that was chosen where there is no step
const sentenceAt = (step) => step < data.steps.length ? sentenceOf(data.steps[step].start)
  : viewed !== null ? viewed
  : data.steps.length ? sentenceOf(data.steps[data.steps.length - 1].start) : 0;

let finalArcs = [], goldArcs = [];
// The arcs before a step, in a sentence that begins with the word `first`.
function arcsBefore(step, first) {
  if (step === data.steps.length) return finalArcs;
  const arcs = new Map();
  for (let i = data.steps.findIndex((one) => one.start >= first); i < step; i++) {
    for (const arc of data.steps[i].deleted) arcs.delete(arc[1]);
    for (const arc of data.steps[i].added) arcs.set(arc[1], arc);
  }
  return [...arcs.values()];
}

// Of an arc of the tree: "wrong", "misnamed" (its label alone is wrong) or "".
function fault([head, word, label]) {
  if (!data.gold_heads || data.gold_heads[word] === null) return "";
  if ((data.gold_heads[word] === word ? ROOT : data.gold_heads[word]) !== head) return "wrong";
  return head === ROOT || [null, label].includes(data.gold_labels[word]) ? "" : "misnamed";
}
// The layout of a sentence: the same for all of its steps.
function layout(sentence) {
  if (layouts.has(sentence)) return layouts.get(sentence);
  const [first, end] = data.sentences[sentence];
  const inside = (arc) => first <= arc[1] && arc[1] < end;
  const union = new Map();
  for (const arc of finalArcs.filter(inside)) union.set(keyOf(arc), arc);
  for (const step of data.steps) {
    if (step.start < first || step.start >= end) continue;
    for (const arc of [...step.added, ...step.deleted].filter(inside)) {
      const old = union.get(keyOf(arc));
      if (!old || width(nameOf(arc), 11) > width(nameOf(old), 11)) union.set(keyOf(arc), arc);
    }
  }
  const found = layoutOf({words: data.words, rtl: data.rtl, first, end,
    above: [...union.values()], below: goldArcs.filter(inside)});
  layouts.set(sentence, found);
  return found;
}
// The class of the box around a word.
function boxOf(step, word) {
  if (!step) return "";
  if (step.buffer[0] === word) return "front";
  if (step.stack.at(-1) === word) return "stack top";
  if (step.stack.includes(word)) return "stack";
  if (step.lambda1.at(-1) === word) return "stack top";
  return step.lambda2.includes(word) ? "middle" : "";
}
function draw() {
  const step = data.steps[now];
  const plan = layout(sentenceAt(now));
  const inside = (arc) => plan.first <= arc[1] && arc[1] < plan.end;
  const before = arcsBefore(now, plan.first).filter(inside);
  const deleted = step ? step.deleted.filter(inside) : [];
  const added = step ? step.added.filter(inside) : [];
  const gone = new Set(deleted.map((arc) => arc[1]));
  const crossed = crossing([...before.filter((arc) => !gone.has(arc[1])), ...added]);
  const shown = before.filter((arc) => !gone.has(arc[1])).map((arc) =>
    [arc, (step ? "" : fault(arc)) || (crossed.has(arc[1]) ? "crossing" : "")]);
  const above = [...bySpan(shown), ...deleted.map((arc) => [arc, "deleted"]),
    ...added.map((arc) => [arc, "added"])];
  const withGold = data.gold_heads && byId("gold").checked;
  const below = withGold ? goldArcs.filter(inside).map((arc) => [arc, "gold"]) : null;
  const picture = drawTree(plan, above, below, (word) => boxOf(step, word));
  byId("picture").replaceChildren(picture);
  for (const key of byId("legend").children) {
    key.hidden = !picture.querySelector(`.arc.${key.dataset.of}`);
  }
  keepInSight(picture, step, plan.x);
}

// Scroll to the words of a step; the picture gets smaller where the ends of its arcs are too far
// from each other.
function keepInSight(picture, step, x) {
  const box = byId("picture");
  if (x.total <= box.clientWidth || !step) return;
  const places = (words) => words.filter((word) => x.centers.has(word))
    .map((word) => x.centers.get(word));
  const ends = places([...step.added, ...step.deleted].flatMap((arc) => arc.slice(0, 2)));
  const focus = places([step.stack.at(-1), step.lambda1.at(-1), step.buffer[0]]);
  const room = (all) => Math.max(...all) - Math.min(...all) + 60;
  const all = [...ends, ...focus];
  const seen = ends.length && room(all) > box.clientWidth ? ends : all;
  if (!seen.length) return;
  const scale = Math.min(1, box.clientWidth / room(seen));
  for (const side of ["width", "height"]) {
    picture.setAttribute(side, scale * picture.getAttribute(side));
  }
  const middle = (Math.min(...seen) + Math.max(...seen)) / 2;
  box.scrollLeft = scale * middle - box.clientWidth / 2;
}

function items(name, words, length, title, kinds, cutAtStart) {
  const list = element("div", {class: "items"});
  if (data.rtl) list.setAttribute("dir", "rtl");
  const rest = length - words.length;
  const more = () => element("span", {class: "rest"}, `… ${rest} more`);
  if (rest > 0 && cutAtStart) list.append(more());
  words.forEach((word, i) => list.append(
    element("span", {class: kinds(i, words.length)}, element("bdi", {}, text(word)))));
  if (rest > 0 && !cutAtStart) list.append(more());
  if (!length) list.append(element("span", {class: "none"}, "empty"));
  return [element("h2", {}, term(name, title)), list];
}

function showConfiguration(step) {
  const panel = byId("configuration");
  panel.replaceChildren();
  if (!step) { panel.append(element("h2", {}, "The tree"), treeTable()); return; }
  const has = (key) => data.steps.some((one) => one[`${key}_length`]);
  const add = (key, ...how) =>
    panel.append(...items(key, step[key], step[`${key}_length`], ...how));
  const top = (i, n) => i === n - 1 ? "top" : "stack";
  if (has("lambda1") || has("lambda2")) {
    add("lambda1", "λ1 (focus last)", top, true);
    add("lambda2", "λ2", () => "middle", false);
  } else {
    add("stack", "Stack (top last)", top, true);
    if (has("other_stack")) add("other_stack", "Other stack", () => "middle", true);
  }
  add("buffer", "Buffer", (i) => i ? "" : "front", false);
}

function treeTable() {
  const [first, end] = data.sentences[sentenceAt(now)];
  const table = element("table", {});
  for (const [head, word, label] of finalArcs) {
    if (word < first || word >= end) continue;
    const known = data.gold_heads && data.gold_heads[word] !== null;
    const right = !known ? "" : fault([head, word, label]) ? "costly" : "least";
    table.append(element("tr", {},
      element("td", {}, element("bdi", {}, text(word))),
      element("td", {class: right}, label || ""),
      element("td", {}, element("bdi", {}, text(head)))));
  }
  return table;
}

// The name of a choice, or of a step, which may be no move.
function named({action, kind}) {
  if (!action) return `(${kind})`;
  const [move, k, label] = action;
  return move + (k === 1 ? "" : k) + (label ? ` ${label}` : "");
}
const percent = (share) => share === null ? "" : (100 * share).toFixed(1);
function showChoices(step) {
  byId("choices").hidden = !step?.choices.length;
  if (byId("choices").hidden) return;
  const model = step.choices.some((choice) => choice.probability !== null);
  const oracle = step.choices.some((choice) => choice.cost !== null);
  const head = element("tr", {}, element("th", {}, "move"));
  const column = (name, kind = "number") => element("th", {class: kind}, term(name, name));
  if (model) head.append(column("model %", ""), column("label %"));
  if (oracle) head.append(column("oracle's cost"));
  if (takes) head.prepend(element("th", {}));
  const seen = new Set();
  const table = element("table", {}, head);
  step.choices.forEach((choice, i) => {
    const row = element("tr", {class: named(choice) === named(step) ? "chosen" : ""});
    const move = choice.action[0], colour = data.colours[move] ?? "transparent";
    const cell = element("td", {class: "move", style: `box-shadow: inset 3px 0 ${colour}`},
      term(move, named(choice), !seen.has(move)));
    seen.add(move);
    if (choice.repair) cell.append(" ", icon("repair"));
    row.append(cell);
    if (model) {
      const bar = element("span", {class: "bar"},
        element("i", {style: `width: ${100 * choice.probability}%`}));
      row.append(element("td", {class: "share"}, bar, ` ${percent(choice.probability)}`),
        element("td", {class: "number"},
          choice.action[2] ? percent(choice.label_probability) : ""));
    }
    if (oracle) {
      const kind = choice.cost === step.least_cost ? "least" : "costly";
      const cost = element("td", {class: `number ${kind}`}, `${choice.cost}`);
      if (choice.least_cost !== choice.cost) {
        const other = `(${choice.least_cost})`;
        cost.append(" ", takes ? taking(i, true, other) : other);
      }
      row.append(cost);
    }
    if (takes) row.prepend(element("td", {}, taking(i, false, i < 9 ? `${i + 1}` : "·")));
    table.append(row);
  });
  byId("table-box").replaceChildren(table);
}

// The button that makes a move: `right` with the label that costs least.
function taking(i, right, shown) {
  const about = right ? "Make this move with the right label" : "Make this move";
  const key = i < 9 ? ` (${right ? "Shift+" : ""}${i + 1})` : "";
  const button = element("button", {class: "take", title: about + key, "aria-label": about}, shown);
  button.addEventListener("click", () => takes(i, right));
  return button;
}

function show() {
  const step = data.steps[now];
  byId("count").textContent = step ? `${now + 1} / ${data.steps.length}`
    : data.steps.length ? "the tree" : "";
  const sentence = sentenceAt(now);
  byId("title").textContent = data.title ?? data.words.slice(...data.sentences[sentence]).join(" ");
  byId("move").replaceChildren(
    ...(step ? [term(step.action?.[0] ?? named(step), named(step))] : []));
  const tags = byId("tags");
  tags.replaceChildren();
  const tag = (kind, ...parts) =>
    tags.append(element("span", {class: `tag ${kind}`}, ...parts), " ");
  if (step && step.repair) {
    tag("repair", icon("repair"), " ", term("repair", `repair ${step.repair}`));
  }
  if (step && step.cost !== null) {
    if (isWrong(step)) tag("wrong", `wrong: costs ${step.cost}, not ${step.least_cost}`);
    else tag("right", "costs least");
  }
  for (const id of ["first", "back"]) byId(id).disabled = now === 0;
  for (const id of ["next", "last"]) byId(id).disabled = now === data.steps.length;
  byId("repair").disabled = after(isRepair) === null;
  byId("wrong").disabled = after(isWrong) === null;
  byId("slider").value = now;
  byId("sentence").value = sentence;
  showConfiguration(step);
  showChoices(step);
  const list = byId("list");
  for (const item of list.querySelectorAll(".now")) {
    item.classList.remove("now");
    item.removeAttribute("aria-current");
  }
  const item = list.children[now];
  if (item) {
    item.classList.add("now");
    item.setAttribute("aria-current", "step");
    const middle = item.offsetTop - (list.clientHeight - item.offsetHeight) / 2;
    list.scrollTop = [...list.children].find((one) => one.offsetTop >= middle).offsetTop;
  }
  draw();
}
function go(step) {
  now = Math.max(0, Math.min(step, data.steps.length));
  if (now < data.steps.length) viewed = null;
  show();
  keepAddress();
}
function goToSentence(sentence) {
  const found = data.steps.findIndex((step) => step.start >= data.sentences[sentence][0]);
  if (now < data.steps.length && found >= 0) return go(found);
  viewed = sentence;
  go(data.steps.length);
}

// The address: the part behind # names the sentence and the step, counted from 1 as on the page.
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.get("theme")) document.documentElement.style.colorScheme = asked.get("theme");
  const place = (name, most) => {
    const number = Number(asked.get(name));
    return Number.isInteger(number) && number > 0 ? Math.min(number, most) - 1 : null;
  };
  const sentence = place("sentence", data.sentences.length);
  viewed = null;
  now = 0;
  if (asked.get("step") === "tree" || !data.steps.length) {
    now = data.steps.length;
    viewed = sentence;
  } else if (place("step", data.steps.length) !== null) {
    now = place("step", data.steps.length);
  } else if (sentence !== null) {
    now = data.steps.findIndex((step) => step.start >= data.sentences[sentence][0]);
    if (now < 0) { now = data.steps.length; viewed = sentence; }
  }
}
function writeAddress() {
  if (location.protocol === "about:") return;  // a frame in a notebook
  const options = new URLSearchParams(location.hash.slice(1));
  options.set("sentence", sentenceAt(now) + 1);
  options.delete("step");  // behind the sentence
  if (data.steps.length) options.set("step", now === data.steps.length ? "tree" : now + 1);
  history.replaceState(null, "", `#${options}`);
}
// Not at once: browsers refuse more than 100 changes in 30 seconds.
let waiting;
function keepAddress() {
  clearTimeout(waiting);
  waiting = setTimeout(writeAddress, 400);
}

const isRepair = (step) => step.repair;
const isWrong = (step) => step.cost !== null && step.cost > step.least_cost;
function after(test) {
  for (let i = now + 1; i < data.steps.length; i++) if (test(data.steps[i])) return i;
  return null;
}
function goAfter(test) { const found = after(test); if (found !== null) go(found); }

// Show a derivation or a tree, in place of the one that is shown.
function load(given) {
  data = given;
  layouts = new Map();
  finalArcs = treeArcs(data.heads, data.labels, data.sure);
  goldArcs = data.gold_heads ? treeArcs(data.gold_heads, data.gold_labels) : [];
  byId("source").textContent = data.source;
  byId("slider").max = data.steps.length;
  byId("sentence").replaceChildren(...data.sentences.map(([first, end], i) => {
    const words = data.words.slice(first, Math.min(end, first + 6)).join(" ");
    return element("option", {value: i}, `${i + 1}: ${words}${end > first + 6 ? " …" : ""}`);
  }));
  byId("sentence").hidden = data.sentences.length < 2;
  byId("list").replaceChildren(...data.steps.map((step, i) => {
    const item = element("li", {class: isWrong(step) ? "wrong" : ""}, `${i + 1} ${named(step)}`);
    if (step.repair) item.append(" ", icon("repair"));
    return item;
  }), ...(data.steps.length ? [element("li", {}, "the tree")] : []));
  [...byId("list").children].forEach((item, i) => item.addEventListener("click", () => go(i)));
  for (const id of ["first", "back", "next", "last", "slider", "what", "panels", "keys"]) {
    byId(id).hidden = !data.steps.length;
  }
  byId("back").title = `Back (${data.rtl ? "→" : "←"})`;
  byId("next").title = `Next (${data.rtl ? "←" : "→"})`;
  for (const id of ["moves", "slider"]) byId(id).dir = data.rtl ? "rtl" : "";
  for (const [name, test] of [["repair", isRepair], ["wrong", isWrong]]) {
    byId(name).hidden = byId(`${name}-key`).hidden = !data.steps.some(test);
  }
  byId("gold-box").hidden = !data.gold_heads;
  byId("sure-key").hidden = !data.sure;
  byId("choices").firstChild.textContent = data.steps.some((step) =>
    step.choices.some((choice) => choice.probability !== null))
    ? (data.gold_heads ? "Model and oracle" : "What the model thinks") : "What the oracle says";
  readAddress();
  show();
}

for (const id of ["first", "back", "next", "last", "repair"]) byId(id).append(icon(id));
byId("repair").addEventListener("click", () => goAfter(isRepair));
byId("wrong").addEventListener("click", () => goAfter(isWrong));
byId("sentence").addEventListener("change", (event) => goToSentence(Number(event.target.value)));
byId("first").addEventListener("click", () => go(0));
byId("back").addEventListener("click", () => go(now - 1));
byId("next").addEventListener("click", () => go(now + 1));
byId("last").addEventListener("click", () => go(data.steps.length));
byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
byId("gold").addEventListener("change", draw);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !data?.steps.length) return;
  if (event.target.tagName === "SELECT" || event.target.type === "text") return;
  const backward = data.rtl ? "ArrowRight" : "ArrowLeft";
  const forward = data.rtl ? "ArrowLeft" : "ArrowRight";
  const keys = {[backward]: () => go(now - 1), [forward]: () => go(now + 1), Home: () => go(0),
    End: () => go(data.steps.length), r: () => goAfter(isRepair), w: () => goAfter(isWrong)};
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) { act(); event.preventDefault(); }
});
window.addEventListener("hashchange", () => { if (data) { readAddress(); show(); } });
const whole = JSON.parse(byId("data").textContent);
if (whole) load(whole);
