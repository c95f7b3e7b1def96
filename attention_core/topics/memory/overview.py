"""Everything that the page on forgetting shows of one sentence and one network, as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from attention_core.device import to_array
from attention_core.models.translator import Translator
from attention_core.topics.memory import influence
from attention_core.topics.memory.influence import DIRECTIONS, gradient_norms
from attention_core.topics.translate.translation import SourceSentence

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"norm": "gradient norm", "left": "what is left of the word", "share": "share of the state"}
"""Ways to look at the norms: as they are; divided by the norm right after the word; divided by the row's sum."""


@dataclass(frozen=True, eq=False)
class MemoryOverview:
    """A sentence as a recurrent encoder read it, position by position: words, or pieces if it was asked for them."""

    labels: list[str]  # one per position, the end last
    pieces: list[tuple[str, ...]]  # the pieces that each position consists of
    states: dict[str, np.ndarray]  # direction -> float (d, n); dimensions that behave alike are neighbours
    # direction -> float (d, n) in [0, 1], in the same order; empty for a network without gates
    update: dict[str, np.ndarray]
    reset: dict[str, np.ndarray]  # the same for the reset gate
    # direction -> float (n, n), Frobenius norms of d h_t / d x_s; rows are the present states, or (1, n) at the end
    norms: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.labels)

    def matrix(self, measure: str, both: bool) -> np.ndarray:
        """Return how much each word matters to each state, (n, n); NaN where a state cannot know the word.

        The states of both readings are taken end to end, or the forward ones alone.

        Raises:
            ValueError: no such measure.
        """
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {tuple(MEASURES)}, got {measure!r}")
        norms = torch.from_numpy(self.norms["forward"])
        if both:
            norms = influence.both_ways(norms, torch.from_numpy(self.norms["backward"]))
        scaled = {"norm": lambda x: x, "left": influence.what_is_left, "share": influence.shares}[measure]
        values = to_array(scaled(norms))
        return values if both else np.where(np.tri(len(self), dtype=bool), values, np.nan)

    def gate_means(self, direction: str, place: int) -> tuple[float, float] | None:
        """Return the means of the update and the reset gate while a position was read; None without gates."""
        if direction not in self.update:
            return None
        return float(self.update[direction][:, place].mean()), float(self.reset[direction][:, place].mean())

    def column_facts(self, kind: str, direction: str) -> dict[str, list]:
        values: np.ndarray = getattr(self, kind)[direction]
        facts: dict[str, list] = {"word": self.labels}
        if any(len(texts) > 1 for texts in self.pieces):
            facts["read as"] = [" ".join(texts) for texts in self.pieces]
        if kind == "states":
            return facts | {"length of h": np.linalg.norm(values, axis=0).tolist()}
        return facts | {"mean of the gate": values.mean(0).tolist()}

    def told(self, measure: str, both: bool) -> np.ndarray:
        matrix = self.matrix(measure, both)
        sentences = np.empty(matrix.shape, dtype=object)
        after = "at" if both else "after"
        for (state, word), value in np.ndenumerate(matrix):
            here, there = (f"“{self.labels[place]}”" for place in (state, word))
            if not np.isfinite(value):
                sentences[state, word] = f"after {here}, {there} has not been read yet"
            elif state == word:
                sentences[state, word] = f"right {after} {here}, it matters {value:.3g}"
            else:
                sentences[state, word] = f"{after} {here}, {there} still matters {value:.3g}"
        return sentences

    def share_at_end(self, both: bool) -> np.ndarray:
        """Return what share each word has in what is handed over when all is read, (n,); sums to 1."""
        norms = [torch.from_numpy(self.norms[direction]) for direction in (DIRECTIONS if both else DIRECTIONS[:1])]
        return to_array(influence.shares(influence.reaching_the_end(*norms)))

    def left_after(self) -> list[float]:
        """Return what is left of the first word in the forward states, 0, 1, 2, ... words later; it begins with 1."""
        return influence.what_is_left(torch.from_numpy(self.norms["forward"]))[:, 0].tolist()


def remember(
    model: Translator, source: SourceSentence, by_pieces: bool = False, *, at_end: bool = False, both: bool = True
) -> MemoryOverview:
    """Read a sentence in both directions and keep what is needed to look at it; gradient norms cost most by far.

    A word's state is the one after its last piece that was read. Where gradient norms of the states at the end are
    enough, `share_at_end` works and all else but the norms; they may be wanted in both directions.
    """
    word_of = list(range(len(source.ids))) if by_pieces else source.word_of
    n, wanted = word_of[-1] + 1, DIRECTIONS[: 1 + both]
    ends = {word: piece for piece, word in enumerate(word_of)}
    last = {"forward": [ends[word] for word in range(n)], "backward": [word_of.index(word) for word in range(n)]}
    readings = dict(zip(DIRECTIONS, influence.read(model, source.ids), strict=True))
    orders = {direction: influence.similar_first(reading.states) for direction, reading in readings.items()}

    def in_order(direction: str, rows: Tensor) -> np.ndarray:
        return to_array(rows[last[direction]][:, orders[direction]].T)

    return MemoryOverview(
        labels=source.labels if by_pieces else source.word_labels,
        pieces=[tuple(piece for piece, of in zip(source.labels, word_of, strict=True) if of == w) for w in range(n)],
        states={way: in_order(way, reading.states) for way, reading in readings.items()},
        update={way: in_order(way, reading.update) for way, reading in readings.items() if reading.update is not None},
        reset={way: in_order(way, reading.reset) for way, reading in readings.items() if reading.reset is not None},
        norms={way: to_array(gradient_norms(model, source.ids, way, word_of, at_end=at_end)) for way in wanted},
    )


def norms_table(memories: Mapping[str, MemoryOverview]) -> pd.DataFrame:
    """Return one row per named network, direction, state and word that the state knows, with the gradient's norm."""
    import pandas as pd

    rows = [
        (network, direction, t, memory.labels[t], s, memory.labels[s], float(memory.norms[direction][t, s]))
        for network, memory in memories.items()
        for direction in memory.norms
        for t in range(len(memory))
        for s in (range(t + 1) if direction == "forward" else range(t, len(memory)))
    ]
    columns = ["network", "direction", "state", "state_after", "position", "word", "gradient_norm"]
    return pd.DataFrame(rows, columns=columns)
