const ID = 0, FORM = 1, HEAD = 6, DEPREL = 7, MISC = 9, CONFIRMED = "Confirmed=Yes";
const COLUMNS = {2: "lemma", 3: "upos", 4: "xpos", 5: "feats", 7: "label"};
const SURE = 0.9;  // from here on nothing is written on an arc
const asked = new URLSearchParams(location.hash.slice(1));
let items = [];         // all sentences, in short, in text order
let order = [];         // their keys in the order in which they are shown
let now = null;         // the sentence that is shown
let changed = new Set();  // words that the parser has just changed
let focus = 0, taken = null;  // the chosen word; a word that looks for its head
let naming = null;      // an arc that waits for its label: {word, head}
let past = [], future = [];  // what undo and redo put back
let unsaved = false;    // whether a request has failed that can be tried again
let conflict = null;    // what was asked for, and the sentences as another window has left them

// Requests come one after the other: each needs the revision that the one before has made.
let queue = Promise.resolve();
const queued = (act) => (queue = queue.then(act, act));
function isFree() {
  if (unsaved) byId("again").focus();
  if (conflict) say("Keep one of the two trees first.", true);
  return !unsaved && !conflict;
}

function say(text, bad = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("bad", bad);
}

// A word is a row of CoNLL-U; words have numbers from 0 here.
const words = (sentence = now) => sentence.rows.filter((row) => /^\d+$/.test(row[ID]));
const isConfirmed = (row) => row[MISC].split("|").includes(CONFIRMED);
function confirm(row, yes = true) {
  const items = row[MISC].split("|").filter((one) => one !== CONFIRMED && one !== "_");
  row[MISC] = [...items, ...(yes ? [CONFIRMED] : [])].join("|") || "_";
}
const headOf = (row) => row[HEAD] === "_" ? null : Number(row[HEAD]) - 1;
const arcsOf = (sentence) => words(sentence).flatMap((row, word) => {
  const sure = isConfirmed(row) || !(sentence.sure?.[word] < SURE) ? undefined
    : sentence.sure[word];
  return headOf(row) === null ? [] : [[headOf(row), word, row[DEPREL], sure]];
});
const copy = (sentence) => ({key: sentence.key, comments: [...sentence.comments],
  rows: sentence.rows.map((row) => [...row])});

function drawn(sentence, boxOf) {
  const arcs = arcsOf(sentence), crossed = crossing(arcs), rows = words(sentence);
  const plan = layoutOf({words: rows.map((row) => row[FORM]), rtl: sentence.rtl, first: 0,
    end: rows.length, above: arcs, below: []});
  const kind = (word) => [isConfirmed(rows[word]) && "confirmed", crossed.has(word) && "crossing",
    sentence === now && changed.has(word) && "changed"].filter((one) => one).join(" ");
  return [drawTree(plan, bySpan(arcs.map((arc) => [arc, kind(arc[1])])), null, boxOf), plan];
}
function draw() {
  const [picture, plan] = drawn(now, (word) =>
    `hit ${word === taken ? "stack top" : word === focus ? "front" : ""}`);
  const box = byId("picture"), left = box.scrollLeft;
  box.replaceChildren(picture);
  const place = plan.x.centers.get(focus), room = box.clientWidth;
  box.scrollLeft = place < left + 60 || place > left + room - 60 ? place - room / 2 : left;
}

function show(isNew = true) {
  const rows = words();
  focus = Math.min(focus, rows.length - 1);
  draw();
  const form = (word) => word < 0 ? "ROOT" : rows[word][FORM];
  byId("form").textContent = form(focus);
  byId("confirm").textContent = isConfirmed(rows[focus]) ? "not confirmed" : "confirm";
  if (taken !== null) byId("what").textContent = `Choose the head of ${form(taken)}.`;
  else if (changed.size) {
    const named = [...changed].slice(0, 5).map((word) =>
      `${form(word)} ← ${rows[word][DEPREL]} ← ${form(headOf(rows[word]) ?? -1)}`);
    const more = changed.size - named.length;
    byId("what").textContent = "Changed by the parser: " + named.join(", ")
      + (more ? `, and ${more} more` : "");
  } else byId("what").textContent = "";
  byId("labelling").hidden = !naming;
  byId("word").hidden = Boolean(naming);
  if (naming) byId("arc").textContent = `${form(naming.head)} → ${form(naming.word)}:`;
  byId("problems").replaceChildren(...now.problems.map((one) => element("li", {}, one)));
  if (document.activeElement !== byId("comments")) {
    byId("comments").value = now.comments.join("\n");
  }
  byId("undo").disabled = !past.length;
  byId("redo").disabled = !future.length;
  const place = order.indexOf(now.key);
  byId("previous").disabled = place < 1;
  byId("next").disabled = place === order.length - 1;
  byId("split").disabled = focus === 0;
  byId("merge").disabled = items.at(-1).key === now.key;
  if (isNew) {
    showTable(rows);
    showList();
  }
  [...byId("words").rows].forEach((row, i) => row.classList.toggle("front", i === focus + 1));
}
function showTable(rows) {
  const head = element("tr", {}, ...["", "form", "head", "", ...Object.values(COLUMNS)].map(
    (name) => element("th", {}, name)));
  const body = rows.map((row, word) => {
    const mark = element("input", {type: "checkbox", "aria-label": `${row[FORM]} is confirmed`});
    mark.checked = isConfirmed(row);
    mark.addEventListener("change", () => edit((own) => confirm(own[word], mark.checked)));
    const cells = Object.entries(COLUMNS).map(([column, name]) => {
      const input = element("input", {value: row[column], spellcheck: "false",
        "aria-label": `${name} of ${row[FORM]}`, "data-cell": `${word},${column}`,
        ...(name === "label" ? {list: "labels"} : {})});
      const commit = () => {
        const value = input.value.trim() || "_";
        if (!input.isConnected || value === (input.dataset.sent ?? row[column])) return;
        input.dataset.sent = value;
        edit((own) => {
          own[word][column] = value;
          if (name === "label") confirm(own[word]);
        }, name === "label");
      };
      for (const kind of ["change", "blur"]) input.addEventListener(kind, commit);
      return element("td", {class: name}, input);
    });
    const head = headOf(row);
    return element("tr", {}, element("td", {}, row[ID]),
      element("td", {}, element("bdi", {}, row[FORM])), element("td", {}, element("bdi", {},
        head === null ? "?" : head < 0 ? "ROOT" : rows[head][FORM])), element("td", {}, mark),
      ...cells);
  });
  const active = document.activeElement, cell = active.dataset.cell;
  byId("words").replaceChildren(head, ...body);
  const again = cell && document.querySelector(`[data-cell="${cell}"]`);
  if (!again) return;
  again.value = active.value;  // what is being written there
  again.focus();
  again.setSelectionRange(active.selectionStart, active.selectionEnd);
}
function showList() {
  const done = items.filter((one) => one.confirmed === one.words).length;
  byId("count").textContent = `${done} of ${items.length} sentences confirmed`;
  const byKey = new Map(items.map((one, i) => [one.key, [one, i]]));
  byId("list").replaceChildren(...order.map((key) => {
    const [one, i] = byKey.get(key), whole = one.confirmed === one.words;
    const sure = whole ? "✓" : one.doubt === null ? "" : `${Math.round(100 * (1 - one.doubt))}%`;
    const item = element("li", {class: `${key === now.key ? "now " : ""}${whole ? "done" : ""}`,
      "data-key": key}, `${i + 1} `, element("bdi", {}, one.text), " ",
      element("span", {class: "soft", title: "how sure the parser is of its least sure word"},
        sure));
    return item;
  }));
  const item = byId("list").querySelector(".now");
  if (item) byId("list").scrollTop = item.offsetTop - byId("list").clientHeight / 2;
}
function sort() {
  order = items.map((one) => one.key);
  const doubt = new Map(items.map((one) => [one.key, one.doubt ?? -1]));
  if (byId("order").value === "doubt") order.sort((a, b) => doubt.get(b) - doubt.get(a));
}

async function load() {
  const found = await ask("list", {});
  items = found.sentences;
  byId("title").textContent = document.title = found.file;
  byId("labels").replaceChildren(...found.labels.map((value) => element("option", {value})));
  sort();
}
const open = (key) => queued(() => isFree() && openNow(key));
async function openNow(key) {
  try {
    now = await ask("read", {key});
  } catch (error) {
    if (error.status !== 404) return say(error.message || "No answer.", true);
    await load();
    return openNow(order[0]);
  }
  changed = new Set(); focus = 0; taken = naming = null;
  asked.set("sentence", items.findIndex((one) => one.key === key) + 1);
  history.replaceState(null, "", `#${asked}`);
  show();
}
const go = (by) => queued(() => {
  const key = order[order.indexOf(now.key) + by];
  return key !== undefined && isFree() && openNow(key);
});

// Changes. A step of undo is what sentences were before and are after.
async function send(path, body, before) {
  say("saving …");
  try {
    const answer = await ask(path, body);
    unsaved = false;
    const after = answer.sentences;
    past.push({before, after: after.map(copy)});
    settle(before.map((one) => one.key), after);
    say(answer.notes.length ? answer.notes.join(" ") : "saved", answer.notes.length > 0);
  } catch (error) {
    if (error.status === 409) {
      conflict = {path, body, before, current: error.answer.sentences};
      showConflict();
      say("not saved: changed elsewhere", true);
    } else if (error.status && error.status !== 507) {
      say(error.message, true);
      await openNow(now.key);
    } else {
      unsaved = true;
      say(`${error.status ? error.message : "Not saved: the server does not answer."} `, true);
      const again = element("button", {id: "again", type: "button"}, "try again");
      again.addEventListener("click", () => queued(() => send(path, body, before)));
      byId("status").append(again);
    }
  }
}
function settle(keys, after) {
  const place = items.findIndex((one) => one.key === keys[0]);
  const same = keys.length === after.length;
  items.splice(place, keys.length, ...after);
  if (!same) sort();
  now = after[0];
  changed = new Set(now.changed);
  show();
}
const partsOf = (sentences) => sentences.map(({key, revision}) => ({key, revision}));
const edit = (change, tree = false) => queued(() => isFree() && editNow(change, tree));
async function editNow(change, tree) {
  const before = [copy(now)], after = copy(now);
  change(words(after), after);
  const shown = {...now, ...after};
  const parts = partsOf([now]);
  now = shown;  // at once, before the server answers
  changed = new Set();
  show();
  future = [];
  await send("save", {parts, sentences: [after], complete: tree && byId("complete").checked},
    before);
}
async function step(from, to) {
  if (!from.length || !isFree()) return;
  const one = from.pop();
  try {
    const current = await Promise.all(one.after.map(({key}) => ask("read", {key})));
    const same = current.every((own, i) => JSON.stringify(own.rows) ===
      JSON.stringify(one.after[i].rows));
    if (!same) return say("Changed elsewhere since: nothing to undo.", true);
    const answer = await ask("save", {parts: partsOf(current), sentences: one.before});
    to.push({before: one.after, after: answer.sentences.map(copy)});
    settle(one.after.map((own) => own.key), answer.sentences);
    say("saved");
  } catch (error) {
    from.push(one);
    say(error.message || "No answer.", true);
  }
  show();
}
const undo = () => queued(() => step(past, future)), redo = () => queued(() => step(future, past));
const cut = (word = focus) => queued(() => {
  if (word === 0 || !isFree()) return;
  future = [];
  return send("split", {parts: partsOf([now]), word: word + 1}, [copy(now)]);
});
const join = () => queued(async () => {
  const next = items[items.findIndex((one) => one.key === now.key) + 1];
  if (!next || !isFree()) return;
  const other = await ask("read", {key: next.key}).catch(() => null);
  if (!other) return say("The next sentence was changed elsewhere: load the page again.", true);
  future = [];
  return send("merge", {parts: partsOf([now, other])}, [copy(now), copy(other)]);
});
function showConflict() {
  byId("conflict").hidden = !conflict;
  if (!conflict) return;
  const other = conflict.current.length === 1 ? words(conflict.current[0]) : [];
  const differs = (word) => String(words()[word]) === String(other[word]) ? "" : "front";
  for (const [id, sentences] of [["ours", [now]], ["theirs", conflict.current]]) {
    byId(id).replaceChildren(...sentences.map((one) => drawn(one, differs)[0]));
  }
  byId("keep").hidden = conflict.path !== "save" || conflict.current.length !== 1;
}
const resolve = (ours) => queued(async () => {
  const {path, body, current} = conflict;
  conflict = null;
  showConflict();
  if (ours) return send(path, {...body, parts: partsOf(current)}, current.map(copy));
  await load();
  await openNow(now.key);
  say("");
});

// Heads and labels.
function attach(word, head) {
  taken = null;
  if (word === head) return show(false);
  naming = {word, head};
  const old = words()[word][DEPREL];
  show(false);
  const label = byId("label");
  label.value = head < 0 ? "root" : old === "root" || old === "_" ? "" : old;
  label.focus();
  label.select();
}
function named(text) {
  const {word, head} = naming, known = [...byId("labels").children].map((one) => one.value);
  const label = known.includes(text) ? text : known.find((one) => one.startsWith(text)) ?? text;
  naming = null;
  byId("picture").focus();
  return edit((own) => {
    own[word][HEAD] = String(head + 1);
    own[word][DEPREL] = label;
    confirm(own[word]);
  }, true);
}
function letGo() { taken = naming = null; show(false); byId("picture").focus(); }
function choose(word) {
  if (naming) return;
  if (taken !== null && taken !== word) { focus = word; return attach(taken, word); }
  focus = word;
  taken = taken === word ? null : word;
  show(false);
}
const makeRoot = (word = focus) => edit((own) => {
  own[word][HEAD] = "0"; own[word][DEPREL] = "root"; confirm(own[word]);
}, true);
const rename = (word = focus) => {
  const head = headOf(words()[word]);
  if (head !== null) attach(word, head);
};
const toggle = (word = focus) => edit((own) => confirm(own[word], !isConfirmed(own[word])));
async function confirmAll() {
  if (now.problems.some((one) => one.startsWith("No head"))) return say("No head.", true);
  if (!words().every(isConfirmed)) await edit((own) => own.forEach((row) => confirm(row)));
  if (!unsaved && !conflict) await go(1);  // else what is not saved stays in sight
}
function move(by) { focus = Math.max(0, Math.min(focus + by, words().length - 1)); show(false); }

// The derivation of the sentence, on a page of its own.
const derive = () => queued(() => isFree() && location.assign(`derive#${new URLSearchParams(
  {token, key: now.key, at: asked.get("sentence")})}`));
const does = {derive, previous: () => go(-1), next: () => go(1), all: confirmAll, undo, redo,
  split: () => cut(), merge: join, help: () => byId("keys").showModal(),
  attach: () => choose(focus), root: () => makeRoot(), name: () => rename(),
  confirm: () => toggle(), cancel: letGo, keep: () => resolve(true), take: () => resolve(false)};
for (const [id, act] of Object.entries(does)) byId(id).addEventListener("click", () => act());
byId("order").addEventListener("change", () => { sort(); open(order[0]); });
byId("comments").addEventListener("change", () => edit((_, sentence) => {
  sentence.comments = byId("comments").value.split("\n").map((one) => one.trim())
    .filter((one) => one).map((one) => one.startsWith("#") ? one : `# ${one}`);
}));
byId("labelling").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("label").value.trim();
  if (text) named(text);
});
byId("picture").addEventListener("click", (event) => {
  const found = event.target.closest("[data-box], [data-label]");
  if (found?.dataset.box) choose(Number(found.dataset.box));
  else if (found) { focus = Number(found.dataset.label); rename(); }
});
byId("list").addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (item) open(Number(item.dataset.key));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && (taken !== null || naming)) return letGo();
  if (event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (event.target.tagName === "BUTTON" && event.key === "Enter") return;  // it is pressed
  if (!now || conflict || byId("keys").open) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const way = now.rtl ? -1 : 1;
  if (event.ctrlKey || event.metaKey) {
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    return key === "y" || event.shiftKey ? redo() : undo();
  }
  const acts = {ArrowLeft: () => move(-way), ArrowRight: () => move(way), Enter: does.attach,
    r: does.root, l: does.name, c: does.confirm, a: confirmAll, s: does.split, m: join,
    d: derive, n: does.next, p: does.previous, u: event.shiftKey ? redo : undo, "?": does.help};
  if (acts[key]) { event.preventDefault(); acts[key](); }
});
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
window.addEventListener("resize", () => { if (now) draw(); });
const ready = load().then(() => open(items[asked.get("sentence") - 1]?.key ?? order[0]))
  .catch((error) => say(error.message || "The server does not answer.", true));
