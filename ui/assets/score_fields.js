// Scores over all key positions, one picture per scoring function. Python sends each field as n x n bytes; they are
// enlarged here and painted in one go, so that nothing blinks while the query is dragged.
const SIDE = 168;

// Bilinear enlargement of the bytes, then colours from the table: the colour bands stay sharp.
const enlarged = (field, n, colours) => {
  const pixels = new Uint32Array(SIDE * SIDE);
  for (let row = 0; row < SIDE; row++) {
    const y = (row * (n - 1)) / (SIDE - 1), top = Math.min(n - 2, Math.floor(y)), down = y - top;
    for (let column = 0; column < SIDE; column++) {
      const x = (column * (n - 1)) / (SIDE - 1), left = Math.min(n - 2, Math.floor(x)), right = x - left;
      const at = top * n + left;
      const value = (field[at] * (1 - right) + field[at + 1] * right) * (1 - down) +
        (field[at + n] * (1 - right) + field[at + n + 1] * right) * down;
      pixels[row * SIDE + column] = colours[Math.round(value)];
    }
  }
  return pixels;
};

const drawVectors = (canvas, query, keys, extent) => {
  const pen = canvas.getContext("2d"), x = (v) => SIDE / 2 + (v * SIDE) / (2 * extent), y = (v) => SIDE - x(v);
  const dot = (at, size) => { pen.beginPath(); pen.arc(x(at[0]), y(at[1]), size, 0, 7); pen.fill(); };
  pen.lineWidth = 1;
  pen.strokeStyle = "#00000040";
  pen.beginPath();
  pen.moveTo(0, SIDE / 2); pen.lineTo(SIDE, SIDE / 2); pen.moveTo(SIDE / 2, 0); pen.lineTo(SIDE / 2, SIDE);
  pen.stroke();
  for (const [colour, width] of [["#FFFFFFE0", 5.5], ["#0072B2", 2.5]]) {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = width;
    pen.beginPath(); pen.moveTo(x(0), y(0)); pen.lineTo(x(query[0]), y(query[1])); pen.stroke();
    dot(query, width + 1.3);
  }
  pen.fillStyle = "#E69F00";
  pen.strokeStyle = "#14181D";
  pen.lineWidth = 1.5;
  for (const key of keys) {
    dot(key, 4);
    pen.stroke();
  }
};

const build = (root, name) => {
  const figure = make(root, "figure");
  make(make(figure, "figcaption"), "b", "", name);
  const canvas = make(figure, "canvas", { role: "img", width: SIDE, height: SIDE }), range = make(figure, "div", "range");
  const low = make(range, "span"), bar = make(range, "canvas", { "aria-hidden": true, width: 256, height: 1 });
  return { canvas, bar, low, high: make(range, "span"), shape: make(figure, "div", "shape") };
};

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root"), names = data.panels.map(({ name }) => name);
  const bytes = bytesOf(data.colours), colours = Uint32Array.from({ length: 256 }, (_, i) => pixelOf(bytes.slice(3 * i)));
  if (isNew(root, names)) {
    root.replaceChildren();
    root.panels = names.map((name) => build(root, name));
    for (const { bar } of root.panels) putPixels(bar, colours);
  }
  data.panels.forEach((panel, place) => {
    const { canvas, low, high, shape } = root.panels[place];
    putPixels(canvas, enlarged(bytesOf(panel.field), data.n, colours));
    canvas.dataset.painted = Number(canvas.dataset.painted ?? 0) + 1;
    drawVectors(canvas, data.query, data.keys, data.extent);
    low.textContent = panel.low;
    high.textContent = panel.high;
    shape.textContent = panel.shape;
    const label = `${panel.name}: score from ${panel.low} to ${panel.high} over all key positions. ${panel.shape}`;
    set(canvas, { "aria-label": label });
  });
}
