"""Heads side by side in one chart, for papers, with one scale of colours."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.attention.recording import HeadRecord
from attention_core.attention.types import Axis, Role
from attention_core.charts.chart import AltairHConcatChart
from attention_core.charts.heads import masked_weights
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.ramps import weights_ramp


def head_sheet(
    heads: Sequence[HeadRecord], titles: Sequence[str], words: bool = True, size: int = 240
) -> AltairHConcatChart:
    """Return the weights of heads side by side, in matrices of this size; with words on the axes, or with numbers."""
    if not heads:
        raise ValueError("a figure must have a head, got none")
    matrices = [masked_weights(head.trace, head.head) for head in heads]
    high = max(float(np.nanmax(matrix, initial=0.0)) for matrix in matrices)
    ramp = weights_ramp(max(head.trace.n_keys for head in heads), high)
    specs: list[Any] = []
    datasets: dict[str, Any] = {}
    for number, (head, title, matrix) in enumerate(zip(heads, titles, matrices, strict=True)):
        story = head.trace.story
        rows, columns = (
            axis if words else Axis.numbered(axis.name, len(axis)) for axis in (story.query_axis, story.key_axis)
        )
        chart = matrix_chart(matrix, rows, columns, Role.WEIGHTS, title="weight", size=size, ramp=ramp).to_dict()
        datasets |= {f"{name}{'' if name == 'bar' else number}": rows for name, rows in chart["datasets"].items()}
        plot = {name: chart[name] for name in ("layer", "width", "height", "view")}
        titled = {"text": title, "anchor": "middle", "fontSize": 13}
        numbered = re.sub(r'("data": {"name": "(?!bar")\w+)', rf"\g<1>{number}", json.dumps(plot))
        specs.append(json.loads(numbered) | {"title": titled})
    return AltairHConcatChart.from_dict({"hconcat": specs, "datasets": datasets, "spacing": 24})
