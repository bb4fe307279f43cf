// A derivation that is steered: a sentence is typed, or one of the file is taken with its tree as
// gold; then other moves are tried. All of it stands in the address, so that the browser's "back"
// takes a move back.
const asking = element("form", {id: "asking"},
  element("input", {type: "text", id: "text", dir: "auto", autocomplete: "off",
    "aria-label": "A sentence", placeholder: "Type a sentence"}),
  element("button", {}, "parse"));
const steering = element("div", {id: "steering"},
  element("button", {id: "own", disabled: "", title: "Let the parser choose all moves (O)"},
    "parser's own moves"),
  element("button", {id: "right", disabled: "", title: "Costs are those against this tree (G)"},
    "take its tree as gold"),
  element("a", {id: "annotate"}, "annotate"), element("span", {id: "status", role: "status"}));
const shown = [...["controls", "what", "picture", "panels"].map(byId),
  document.querySelector("footer")];  // once there is a derivation
const address = () => new URLSearchParams(location.hash.slice(1));

let turn = 0;  // of requests the last one is shown
async function refresh() {
  const mine = ++turn;
  const asked = address(), moves = JSON.parse(asked.get("moves") ?? "[]");
  byId("annotate").href = `./#${new URLSearchParams({token, sentence: asked.get("at") ?? 1})}`;
  byId("status").textContent = "";
  try {
    const given = asked.get("key") === null ? {text: asked.get("text"), conllu: asked.get("conllu")}
      : {conllu: written((await ask("read", {key: Number(asked.get("key"))})).rows)};
    if (!Object.values(given).some((one) => one)) return byId("text").focus();
    const found = await ask("derive", {...given, moves});
    if (mine !== turn) return;
    for (const one of shown) one.hidden = false;
    load(found);
    byId("text").value = asked.get("text") ?? found.words.join(" ");
  } catch (error) {
    byId("status").textContent = error.message || "The server does not answer.";
    return;
  }
  data.steps.forEach((step, i) => {
    const isOther = step.action && named(step) !== named(step.choices[0]);
    if (isOther) byId("list").children[i].append(" ✎");
  });
  byId("own").disabled = !moves.length;
  byId("right").disabled = false;
  if (moves.length && !asked.get("step")) go(behind(moves.length));
}
// The step behind so many moves: completions are none.
function behind(n) {
  let i = 0;
  while (n) if (data.steps[i++].action) n--;
  return i;
}
// Go to what the address says when some of it is changed.
function change(changes) {
  clearTimeout(waiting);
  if (data) writeAddress();  // "back" leads to this step
  const asked = address();
  for (const name of ["sentence", "step", ...Object.keys(changes)]) asked.delete(name);
  for (const [name, value] of Object.entries(changes)) if (value) asked.set(name, value);
  history.pushState(null, "", `#${asked}`);
  return refresh();
}
const written = (rows) => rows.map((row) => row.join("\t") + "\n").join("") + "\n";
takes = (i, right) => {
  const taken = data.steps.slice(0, now).map((one) => one.action).filter((one) => one);
  const {action} = data.steps[now].choices[i];
  return change({moves: JSON.stringify([...taken, right ? action.slice(0, 2) : action])});
};
const own = () => change({moves: ""});
// Costs are those against the tree that the moves have led to.
const right = () => {
  const rowOf = (word, first) => {
    const head = data.heads[word], isRoot = head === word;
    return [word - first + 1, data.words[word], "_", "_", "_", "_",
      isRoot ? 0 : head - first + 1, isRoot ? "root" : data.labels[word] || "_", "_", "_"];
  };
  const conllu = data.sentences.map(([first, end]) =>
    written(data.words.slice(first, end).map((_, i) => rowOf(first + i, first))));
  return change({moves: "", text: "", key: "", conllu: conllu.join("")});
};

document.querySelector("header").after(asking, steering);
for (const one of shown) one.hidden = true;
byId("keys").append(...[["1–9", "make this move"], ["Shift+1", "with the right label"],
  ["O", "parser's own moves"], ["G", "take its tree as gold"]].flatMap(([key, does]) =>
  [" ", element("span", {class: "key"}, element("kbd", {}, key), ` ${does}`)]));
byId("own").addEventListener("click", own);
byId("right").addEventListener("click", right);
asking.addEventListener("submit", (event) => {
  event.preventDefault();
  change({moves: "", key: "", conllu: "", text: byId("text").value.trim()});
});
document.addEventListener("keydown", (event) => {
  if (!data || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.type === "text") return;
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
  const choices = data.steps[now]?.choices ?? [];
  if (digit && choices[digit[1] - 1]) takes(digit[1] - 1, event.shiftKey);
  if (event.key.toLowerCase() === "o" && !byId("own").disabled) own();
  if (event.key.toLowerCase() === "g") right();
});
window.addEventListener("hashchange", refresh);
const ready = refresh();
