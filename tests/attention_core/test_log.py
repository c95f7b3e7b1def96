"""A line of the log that comes again and again is written once a minute, with its count."""

import io
import logging

from attention_core.log import counting_repeats


def test_a_repeated_line_is_written_once_and_then_with_its_count():
    written = io.StringIO()
    handler, logger = logging.StreamHandler(written), logging.getLogger("test_log")
    logger.addHandler(handler)
    logger.propagate = False

    def accept(fault: OSError) -> None:
        try:
            raise fault
        except OSError:
            logger.exception("accept() has failed")

    with counting_repeats() as tell:
        for _ in range(1000):
            accept(OSError(24, "Too many open files"))
        accept(OSError(12, "No memory"))
        lines = written.getvalue()
        assert lines.count("accept() has failed") == 2
        assert lines.count("Traceback") == 2
        for n_more in (999, 500):  # one minute after another
            tell()
            assert written.getvalue().count("accept() has failed") == lines.count("accept() has failed") + 1
            lines = written.getvalue()
            assert "Too many open files" in lines.splitlines()[-1]
            assert f"({n_more} times more)" in lines.splitlines()[-1]
            for _ in range(500):
                accept(OSError(24, "Too many open files"))
            assert written.getvalue() == lines
        tell()
        tell()
        accept(OSError(24, "Too many open files"))  # after a minute without it is news
        assert written.getvalue().count("Traceback") == 3
    accept(OSError(24, "Too many open files"))
    assert written.getvalue().count("Traceback") == 4
