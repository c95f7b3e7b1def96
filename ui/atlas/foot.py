"""The foot of the atlas: take the head along, go on in a notebook."""

from __future__ import annotations

import io

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array
from ui.atlas.shelf import Shelf

NOTEBOOK = """import numpy as np, torch
from attention_core.atlas import Atlas, trace_of_tensors

file = np.load("head.npz")
trace = trace_of_tensors(torch.from_numpy(file["query"]), torch.from_numpy(file["key"]){more})
atlas = Atlas(trace)
atlas.tile(0, 3, 1).mean      # rows 768 to 1023, columns 256 to 511, exact
for share in atlas.survey():  # one pass over the whole matrix; stop and go on as you like
    print(f"{{share:.0%}}")
atlas.column_sums             # what each key receives in all
"""


def foot(name: str, shelf: Shelf) -> None:
    """Offer the head's queries and keys as a file, which this page opens again, and the code that reads it.

    Args:
        name: prefix of its state.
        shelf: the matrix.
    """
    trace = shelf.atlas.trace
    with st.expander("Take it along"):
        st.download_button(
            "Queries and keys of this head (.npz)",
            lambda: head_file(shelf),
            "head.npz",
            on_click="ignore",
            key=f"{name}_npz",
        )
        st.code(notebook(trace), language="python")
        if has_more(trace):
            st.caption("This attention has more than its file tells, such as a mask or a bias: weights from it differ.")


def notebook(trace: AttentionTrace) -> str:
    """Return the code that maps a head from its file."""
    more = ", is_causal=True" if trace.is_causal else ""
    factor = trace.score.dot_factor(trace.key.shape[-1])
    if factor is not None:
        more += f", scale={factor:.9g}"
    return NOTEBOOK.format(more=more)


def has_more(trace: AttentionTrace) -> bool:
    """Return whether a trace's weights need more than queries, keys, scale and causality."""
    parts = (trace.mask, trace.bias, trace.sinks)
    return any(part is not None for part in parts) or trace.score.dot_factor(trace.key.shape[-1]) is None


def head_file(shelf: Shelf) -> bytes:
    """Return the head's queries, keys and labels as a .npz file."""
    trace, file = shelf.atlas.trace, io.BytesIO()
    arrays = {"query": trace.query[shelf.atlas.head], "key": trace.key_of(shelf.atlas.head)}
    np.savez(
        file,
        **{name: to_array(tensor.float()) for name, tensor in arrays.items()},
        labels=np.array([str(one) for one in trace.story.key_axis.labels]),
    )
    return file.getvalue()
