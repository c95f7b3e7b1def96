// A click on a number chooses it.
class ChosenStep extends MovingStep {
  constructor(root) { super(root, (row, column) => this.tell({ row, column })); }
  adopt(data, tell) {
    this.tell = tell;
    super.adopt(data);
  }
}

export default shownBy(ChosenStep, "chosen");
