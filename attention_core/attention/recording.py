"""What a model's attention did in one run: a trace per call."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from attention_core.attention.recording_file import read_traces, write_traces
from attention_core.attention.trace import AttentionTrace


@dataclass
class Recording:
    """Every attention of one run.

    Attributes:
        traces: one per call, in the order of execution.
        note: what a reader has to know about all of them, such as that the model handed out weights only; empty if
            nothing is unusual.
    """

    traces: list[AttentionTrace] = field(default_factory=list)
    note: str = ""

    @property
    def names(self) -> list[str]:
        """The names of the traces, in the order of execution."""
        return [trace.story.name for trace in self.traces]

    def __len__(self) -> int:
        return len(self.traces)

    def __getitem__(self, name: str) -> AttentionTrace:
        """Return the trace of that name.

        Raises:
            KeyError: there is none; the message lists those that there are.
        """
        if name not in self.names:
            raise KeyError(f"no trace {name!r}, there are {self.names}")
        return self.traces[self.names.index(name)]

    def save(self, path: str | Path) -> None:
        """Write all traces to a .npz file, which load_recording reads again."""
        write_traces(self.traces, self.note, Path(path))


def load_recording(path: str | Path, *, most_bytes: int | None = None) -> Recording:
    """Read what Recording.save wrote, unless it takes more than most_bytes in memory.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a file that is damaged, too large or no recording, with the reason.
    """
    return Recording(*read_traces(Path(path), most_bytes))
