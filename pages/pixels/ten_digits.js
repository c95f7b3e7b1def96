// Ten digits in three rows: as they are drawn, and twice the ink that their pixels have taken, as learned and with every weight
// equal, each with what is read in it; these come one by one. Lines lead from the pixels that one pixel takes most from to that
// pixel. A click takes a digit along.
import { create, inLine, isNew, make, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

const SIDE = 28;
const played = new Set();  // what has been seen: a page that is drawn anew begins at rest

class TenDigits {
  constructor(root) {
    this.claim = make(root, "p", "claim");
    this.rows = make(root, "div", "rows");
    new ResizeObserver(() => this.drawLines()).observe(this.rows);
  }

  adopt(data, choose) {
    this.choose = choose;
    if (!isNew(this, data)) return;
    this.data = data;
    this.claim.textContent = data.claim;
    this.rows.replaceChildren();
    this.mixtures = data.rows.map((row) => this.build(row));
    const corner = make(this.rows.querySelector("h2"), "span", { class: "corner", ...(!data.plays && { hidden: true }) }, data.hint);
    make(corner, "button", "again", "↻ Play again").onclick = () => this.play();
    this.lines = make(this.rows, "svg:svg", { "aria-hidden": true });
    this.drawLines();
    if (!played.has(this.form)) this.play();
    played.add(this.form);
  }

  // Returns the pictures.
  build({ title, pictures, digits, figure, even, note }) {
    const late = even ? "after" : "", isRead = digits[0] !== null, section = make(this.rows, "section", isRead ? "" : "drawn"), heading = make(section, "h2", "", title);
    make(heading, "b", late, figure);
    make(heading, "span", late || "legend", note ?? "");
    const tiles = make(section, "div", "tiles");
    const mixtures = digits.map((digit, drawn) => {
      const tile = make(tiles, "button", { "aria-label": isRead ? `${drawn}, read as ${digit}: ${title}` : `${drawn}: ${title}` });
      tile.style.setProperty("--at", drawn);
      const picture = make(tile, "span", "mixture"), read = make(tile, "span", "digit");
      picture.append(create("img", { className: late, src: pictures[drawn], alt: "" }));
      if (isRead) make(read, "b", `${late} ${digit === drawn ? "" : "wrong"}`, `${digit}`);
      return picture;
    });
    inLine([...tiles.children], () => {}, (drawn) => {
      this.choose({ digit: drawn, even: Boolean(even) });
      document.querySelector(".st-key-pixels_own")?.scrollIntoView({ behavior: wantsLessMotion() ? "auto" : "smooth" });
    });
    return mixtures;
  }

  drawLines() {
    const { data: { traced } = {}, lines } = this;
    lines?.replaceChildren();
    if (!traced) return;
    const [from, to] = this.mixtures.map((pictures) => pictures[traced.digit]);
    const placeOf = ({ offsetLeft, offsetTop, offsetWidth: side }, pixel) => [offsetLeft + ((pixel % SIDE) + 0.5) * side / SIDE, offsetTop + (Math.floor(pixel / SIDE) + 0.5) * side / SIDE];
    const [x, y] = placeOf(to, traced.pixel), half = Math.max(4, to.offsetWidth / SIDE);
    for (const [pixel, weight] of traced.sources) {
      const [left, top] = placeOf(from, pixel);
      make(lines, "svg:line", { x1: left, y1: top, x2: x, y2: y, "stroke-width": 1 + parseFloat(weight) / 20 });
      make(lines, "svg:circle", { cx: left, cy: top, r: 3 });
      make(lines, "svg:text", { x: from.offsetLeft + from.offsetWidth + 6, y: top }, weight);
    }
    for (const name of ["rim", "frame"]) make(lines, "svg:rect", { class: name, x: x - half, y: y - half, width: 2 * half, height: 2 * half });
  }

  play() {
    this.rows.classList.remove("plays");
    void this.rows.offsetWidth;  // which begins the animations anew
    this.rows.classList.add("plays");
  }
}

export default shownBy(TenDigits, "chosen");
