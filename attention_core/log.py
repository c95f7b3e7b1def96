"""The logger of the core: what is caught and survived is written to it once, with its traceback.

A line that comes again and again fills the disk: a server writes it once a minute, with its count.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger("attention_core")


class _Repeats(logging.Filter):
    """Lets a line through the first time and counts it after that, whichever handlers it comes to."""

    def __init__(self) -> None:
        super().__init__()
        self._again: dict[tuple[str, int, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if (is_first := record.__dict__.get("is_first")) is None:
            error = f" {record.exc_info[1]!r}" if record.exc_info else ""
            line = record.name, record.levelno, record.getMessage() + error
            is_first = record.__dict__["is_first"] = line not in self._again
            self._again[line] = 0 if is_first else self._again[line] + 1
        return bool(is_first)

    def report_counts(self) -> None:
        """Write what has come again since the last call, with its count; forget what has not."""
        counts = {line: count for line, count in self._again.items() if count}
        self._again = dict.fromkeys(counts, 0)
        for (name, level, message), count in counts.items():
            logging.getLogger(name).log(level, "%s (%s times more)", message, f"{count:,}")


@contextmanager
def counting_repeats() -> Iterator[Callable[[], None]]:
    """Write a repeated line of any logger once; yields what writes the counts, to be called every minute."""
    repeats = _Repeats()
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    attached = {handler for logger in loggers if isinstance(logger, logging.Logger) for handler in logger.handlers}
    handlers = attached | ({logging.lastResort} if logging.lastResort else set())
    for handler in handlers:
        handler.addFilter(repeats)
    try:
        yield repeats.report_counts
    finally:
        for handler in handlers:
            handler.removeFilter(repeats)
