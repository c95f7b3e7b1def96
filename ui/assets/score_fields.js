// Scores over all key positions, one picture per scoring function. Python sends each field as n x n bytes; they are
// enlarged here and painted in one go, so that nothing blinks while the query is dragged.
const SIDE = 168;

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const make = (parent, tag, className = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  return parent.appendChild(node);
};

// Bilinear enlargement of the bytes, then colours from the table: the colour bands stay sharp.
const paint = (canvas, field, n, colours) => {
  const pen = canvas.getContext("2d"), picture = pen.createImageData(SIDE, SIDE);
  for (let row = 0; row < SIDE; row++) {
    const y = (row * (n - 1)) / (SIDE - 1), top = Math.min(n - 2, Math.floor(y)), down = y - top;
    for (let column = 0; column < SIDE; column++) {
      const x = (column * (n - 1)) / (SIDE - 1), left = Math.min(n - 2, Math.floor(x)), right = x - left;
      const at = top * n + left;
      const value = (field[at] * (1 - right) + field[at + 1] * right) * (1 - down) +
        (field[at + n] * (1 - right) + field[at + n + 1] * right) * down;
      const place = 4 * (row * SIDE + column), colour = 3 * Math.round(value);
      picture.data[place] = colours[colour];
      picture.data[place + 1] = colours[colour + 1];
      picture.data[place + 2] = colours[colour + 2];
      picture.data[place + 3] = 255;
    }
  }
  pen.putImageData(picture, 0, 0);
};

const paintBar = (canvas, colours) => {
  const pen = canvas.getContext("2d"), picture = pen.createImageData(256, 1);
  for (let place = 0; place < 256; place++) {
    picture.data.set([colours[3 * place], colours[3 * place + 1], colours[3 * place + 2], 255], 4 * place);
  }
  pen.putImageData(picture, 0, 0);
};

const drawVectors = (canvas, query, keys, extent) => {
  const pen = canvas.getContext("2d"), x = (v) => SIDE / 2 + (v * SIDE) / (2 * extent), y = (v) => SIDE - x(v);
  pen.lineWidth = 1;
  pen.strokeStyle = "#00000040";
  pen.beginPath();
  pen.moveTo(0, SIDE / 2); pen.lineTo(SIDE, SIDE / 2); pen.moveTo(SIDE / 2, 0); pen.lineTo(SIDE / 2, SIDE);
  pen.stroke();
  for (const [colour, width] of [["#FFFFFFE0", 5.5], ["#0072B2", 2.5]]) {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = width;
    pen.beginPath(); pen.moveTo(x(0), y(0)); pen.lineTo(x(query[0]), y(query[1])); pen.stroke();
    pen.beginPath(); pen.arc(x(query[0]), y(query[1]), width + 1.3, 0, 7); pen.fill();
  }
  for (const [kx, ky] of keys) {
    pen.beginPath(); pen.arc(x(kx), y(ky), 4, 0, 7);
    pen.fillStyle = "#E69F00"; pen.fill();
    pen.lineWidth = 1.5; pen.strokeStyle = "#14181D"; pen.stroke();
  }
};

const build = (root, panel) => {
  const figure = make(root, "figure"), title = make(figure, "figcaption");
  make(title, "b").textContent = panel.name;
  const canvas = make(figure, "canvas"), range = make(figure, "div", "range");
  const low = make(range, "span"), bar = make(range, "canvas"), high = make(range, "span");
  const shape = make(figure, "div", "shape");
  Object.assign(canvas, { width: SIDE, height: SIDE });
  Object.assign(bar, { width: 256, height: 1 });
  canvas.setAttribute("role", "img");
  bar.setAttribute("aria-hidden", "true");
  return { canvas, low, bar, high, shape };
};

export default function (component) {
  const { data, parentElement } = component, root = parentElement.querySelector(".root");
  const names = data.panels.map((panel) => panel.name).join();
  if (root.dataset.names !== names) {
    root.dataset.names = names;
    root.replaceChildren();
    root.panels = data.panels.map((panel) => build(root, panel));
    for (const { bar } of root.panels) paintBar(bar, bytesOf(data.colours));
  }
  const colours = bytesOf(data.colours);
  data.panels.forEach((panel, place) => {
    const { canvas, low, high, shape } = root.panels[place];
    paint(canvas, bytesOf(panel.field), data.n, colours);
    canvas.dataset.painted = Number(canvas.dataset.painted ?? 0) + 1;
    drawVectors(canvas, data.query, data.keys, data.extent);
    low.textContent = panel.low;
    high.textContent = panel.high;
    shape.textContent = panel.shape;
    canvas.setAttribute("aria-label", `${panel.name}: score from ${panel.low} to ${panel.high} over all key positions. ${panel.shape}`);
  });
}
