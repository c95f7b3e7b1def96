// Scores and weights of every key under several functions, as one table of bars on common axes.
const buildTrack = (row, name) => {
  const track = make(make(row, "td", name), "div", "track");
  const bar = make(track, "i", "bar");
  make(track, "i", "zero");
  return { bar, value: make(track, "span", "value") };
};

const buildAxis = (row, name, texts) => {
  const axis = make(make(row, "td", name), "div", "axis track");
  const ticks = texts.map((text) => make(axis, "span", "", text));
  make(axis, "span", "title", name);
  return ticks;
};

const buildBars = (root, { functions, keys }) => {
  root.replaceChildren();
  const table = make(root, "table", { "aria-label": "Score and weight of every key under each scoring function" });
  const columns = make(table, "colgroup"), body = make(table, "tbody");
  for (const name of ["name", "score", "weight"]) make(columns, "col", name);
  const blocks = functions.map(({ name, formula }) => {
    const heading = make(make(body, "tr"), "th", { colspan: 3, scope: "rowgroup" });
    make(heading, "b", "", name);
    make(heading, "span").innerHTML = formula;
    return keys.map((key) => {
      const row = make(body, "tr");
      make(row, "td", "", key);
      return { row, score: buildTrack(row, "score"), weight: buildTrack(row, "weight") };
    });
  });
  const foot = make(make(table, "tfoot"), "tr");
  make(foot, "td");
  const ticks = buildAxis(foot, "score", ["", "0", ""]);
  buildAxis(foot, "weight", ["0", "50%", "100%"]);
  return { blocks, ticks };
};

const drawBars = (root, data) => {
  const { functions, limit } = data;
  if (isNew(root, data.keys, functions.map(({ name, formula }) => [name, formula]))) root.parts = buildBars(root, data);
  const { blocks, ticks } = root.parts;
  functions.forEach(({ scores, weights }, place) => scores.forEach((score, number) => {
    const { row, score: left, weight: right } = blocks[place][number];
    row.className = weights[number] * weights.length > 1.01 && weights[number] === Math.max(...weights) ? "best" : "";
    const share = Math.min(1, Math.abs(score) / limit) * 50, from = score < 0 ? 50 - share : 50;
    left.bar.style.left = `${from}%`;
    left.bar.style.width = `${share}%`;
    left.value.textContent = minus(score.toFixed(Math.abs(score) < 100 ? 2 : 0));
    left.value.style.left = score < 0 ? "50%" : `${from + share}%`;
    right.bar.style.width = right.value.style.left = `${100 * weights[number]}%`;
    right.value.textContent = `${(100 * weights[number]).toFixed(0)}%`;
  }));
  ticks[0].textContent = `−${limit}`;
  ticks[2].textContent = limit;
  root.dataset.painted = Number(root.dataset.painted ?? 0) + 1;
};
