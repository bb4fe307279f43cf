const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 10;  // sentences that are drawn at once
const bin = (length) => length === 0 ? "root"
  : Object.entries(data.bins).findLast(([, first]) => first <= length)[0];

// What the filters ask about each word in which the parsers differ.
for (const sentence of data.sentences) {
  const all = sentence.trees.map(([heads, labels]) => treeArcs(heads, labels));
  sentence.arcs = all;
  sentence.crossed = all.map(crossing);
  sentence.words_at = sentence.words.flatMap((_, word) => {
    const own = sentence.trees.map(([heads, labels]) => `${heads[word]} ${labels[word]}`);
    if (own.slice(1).every((one) => one === own[1])) return [];
    const arcs = all.flatMap((tree) => tree.filter((arc) => arc[1] === word));
    return [{word, labels: new Set(arcs.map((arc) => arc[2] ?? "")),
      lengths: new Set(arcs.map((arc) => bin(arc[0] === ROOT ? 0 : Math.abs(arc[0] - word)))),
      crossing: sentence.crossed.some((one) => one.has(word))}];
  });
}
const differing = (sentence) => sentence.words_at.filter((one) =>
  (!byId("label").value || one.labels.has(byId("label").value)) &&
  (!byId("length").value || one.lengths.has(byId("length").value)) &&
  (!byId("crossing").value || one.crossing));

// Of an arc of a parse: "wrong", "misnamed" or, where it crosses another, "crossing".
function kindOf(sentence, tree, [head, word, label]) {
  const [heads, labels] = sentence.trees[0];
  if (tree && heads[word] !== null) {
    if (heads[word] !== (head === ROOT ? word : head)) return "wrong";
    if (labels[word] !== null && labels[word] !== label) return "misnamed";
  }
  return sentence.crossed[tree].has(word) ? "crossing" : "";
}
function figure(sentence, tree, boxed) {
  const arcs = sentence.arcs[tree];
  const plan = layoutOf({words: sentence.words, rtl: sentence.rtl, first: 0,
    end: sentence.words.length, above: arcs, below: []});
  const shown = arcs.map((arc) => [arc, kindOf(sentence, tree, arc)]);
  const right = shown.filter(([, kind]) => !["wrong", "misnamed"].includes(kind)).length;
  const known = sentence.trees[0][0].filter((head) => head !== null).length;
  const about = tree ? `${right} of ${known} right` : "";
  const box = element("div", {class: "picture", tabindex: 0, role: "group",
    "aria-label": `Tree of ${data.names[tree]}`},
    drawTree(plan, bySpan(shown), null, (word) => boxed.has(word) ? "front" : ""));
  return element("figure", {}, element("figcaption", {},
    element("b", {title: data.runs[tree]}, data.names[tree]), " ",
    element("span", {class: "soft"}, about)), box);
}
function scrolledAsOne(figures) {
  const boxes = figures.map((one) => one.lastChild);
  for (const box of boxes) box.addEventListener("scroll", () => {
    for (const other of boxes) other.scrollLeft = box.scrollLeft;
  });
  return figures;
}
let found = [], n = 0;
function more() {
  for (const [sentence, words] of found.slice(n, n + PAGE)) {
    const boxed = new Set(words.map((one) => one.word));
    const about = `${sentence.number}${sentence.id ? `: ${sentence.id}` : ""}`;
    byId("sentences").append(element("section", {class: "sentence"}, element("h2", {}, about),
      element("div", {class: "figures"},
        ...scrolledAsOne(sentence.trees.map((_, tree) => figure(sentence, tree, boxed))))));
  }
  n = Math.min(n + PAGE, found.length);
  byId("more").hidden = n === found.length;
  byId("more").textContent = `more (${found.length - n})`;
}
function filter() {
  found = data.sentences.map((one) => [one, differing(one)]).filter(([, words]) => words.length);
  n = 0;
  byId("sentences").replaceChildren();
  byId("count").textContent = `${found.length} of ${data.n_sentences} sentences`;
  more();
}

byId("title").textContent = document.title;
const words = data.sentences.flatMap((one) => one.words_at);
const labels = [...new Set(words.flatMap((one) => [...one.labels]))].filter((one) => one).sort();
const lengths = ["root", ...Object.keys(data.bins)];
for (const [id, values] of [["label", labels], ["length", lengths]]) {
  byId(id).append(...values.map((value) => element("option", {value}, value)));
}
for (const id of ["label", "length", "crossing"]) byId(id).addEventListener("change", filter);
byId("more").addEventListener("click", more);
filter();
