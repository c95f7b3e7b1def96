"""What a model's attention did in one run: a trace per call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from torch import Tensor

from attention_core.attention.names import CROSS
from attention_core.attention.recording_file import read_traces, write_traces
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import ALL, Axis, Rows, Step
from attention_core.attention.view.page import Opening, View, head_places, view_of

if TYPE_CHECKING:
    import pandas as pd


class HeadRecord(NamedTuple):
    """One head of one attention."""

    name: str  # such as "L3H1": head 1 of trace 3, both from 0
    trace: AttentionTrace  # of the attention
    head: int  # which of its heads

    def weights(self, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        return self.trace.weights(self.head, rows, cols)

    def scores(self, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        return self.trace.scores(self.head, rows, cols)

    def __repr__(self) -> str:
        return f"<{self.name} of {self.trace.story.name}: {self.trace.n_queries} queries x {self.trace.n_keys} keys>"


@dataclass(repr=False)
class Recording:
    """Every attention of one run: recording[0], recording["decoder.3.cross"], recording["L3H1"].

    Attributes:
        traces: one per call, in the order of execution.
        note: what a reader has to know about all of them, such as that the model handed out weights only; empty if
            nothing is unusual.
        model: hub id or folder of the model that made it; empty if nobody knows.
        text: that the model read; empty if nobody knows.
    """

    traces: list[AttentionTrace] = field(default_factory=list)
    note: str = ""
    model: str = ""
    text: str = ""

    @property
    def names(self) -> list[str]:
        """The names of the traces, in the order of execution."""
        return [trace.story.name for trace in self.traces]

    @property
    def heads(self) -> list[HeadRecord]:
        """Every head of every trace, "L0H0" first."""
        return [
            HeadRecord(f"L{number}H{head}", trace, head)
            for number, trace in enumerate(self.traces)
            for head in range(trace.n_heads)
        ]

    def __len__(self) -> int:
        return len(self.traces)

    def __iter__(self) -> Iterator[AttentionTrace]:
        return iter(self.traces)

    def __repr__(self) -> str:
        if not self.traces:
            return f"<Recording of no attention{': ' if self.note else ''}{self.note}>"
        names, some = self.names, self.traces[0]
        several = f"{names[0]} to {names[-1]}" if len(names) > 1 else names[0]
        alike = {(trace.n_heads, trace.n_queries, trace.n_keys) for trace in self.traces}
        size = f"{some.n_heads} heads, {some.n_queries} queries x {some.n_keys} keys"
        noted = "; see note" if self.note else ""
        return f"<Recording of {len(names)}: {several}; {size}{' and others' if len(alike) > 1 else ''}{noted}>"

    @overload
    def __getitem__(self, which: int) -> AttentionTrace: ...
    @overload
    def __getitem__(self, which: slice) -> list[AttentionTrace]: ...
    @overload
    def __getitem__(self, which: str) -> AttentionTrace: ...

    def __getitem__(self, which: int | slice | str) -> AttentionTrace | list[AttentionTrace]:
        """Return the trace of that number or name, or some traces.

        Raises:
            IndexError: there is no such number.
            KeyError: there is no such name; the message lists those that there are.
        """
        if not isinstance(which, str):
            return self.traces[which]
        if which not in self.names:
            raise KeyError(f"no trace {which!r}, there are {self.names}")
        return self.traces[self.names.index(which)]

    def head(self, name: str) -> HeadRecord:
        """Return the head of that name, such as "L3H1"; a KeyError says which there are."""
        found = next((head for head in self.heads if head.name == name), None)
        if found is None:
            raise KeyError(f"no head {name!r}, there are L0H0 to L{len(self) - 1}H{self.traces[-1].n_heads - 1}")
        return found

    def label(self, tokens: Sequence[str] | Axis, target_tokens: Sequence[str] | Axis = ()) -> None:
        """Write tokens of the only or the encoder's input, and of a decoder beside it, on all axes of their lengths."""
        source = tokens if isinstance(tokens, Axis) else Axis("source tokens" if target_tokens else "tokens", tokens)
        target = target_tokens if isinstance(target_tokens, Axis) else Axis("target tokens", target_tokens)
        self.traces[:] = [_labelled(trace, source, target if target_tokens else source) for trace in self.traces]
        lengths = {n for trace in self.traces for n in (trace.n_queries, trace.n_keys)}
        if lengths and not lengths & {len(source), len(target)}:
            known = f"there are {len(tokens)} tokens for {', '.join(map(str, sorted(lengths)))} positions"
            self.note = f"{self.note} Not labelled: {known}.".strip()

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with one row per head: what its queries do on average, in numbers.

        Entropy is in bits; largest is the mean of each row's largest weight, received the largest mean weight of a key.
        """
        import pandas as pd

        return pd.DataFrame([_row(head) for head in self.heads])

    def show(
        self,
        layer: int | None = None,
        head: int | str | Sequence[int | str] = 0,
        *,
        tokens: Sequence[str] | Axis = (),
        target_tokens: Sequence[str] | Axis = (),
        query: int | None = None,
        picture: np.ndarray | None = None,
        grid: tuple[int, int] | None = None,
        steps: Sequence[Step] = (),
        most_bytes: int | None = None,
    ) -> View:
        """Return every layer and head as a page, for a notebook's cell or a file: View.save("run.html").

        Weights are computed in the browser, within 0.002 of those here unless most_bytes asks for less.

        Args:
            layer: number of the trace on which it opens, as in L3H1.
            head: on which it opens, or several; a name such as "L3H1" tells the layer too.
            tokens: of the only or the encoder's input, where the axes are not labelled yet.
            target_tokens: of a decoder beside an encoder.
            query: that is chosen at first.
            picture: uint8 (height, width, 3), what a vision model was shown.
            grid: rows and columns of its patches, the last positions of an axis; None = as the axes say.
            steps: of the first head, to be walked through, such as steps_of(trace).
            most_bytes: of the file; weights of heads that are not open become as coarse as that needs.

        Raises:
            ValueError: there is no attention or no such head, or more weights than a page can take.
        """
        shown = Recording(list(self.traces), self.note)
        if tokens:
            shown.label(tokens, target_tokens)
        places = head_places(layer, head)
        opening = Opening(places, query, picture, grid, steps, most_bytes)
        return view_of(shown.traces, repr(shown)[1:-1], shown.note, opening)

    def to_html(self, path: str | Path, **said: Any) -> None:
        """Write all heads to one file that opens without a network; see show() for what can be said."""
        self.show(**said).save(path)

    def _repr_html_(self) -> str:
        try:
            return self.show()._repr_html_()
        except ValueError as reason:
            return f"<p>{escape(f'{self!r}: {reason}')}</p>"

    def save(self, path: str | Path) -> None:
        """Write all traces to a .npz file, which load_recording reads again."""
        about = {"note": self.note, "model": self.model, "text": self.text}
        write_traces(self.traces, about, Path(path))


def load_recording(path: str | Path, *, most_bytes: int | None = None) -> Recording:
    """Read what Recording.save wrote, unless it takes more than most_bytes in memory.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a file that is damaged, too large or no recording, with the reason.
    """
    traces, about = read_traces(Path(path), most_bytes)
    return Recording(traces, **about)


def _labelled(trace: AttentionTrace, source: Axis, target: Axis) -> AttentionTrace:
    parts = trace.story.name.partition(" ")[0].split(".")
    crosses = any(word in trace.story.name for word in CROSS)
    of_queries = target if crosses or "decoder" in parts else source
    of_keys = source if crosses else of_queries

    def fitting(axis: Axis, n: int, old: Axis) -> Axis:
        return next((one for one in (axis, source, target) if len(one) == n), old)

    return trace.retold(
        query_axis=fitting(of_queries, trace.n_queries, trace.story.query_axis),
        key_axis=fitting(of_keys, trace.n_keys, trace.story.key_axis),
    )


def _row(head: HeadRecord) -> dict[str, Any]:
    summary, trace = head.trace.summary(head.head), head.trace
    most = int(summary.received.argmax())
    return {
        "head": head.name,
        "name": trace.story.name,
        "layer": int(head.name[1 : head.name.index("H")]),
        "number": head.head,
        "entropy": float(summary.entropy.mean()),
        "largest": float(summary.largest.mean()),
        "score": float(summary.score_row_mean.mean()),
        "most_received": trace.story.key_axis.labels[most],
        "received": float(summary.received[most]),
    }
