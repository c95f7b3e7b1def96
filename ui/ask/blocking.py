"""Regions of the drawing that a visitor forbids the attention, by clicks on its map."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from ui.ask.asking import Box, grid_of, look_map
from ui.state import Field, selected


class BlockedRegions:
    """A click on the map blocks a region and its neighbours, another one gives them back; a field keeps them."""

    def __init__(self, field: Field[list[int]]) -> None:
        self.field = field

    def regions(self, grid: tuple[int, int]) -> list[int]:
        return [region for region in self.field.value if 0 <= region < grid[0] * grid[1]]

    def draw(
        self, canvas: np.ndarray, look: AttentionTrace, size: int, boxes: Sequence[Box] = (), query: int = 0
    ) -> None:
        """Draw the map of a look's query to be clicked, what is blocked in dashes, and the way back."""
        rows, columns = grid_of(look)
        blocked, key = self.regions((rows, columns)), f"{self.field.key}_click"

        def take_click() -> None:
            for click in selected(key, "region"):
                here = int(click["position"])
                near = set(_neighbours(here, rows, columns))
                self.field.value = sorted(set(blocked) - near if here in blocked else {*blocked, *near})

        cells = [
            (row / rows, column / columns, (row + 1) / rows, (column + 1) / columns)
            for row, column in (divmod(region, columns) for region in blocked)
        ]
        words = "The look's map over the drawing; click a region to block it"
        look_map(canvas, look, size, key, words, boxes=[*boxes, *cells], on_select=take_click, query=query)
        if blocked:
            label = f"Give the {len(blocked)} clicked regions back"
            st.button(label, key=f"{self.field.key}_give_back", on_click=self.field.forget)
        else:
            st.caption("Click the map to block a region and its neighbours, click again to give them back.")


def _neighbours(region: int, rows: int, columns: int) -> list[int]:
    row, column = divmod(region, columns)
    down, across = range(max(0, row - 1), min(rows, row + 2)), range(max(0, column - 1), min(columns, column + 2))
    return [near_row * columns + near_column for near_row in down for near_column in across]
