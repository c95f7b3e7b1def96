"""The attentions of a recording, sorted into kinds that can be laid beside each other, layer below layer."""

from typing import NamedTuple

from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace


class PatchGrid(NamedTuple):
    """Where the patches of a picture lie among the positions.

    Attributes:
        grid: rows and columns of patches.
        n_prefix: positions before the first patch.
    """

    grid: tuple[int, int]
    n_prefix: int


def groups(recording: Recording) -> dict[str, list[AttentionTrace]]:
    """Return the traces by stack and kind, each in the order of the layers.

    Args:
        recording: its traces have names such as "encoder.0.self" or "vision_model.encoder.3.self".

    Returns:
        "encoder self", "decoder self", "decoder cross" and so on, in the order in which the first of each ran; the
        towers of models that have several stay apart ("vision_model encoder self"). Within one the matrices have one
        shape: layers of other lengths follow with their shape in the name ("encoder self, 16 × 64"). A trace without
        a name that tells belongs to "attention".
    """
    found: dict[str, list[AttentionTrace]] = {}
    shapes: dict[str, set[tuple[int, int]]] = {}
    for trace in recording.traces:
        shapes.setdefault(kind_of(trace.story.name), set()).add((trace.n_queries, trace.n_keys))
    for trace in recording.traces:
        kind = kind_of(trace.story.name)
        if len(shapes[kind]) > 1:
            kind = f"{kind}, {trace.n_queries} × {trace.n_keys}"
        found.setdefault(kind, []).append(trace)
    return found


def kind_of(name: str) -> str:
    """Return the words of a trace's name without its numbers, "decoder cross" for "decoder.3.cross"."""
    words = [part for part in name.partition(" ")[0].split(".") if part and not part.isdigit()]
    return " ".join(words) or "attention"


def is_of_itself(trace: AttentionTrace) -> bool:
    """Return whether queries and keys are the same positions, as in self-attention."""
    queries, keys = trace.story.query_axis, trace.story.key_axis
    if kind_of(trace.story.name).endswith("cross") or trace.n_queries != trace.n_keys:
        return False
    return queries is keys or list(queries.labels) == list(keys.labels)
