"""The floor of painting: a button, and as many heatmaps as the address says, whose data alone change; perhaps a pad.

Heatmaps are Vega's (charts) or drawn on a canvas by a component like ours (drawn).
"""

import numpy as np
import streamlit as st
from streamlit_drawable_canvas import st_canvas

N = 12
SPEC = {
    "width": 240,
    "height": 240,
    "mark": "rect",
    "encoding": {
        "x": {"field": "x", "type": "ordinal"},
        "y": {"field": "y", "type": "ordinal"},
        "color": {"field": "value", "type": "quantitative", "scale": {"domain": [0, 1]}},
    },
}
DRAWN = st.components.v2.component(
    "drawn",
    html='<canvas width="240" height="240"></canvas>',
    js="""export default ({ data, parentElement }) => {
  const pen = parentElement.querySelector("canvas").getContext("2d"), side = 240 / data.length;
  data.forEach((row, y) => row.forEach((value, x) => {
    pen.fillStyle = `rgb(68 1 84 / ${value})`;
    pen.clearRect(x * side, y * side, side, side);
    pen.fillRect(x * side, y * side, side, side);
  }));
};""",
)

st.set_page_config(layout="wide")
st.title("Floor")
pressed = st.button("Press", key="press")
st.write(str(np.random.rand()))
for number in range(int(st.query_params.get("charts", 0))):
    values = np.random.rand(N, N)
    cells = [{"x": x, "y": y, "value": float(values[y, x])} for y in range(N) for x in range(N)]
    st.vega_lite_chart(cells, SPEC, key=f"chart_{number}")
for number in range(int(st.query_params.get("drawn", 0))):
    DRAWN(key=f"drawn_{number}", data=np.random.rand(N, N).round(3).tolist())
if "pad" in st.query_params:
    st_canvas(key="pad", width=280, height=280, stroke_width=20)
