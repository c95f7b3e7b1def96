// Ten digits as they are drawn, and twice: the ink that their pixels have taken, and what is read; above as learned, below with every weight equal. The
// lower row begins like the upper one, and loses its ink digit by digit. A click takes a digit along.
import { create, inLine, isNew, make, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

const played = new Set();  // what has been seen: a page that is drawn anew begins at rest

class TenDigits {
  constructor(root) {
    this.claim = make(root, "p", "claim");
    this.rows = make(root, "div", "rows");
    const foot = (this.foot = make(root, "div", "foot"));
    make(foot, "button", "again", "↻ Play again").onclick = () => this.play();
    this.note = make(foot, "span", "note");
  }

  adopt(data, choose) {
    this.choose = choose;
    if (!isNew(this, data)) return;
    this.claim.textContent = data.claim;
    this.note.textContent = data.note;
    this.foot.style.display = data.note ? "" : "none";
    this.rows.replaceChildren();
    data.rows.forEach((row, index) => this.build(row, index === 1 ? data.rows[0] : null));
    if (!played.has(this.form)) this.play();
    played.add(this.form);
  }

  build({ title, pictures, digits, figure, even }, before) {
    const section = make(this.rows, "section"), heading = make(section, "h2", "", title), isRight = (digit, drawn) => digit === drawn;
    make(heading, "b", before ? "after" : "", figure ?? `${digits.filter(isRight).length} of ${digits.length} read`);
    const tiles = make(section, "div", "tiles");
    digits.forEach((digit, drawn) => {
      const tile = make(tiles, "button", { "aria-label": `${drawn}, read as ${digit}: ${title}` });
      tile.style.setProperty("--at", drawn);
      const picture = make(tile, "span", "mixture"), read = make(tile, "span", "digit");
      if (before) {
        picture.append(create("img", { className: "before", src: before.pictures[drawn], alt: "" }));
        make(read, "span", "before", `${before.digits[drawn]}`);
      }
      picture.append(create("img", { className: before ? "after" : "", src: pictures[drawn], alt: "" }));
      make(read, "b", `${before ? "after" : ""} ${isRight(digit, drawn) ? "" : "wrong"}`, `${digit}`);
    });
    inLine([...tiles.children], () => {}, (drawn) => {
      this.choose({ digit: drawn, even: Boolean(even) });
      document.querySelector(".st-key-pixels_own")?.scrollIntoView({ behavior: wantsLessMotion() ? "auto" : "smooth" });
    });
  }

  play() {
    this.rows.classList.remove("plays");
    void this.rows.offsetWidth;  // which begins the animations anew
    this.rows.classList.add("plays");
  }
}

export default shownBy(TenDigits, "chosen");
