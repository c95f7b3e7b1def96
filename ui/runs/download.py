"""Downloads of models, shared by all visitors: one at a time, going on while the visitor looks at other pages."""

from __future__ import annotations

import threading

from attention_core.hub.fetch import fetch
from attention_core.hub.look_up import Candidate
from attention_core.hub.model import ModelError


class _Stopped(Exception):
    """A visitor has stopped the download."""


class Download:
    """One download, in a thread of its own.

    Attributes:
        name: of the model.
        done: bytes that are there.
        total: bytes in all.
        outcome: None until it has ended; then "error" or "info" and why the model is not there, or "" and "".
    """

    def __init__(self, candidate: Candidate) -> None:
        self.name, self.done, self.total = candidate.name, 0, sum(file.size for file in candidate.files)
        self.outcome: tuple[str, str] | None = None
        self._stop = threading.Event()
        threading.Thread(target=self._run, args=(candidate,), daemon=True).start()

    @property
    def share(self) -> float:
        """How much of it is there."""
        return min(self.done / max(self.total, 1), 1.0)

    def stop(self) -> None:
        """End the download at its next bytes."""
        self._stop.set()

    def _run(self, candidate: Candidate) -> None:
        try:
            fetch(candidate, self._progress)
            self.outcome = "", ""
        except ModelError as error:
            self.outcome = "error", str(error)
        except _Stopped:
            words = f"The download of {self.name} was stopped. What has arrived stays: Load goes on from there."
            self.outcome = "info", words
        except Exception as error:
            self.outcome = "error", f"{self.name} cannot be fetched: {error}"
            raise

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self._stop.is_set():
            raise _Stopped


def start_download(candidate: Candidate) -> None:
    """Begin a download, or join the one that is in progress for the same model.

    Raises:
        ModelError: another model is being downloaded.
    """
    with _STARTING:
        now = latest_download()
        if now is None or now.outcome is not None:
            _DOWNLOADS[:] = [Download(candidate)]
        elif now.name != candidate.name:
            raise ModelError(
                f"Another model is on its way for a visitor: {now.name}, {now.share:.0%} of it is there. One is "
                "downloaded at a time: press Load again when it has arrived."
            )


def latest_download() -> Download | None:
    """Return the download in progress, or else the last one that ended."""
    return _DOWNLOADS[-1] if _DOWNLOADS else None


_STARTING = threading.Lock()
_DOWNLOADS: list[Download] = []
