"""A Streamlit app in a process of its own, started by README's command, for benchmarks and tests."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
SECONDS_TO_START = 60

_PLACES = count(101 * os.getpid())


def free_port(n: int = 1) -> int:
    """Return the first of n ports in a row on which nobody listens.

    Each call goes on from the last, each process begins elsewhere, and connections outwards get higher ones: a port is
    still free when its server starts.
    """
    for place in _PLACES:
        first = 11_000 + 10 * place % 20_000
        with ExitStack() as probes, suppress(OSError):
            for port in range(first, first + n):
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


def command(app: str, port: int) -> list[str]:
    """Return README's command for an app, a path from the repository's root, on a port of this machine alone."""
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    return [str(Path(sys.executable).with_name("streamlit")), "run", app, *options]


@contextmanager
def started(
    given: Sequence[str],
    *addresses: str,
    folder: Path = ROOT,
    output: IO[str] | int = subprocess.DEVNULL,
    **environment: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that serves an app at some addresses; gives its process when all of them answer.

    The addresses are such as http://127.0.0.1:8501; the log goes to the output; the environment are variables that
    docs/using.md names. TimeoutError where it ended, or did not answer within a minute.
    """
    process = subprocess.Popen(
        given, cwd=folder, env={**os.environ, **environment}, stdout=output, stderr=subprocess.STDOUT
    )
    try:
        for address in addresses:
            _wait(process, address)
        yield process
    finally:
        process.terminate()
        process.wait(20)


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"{address} does not answer")


@contextmanager
def serving(app: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run an app, a path from the repository's root; gives its process when it answers."""
    with started(command(app, port), f"http://127.0.0.1:{port}") as process:
        yield process


@contextmanager
def running(app: str) -> Iterator[str]:
    """Run an app, a path from the repository's root; gives its address."""
    port = free_port()
    with serving(app, port):
        yield f"http://127.0.0.1:{port}"


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has had; 0 of one that has ended (Linux)."""
    try:
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    """Where visitors go: its address, those of its single processes, to warm each, and their ids."""

    address: str
    doors: tuple[str, ...]
    pids: tuple[int, ...]

    def seconds(self) -> float:
        """Return the processor time that its processes have used so far."""
        return sum(map(processor_seconds, self.pids))

    def megabytes(self, name: str) -> list[int]:
        """Return VmRSS or VmHWM of each process that runs the app."""
        found = []
        for pid in self.pids:
            with suppress(OSError):
                if b"streamlit" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
                    found += [int(line.split()[1]) // 1024 for line in lines if line.startswith(name)]
        return found


def below(pid: int) -> tuple[int, ...]:
    """Return a process and all that it started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    children = [child for child, parent in parents.items() if parent == pid]
    return (pid, *(one for child in children for one in below(child)))


@contextmanager
def served(app: str, n_processes: int = 1, *options: str) -> Iterator[Server]:
    """Run an app in one process, or in several behind nginx (deploy/run.py)."""
    port = free_port(n_processes + 1)
    address = f"http://127.0.0.1:{port}"
    if n_processes == 1:
        with serving(app, port) as process:
            yield Server(address, (address,), below(process.pid))
        return
    doors = tuple(f"http://127.0.0.1:{port + place + 1}" for place in range(n_processes))
    given = ["--processes", n_processes, "--port", port, "--app", app, *options]
    with started([sys.executable, "deploy/run.py", *map(str, given)], address, *doors) as process:
        yield Server(address, doors, below(process.pid))
