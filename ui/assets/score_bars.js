// Scores and weights of every key under several functions, as one table of bars on common axes.
const make = (parent, tag, className = "", text = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return parent.appendChild(node);
};
const sign = (text) => text.replace("-", "−");

const buildTrack = (row, className) => {
  const track = make(make(row, "td", className), "div", "track");
  const bar = make(track, "i", "bar");
  make(track, "i", "zero");
  return { bar, value: make(track, "span", "value") };
};

const buildAxis = (row, className, title, ends) => {
  const track = make(make(row, "td", className), "div", "axis track");
  const ticks = ends.map((_, place) => {
    const tick = make(track, "span", place === ends.length - 1 ? "end" : "");
    tick.style.left = `${(100 * place) / (ends.length - 1)}%`;
    return tick;
  });
  make(track, "span", "title", title).style.left = "50%";
  return ticks;
};

const build = (root, data) => {
  root.replaceChildren();
  const table = make(root, "table"), columns = make(table, "colgroup");
  table.setAttribute("aria-label", "Score and weight of every key under each scoring function");
  for (const name of ["name", "score", "weight"]) make(columns, "col", name);
  const body = make(table, "tbody");
  const blocks = data.functions.map(({ name, formula }) => {
    const heading = make(make(body, "tr"), "th");
    heading.colSpan = 3;
    heading.scope = "rowgroup";
    make(heading, "b", "", name);
    make(heading, "span").innerHTML = formula;
    return data.keys.map((key) => {
      const row = make(body, "tr");
      make(row, "td", "", key);
      return { row, score: buildTrack(row, "score"), weight: buildTrack(row, "weight") };
    });
  });
  const foot = make(make(table, "tfoot"), "tr");
  make(foot, "td");
  return {
    blocks,
    scoreTicks: buildAxis(foot, "score", "score", [0, 1, 2]),
    weightTicks: buildAxis(foot, "weight", "weight", [0, 1, 2]),
  };
};

export default function (component) {
  const { data, parentElement } = component, root = parentElement.querySelector(".root");
  const form = JSON.stringify([data.keys, data.functions.map((f) => [f.name, f.formula])]);
  if (root.dataset.form !== form) {
    root.dataset.form = form;
    root.parts = build(root, data);
  }
  const { blocks, scoreTicks, weightTicks } = root.parts, limit = data.limit;
  data.functions.forEach(({ scores, weights }, place) => scores.forEach((score, number) => {
    const { row, score: left, weight: right } = blocks[place][number];
    row.className = number === data.active ? "active" : "";
    const share = Math.min(1, Math.abs(score) / limit) * 50, from = score < 0 ? 50 - share : 50;
    left.bar.style.left = `${from}%`;
    left.bar.style.width = `${share}%`;
    left.value.textContent = sign(score.toFixed(Math.abs(score) < 100 ? 2 : 0));
    left.value.style.left = score < 0 ? "50%" : `min(${from + share}%, 100% - 2.6em)`;
    right.bar.style.width = `${100 * weights[number]}%`;
    right.value.style.left = `${100 * weights[number]}%`;
    right.value.textContent = `${(100 * weights[number]).toFixed(0)} %`;
  }));
  [-limit, 0, limit].forEach((tick, place) => { scoreTicks[place].textContent = sign(String(tick)); });
  ["0", "50 %", "100 %"].forEach((tick, place) => { weightTicks[place].textContent = tick; });
  root.dataset.painted = Number(root.dataset.painted ?? 0) + 1;
}
