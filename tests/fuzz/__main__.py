"""Fuzz a parser, guided by coverage: python -m tests.fuzz NAME [flags of libFuzzer, such as -runs=100000].

What breaks it is written to crash-*, slow-* or timeout-* in the present folder.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

LIBRARIES = ("attention_core", "zipfile", "json", "csv", "numpy.lib._format_impl")
FLAGS = ("-timeout=10", "-rss_limit_mb=3000", "-max_len=8192")


def main() -> None:
    """Fuzz what the command line names in this process, and end it."""
    with atheris.instrument_imports(include=LIBRARIES):  # so that the fuzzer sees which lines run
        from tests.fuzz import targets
    warnings.simplefilter("ignore")
    name, *given = sys.argv[1:]

    def one(data: bytes) -> None:
        targets.run(name, data)

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(targets.TARGETS[name].seeds):
            (Path(corpus) / str(number)).write_bytes(seed)
        atheris.Setup([sys.argv[0], *FLAGS, *given, corpus], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
