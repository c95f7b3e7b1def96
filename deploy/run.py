"""Several processes of the app behind one address: python deploy/run.py --processes 2 --port 8080 --address 0.0.0.0.

Starts the processes on the ports after the given one and nginx in front of them, for the public unless ATTENTION_HOSTED
says otherwise; starts a process again that has died or does not answer any more, and stops all on Ctrl-C, SIGTERM or
SIGHUP. See deploy/README.md.
"""

import argparse
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_network
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TEMPLATE = Path(__file__).with_name("nginx.conf")
OPTIONS = {"address": "127.0.0.1", "headless": "true"}
THIS_MACHINE = "127.0.0.1"
MAX_CONNECTIONS, OF_ONE_ADDRESS = 16_384, 3_000
"""Of nginx, to visitors and processes together: an open page takes two; of visitors with the same address, a hall's."""

SECONDS_TO_START, SECONDS_BETWEEN_STARTS = 120.0, 10.0
"""In which a process answers for the first time, and from start to start of one that has never answered."""
WITH_PARENT = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, getattr(signal, sys.argv[1]))
if os.getppid() == int(sys.argv[2]):
    os.execv(sys.argv[3], sys.argv[3:])
"""
"""Becomes a command that gets a signal when this process ends, however that may be (PR_SET_PDEATHSIG of Linux)."""
STOPS = signal.SIGTERM, signal.SIGHUP


def find_nginx() -> str | None:
    """Return where nginx is installed; Debian keeps it where ordinary users do not look."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")


def configuration(
    port: int, app_ports: Sequence[int], folder: str, address: str = THIS_MACHINE, proxies: Sequence[object] = ()
) -> str:
    """Return nginx's configuration: where it listens, and which proxies before it say whom they ask for.

    Its temporary files go to an empty folder.
    """
    servers = {one: f"    server 127.0.0.1:{one} max_fails=0" for one in app_ports}
    lines = ["upstream any {", "    least_conn;", *(f"{server};" for server in servers.values()), "}"]
    for one, server in servers.items():
        others = [f"{other} backup;" for other in servers.values() if other != server]
        lines += [f"upstream process_{one} {{", f"{server};", *others, "}"]
    known = [f"    {one} process_{one};" for one in app_ports]
    lines += ["map $cookie_process $process {", "    default any;", *known, "}"]
    known_proxies = (THIS_MACHINE, *proxies)
    trusted = ["geo $is_proxy {", "    default 0;", *(f"    {one} 1;" for one in known_proxies), "}"]
    trusted += [f"set_real_ip_from {one};" for one in known_proxies]
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    n_connections = MAX_CONNECTIONS if allowed == resource.RLIM_INFINITY else min(allowed, MAX_CONNECTIONS)
    given = {
        "address": address,
        "port": str(port),
        "folder": folder,
        "upstreams": "\n".join(f"    {line}" for line in lines),
        "proxies": "\n".join(f"    {line}" for line in trusted),
        "connections": str(n_connections),
        "of_one_address": str(min(OF_ONE_ADDRESS, n_connections // 4)),
        "samesite": "None; Secure; Partitioned" if os.environ.get("ATTENTION_FRAMED_BY") else "Lax",
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, value in given.items():
        text = text.replace(f"@{name}@", value)
    return text


def begin(signal_name: str, command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a command that does not outlive this process, at whose end it gets the signal."""
    return subprocess.Popen([sys.executable, "-c", WITH_PARENT, signal_name, str(os.getpid()), *command], **options)


def answers(port: int, seconds: float) -> bool:
    """Return whether somebody answers a request within so many seconds, whatever the answer is."""
    try:
        with closing(HTTPConnection(THIS_MACHINE, port, timeout=seconds)) as connection:
            connection.request("GET", "/_stcore/health")
            return bool(connection.getresponse().status)
    except (OSError, HTTPException):
        return False


def is_free(address: str, port: int) -> bool:
    """Return whether nobody listens there; connections that have just ended do not count."""
    try:
        socket.create_server((address, port)).close()
    except OSError:
        return False
    return True


class AppProcess:
    """A process of the app on a port, whose health is asked for every second."""

    def __init__(self, app: str, port: int, silence: float) -> None:
        self.port, self.silence, self.last_answer = port, silence, 0.0
        framed = {"xsrfCookieSameSite": "none"} if os.environ.get("ATTENTION_FRAMED_BY") else {}
        options = [part for name, value in (OPTIONS | framed).items() for part in (f"--server.{name}", value)]
        command = [sys.executable, "-m", "streamlit", "run", app, "--server.port", str(port), *options]
        environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "ATTENTION_HOSTED": "1", **os.environ}
        self.process, self.started = begin("SIGKILL", command, cwd=ROOT, env=environment), time.monotonic()
        threading.Thread(target=self._ask_health, daemon=True).start()

    def _ask_health(self) -> None:
        while self.process.returncode is None:
            if answers(self.port, self.silence):
                self.last_answer = time.monotonic()
            time.sleep(1)

    def kill_if_silent(self) -> None:
        """Kill a process that has not answered for too long: one that is frozen ends by nothing else."""
        patience = self.silence if self.last_answer else SECONDS_TO_START
        if self.process.poll() is None and time.monotonic() - (self.last_answer or self.started) > patience:
            print(f"The process on port {self.port} has not answered for {patience:.0f} seconds", flush=True)
            self.process.kill()
            self.process.wait()

    @property
    def is_due(self) -> bool:
        """Whether it has ended and may be started again: at once if it has ever answered."""
        is_waiting = not self.last_answer and time.monotonic() - self.started < SECONDS_BETWEEN_STARTS
        return self.process.poll() is not None and not is_waiting


@contextmanager
def empty_folder(port: int) -> Iterator[Path]:
    """Give an empty folder for nginx, also where a run.py that was killed has left one."""
    folder = Path(tempfile.gettempdir(), f"attention-nginx-{os.getuid()}-{port}")
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(0o755)  # if root starts nginx, its worker is somebody else
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def keep_running(running: dict[int, AppProcess], options: argparse.Namespace, port: int) -> None:
    """Start the process of a port that has none, and kill one that does not answer."""
    if port in running:
        running[port].kill_if_silent()
    if port in running and running[port].is_due:
        print(f"The process on port {port} ended ({running.pop(port).process.returncode}); again", flush=True)
    if port not in running:
        running[port] = AppProcess(options.app, port, options.silence)


def stop(front: subprocess.Popen[bytes], *processes: subprocess.Popen[bytes]) -> None:
    """Stop nginx and the processes of the app, whatever signals come meanwhile."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    for process in (front, *processes):
        process.terminate()
    for process in (front, *processes):
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
    with suppress(ProcessLookupError):
        os.killpg(front.pid, signal.SIGKILL)  # its workers, if it was killed itself


def serve(options: argparse.Namespace, nginx: str) -> None:
    app_ports = range(options.port + 1, options.port + 1 + options.processes)
    for address, port in ((options.address, options.port), *((THIS_MACHINE, port) for port in app_ports)):
        if not is_free(address, port):
            sys.exit(f"Port {port} is taken; end what listens there, or choose others by --port")
    running: dict[int, AppProcess] = {}
    with empty_folder(options.port) as folder:
        written = folder / "nginx.conf"
        text = configuration(options.port, app_ports, str(folder), options.address, options.proxies)
        written.write_text(text, encoding="utf-8")
        front = begin("SIGTERM", [nginx, "-p", str(folder), "-e", "stderr", "-c", str(written)], process_group=0)
        try:
            where = f"http://{options.address}:{options.port}"
            print(f"{options.processes} processes behind {where}; Ctrl-C stops them", flush=True)
            while front.poll() is None:
                for port in app_ports:
                    keep_running(running, options, port)
                time.sleep(1)
            sys.exit(f"nginx ended ({front.returncode})")
        finally:
            stop(front, *(one.process for one in running.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2, help="one per core of the machine (2)")
    parser.add_argument("--port", type=int, default=8080, help="the processes take the ports after it (8080)")
    parser.add_argument("--address", default=THIS_MACHINE, help="where it listens; 0.0.0.0 = for everybody (127.0.0.1)")
    known = "proxies before it whose word is taken for whom they ask, such as 10.0.0.5 or 10.1.0.0/16"
    parser.add_argument("--proxies", nargs="+", default=[], type=ip_network, help=known)
    silence = "seconds without an answer after which a process is replaced (20)"
    parser.add_argument("--silence", type=float, default=20.0, help=silence)
    parser.add_argument("--app", default="app.py", help="a path from the repository's root")
    options = parser.parse_args()
    nginx = find_nginx()
    if nginx is None:
        sys.exit("nginx is not installed; on Debian and Ubuntu: sudo apt-get install nginx")
    for number in STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup lets it outlive its terminal
            signal.signal(number, lambda *_: sys.exit(0))
    try:
        serve(options, nginx)
    except KeyboardInterrupt:
        print("Stopped")


if __name__ == "__main__":
    main()
