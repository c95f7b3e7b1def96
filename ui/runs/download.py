"""Downloads of models, shared by all visitors: one at a time, going on while the visitor looks at other pages."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import streamlit as st

from attention_core.hub.fetch import fetch
from attention_core.hub.look_up import Candidate
from attention_core.hub.model import ModelError


class _Stopped(Exception):
    """A visitor has stopped the download."""


@dataclass(eq=False)
class Download:
    """One download.

    Attributes:
        name: of the model.
        total: bytes in all.
        done: bytes that are there.
        error: why it ended without the model; "" as long as it has not.
        stopped: whether a visitor ended it.
        finished: whether it has ended, one way or the other.
    """

    name: str
    total: int
    done: int = 0
    error: str = ""
    stopped: bool = False
    finished: bool = False
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def share(self) -> float:
        """How much of it is there."""
        return min(self.done / max(self.total, 1), 1.0)

    def run(self, candidate: Candidate) -> None:
        """Fetch the model; the result is in the attributes."""
        try:
            fetch(candidate, self._progress)
        except ModelError as error:
            self.error = str(error)
        except _Stopped:
            self.stopped = True
            self.error = f"The download of {self.name} was stopped. What has arrived stays: Load goes on from there."
        except Exception as error:
            self.error = f"{self.name} cannot be fetched: {error}"
            raise
        finally:
            self.finished = True

    def stop(self) -> None:
        """End the download at its next bytes."""
        self._stop.set()

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self._stop.is_set():
            raise _Stopped


class Downloads:
    """The download in progress, if there is one, and the last one that ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.latest: Download | None = None

    def start(self, candidate: Candidate) -> None:
        """Begin a download, or join the one that is in progress for the same model.

        Raises:
            ModelError: another model is being downloaded.
        """
        with self._lock:
            now = self.latest
            if now is None or now.finished:
                self.latest = Download(candidate.name, sum(file.size for file in candidate.files))
                threading.Thread(target=self.latest.run, args=(candidate,), daemon=True).start()
            elif now.name != candidate.name:
                raise ModelError(
                    f"Another model is on its way for a visitor: {now.name}, {now.share:.0%} of it is there. One is "
                    "downloaded at a time: press Load again when it has arrived."
                )


@st.cache_resource(show_spinner=False)
def downloads() -> Downloads:
    """Return what all visitors share."""
    return Downloads()
