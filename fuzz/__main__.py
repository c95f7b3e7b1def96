"""`python -m fuzz NAME --runs N` fuzzes a parser, guided by coverage; `python -m fuzz --all` one after the other.

What breaks a parser is written to crash-*, slow-* or timeout-* in the present folder.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from types import ModuleType


def instrumented() -> ModuleType:
    """Import the targets so that the fuzzer sees which lines run."""
    import atheris

    with atheris.instrument_imports(include=["attention_core", "zipfile", "json", "csv", "numpy.lib._format_impl"]):
        from fuzz import targets
    warnings.simplefilter("ignore")
    return targets


def fuzz(targets: ModuleType, name: str, runs: int) -> None:
    """Fuzz one parser in this process, and end it."""
    import atheris

    began, taken, done, slowest = time.monotonic(), 0, 0, 0.0

    def one(data: bytes) -> None:
        nonlocal taken, done, slowest
        start = time.process_time()
        taken += targets.run(name, data)
        slowest, done = max(slowest, time.process_time() - start), done + 1
        if done == runs:
            print(f"{name}: {done:,} runs, {taken:,} taken, slowest {slowest:.2f} s, {time.monotonic() - began:.0f} s")
            sys.stdout.flush()

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(targets.TARGETS[name].seeds):
            (Path(corpus) / str(number)).write_bytes(seed)
        flags = [f"-runs={runs}", "-timeout=10", "-rss_limit_mb=3000", "-max_len=8192", "-verbosity=0"]
        atheris.Setup([sys.argv[0], *flags, corpus], one)
        atheris.Fuzz()


def main() -> int:
    """Fuzz what the command line says, each parser in a process of its own; return 1 if anything broke."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="parsers, see fuzz/targets.py")
    parser.add_argument("--all", action="store_true", help="every parser")
    parser.add_argument("--runs", type=int, default=10_000, help="inputs for each")
    asked = parser.parse_args()
    targets = instrumented()
    broken = []
    for name in targets.TARGETS if asked.all else asked.names:
        process = os.fork()
        if not process:
            fuzz(targets, name, asked.runs)
        if os.waitpid(process, 0)[1]:
            broken.append(name)
    print(f"broken: {', '.join(broken) or 'none'}")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
