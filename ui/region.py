"""A region is brushed over a picture, and attention is changed there: for pages whose keys lie in a picture."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core import AttentionTrace, BlockKeys, Edit, PermuteKeys, Uniform
from attention_core.attention.wording import format_count
from attention_core.charts.overlay import glow_ramp, image_png, map_png
from attention_core.charts.png import matrix_png
from ui.chart import draw_layers, picture_address
from ui.component import component
from ui.edits import EditList, describe_change, difference, write_moved_share
from ui.fragments import with_rerun
from ui.state import Field, component_message

FINE = 20  # rows of a picture from which on the brush is three cells wide
FAINT = 50
"""Opacity, of 255, of the picture under changes of weights."""
_brush = component("brush")


class Region:
    """A region that is brushed on a page, and what can be done with it.

    `keys` says what the keys are, in the plural. Those that lie in no picture come last.
    """

    hint = "brush over what it needs, and let it look away."

    def __init__(self, page: str, edits: EditList, keys: str) -> None:
        self._page, self._edits, self._keys = page, edits, keys
        self._cells: Field[list[int]] = Field(page, "brushed", list)

    def draw(
        self,
        paper: np.ndarray,
        before: np.ndarray,
        after: np.ndarray,
        *traces: AttentionTrace,
        size: int = 280,
        pixels: bool = False,
        high: float | None = None,
    ) -> DeltaGenerator:
        """Draw the picture to brush over, with the present map, how the map has changed, the actions and the edits.

        Returns the container beside the actions, for what comes of them. The paper is uint8 (height, width, 3 or 4),
        the maps are (rows, columns); with `pixels` cells are the picture's own pixels.
        `high` is the weight of the strongest pink, None = the largest of both maps.
        """
        (rows, columns), message, shares = after.shape, f"{self._page}_brush", traces[0].has_softmax
        ramp = glow_ramp(after.size, max(float(before.max()), float(after.max())) if high is None else high)

        def on_brushed() -> None:
            cells = (component_message(message, "brushed") or {}).get("cells")
            if isinstance(cells, list):
                self._cells.value = [cell for cell in cells if type(cell) is int and 0 <= cell < rows * columns]

        layers = [map_png(np.abs(after), ramp, not pixels), image_png(paper)]
        with st.container(horizontal=True, gap="medium"):
            with st.container(width=size, gap="xsmall"):
                _brush(
                    key=message,
                    data={
                        "rows": rows,
                        "columns": columns,
                        "size": size,
                        "reach": int(rows > FINE),
                        "pixels": pixels,
                        "layers": [picture_address(layer) for layer in layers],
                        "chosen": [cell for cell in self._cells.value if cell < rows * columns],
                    },
                    default={"brushed": None},
                    on_brushed_change=on_brushed,
                )
                st.caption(f"{len(self._cells.value)} of {rows * columns} {self._keys} are chosen.")
            change, colours = difference(before, after)
            if change.any():
                with st.container(width=size, gap="xsmall"):
                    faint = np.dstack([paper[..., :3], np.full(paper.shape[:2], FAINT, np.uint8)])
                    layers, key = [matrix_png(change, colours), image_png(faint)], f"{self._page}_difference"
                    percentage, alt = change * (100 if shares else 1), "How much each weight changed"
                    tooltip = f"changed by {{}}{' percentage points' * shares}"
                    draw_layers(layers, percentage, key, alt, size=size, axis=self._keys, tooltip=tooltip)
                    if shares:
                        write_moved_share(change)
                    else:
                        st.caption("Orange grew, blue shrank, whatever the sign.")
        actions, outcome = st.columns([1.2, 1], gap="large")
        with actions:
            self._actions(traces[0].n_keys, shares)
            self._edits.draw(*traces)
        return outcome

    def describe(self, labels: Sequence[str], before: np.ndarray, after: np.ndarray) -> str:
        """Say what the edits make of an answer's probabilities; while there are none, what to do."""
        sentence = describe_change(labels, before, after)
        return sentence if self._edits.changes else f"{sentence[:-1]}: {self.hint}"

    def _actions(self, n_keys: int, has_softmax: bool) -> None:
        cells, n = tuple(sorted(self._cells.value)), format_count(len(self._cells.value), self._keys)
        remaining_keys = tuple(key for key in range(n_keys) if key not in {*cells})
        seed = 1 + sum(isinstance(change.edit, PermuteKeys) for change in self._edits.changes)
        with st.container(horizontal=True, gap="xsmall", key=f"{self._page}_region_actions"):
            self._button("Look away", BlockKeys(cells), f"it no longer looks at {n}", not cells)
            self._button("Look nowhere else", BlockKeys(remaining_keys), f"it looks at {n} alone", not cells)
            if has_softmax:
                self._button("Look everywhere alike", Uniform(), "it looks everywhere alike")
            else:
                self._button("Make every weight 0", Uniform(), "every weight is 0")
            self._button("Shuffle", PermuteKeys(seed), f"its weights change places at random (draw {seed})")

    def _button(self, label: str, edit: Edit, description: str, disabled: bool = False) -> None:
        key = f"{self._page}_region_{label.lower().replace(' ', '_')}"
        add = with_rerun(partial(self._edits.add, edit, description=description))
        st.button(label, key=key, on_click=add, disabled=disabled, width="content")
