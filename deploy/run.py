"""Several processes of the app behind one address: python deploy/run.py --processes 2 --port 8080 --address 0.0.0.0.

Starts the processes on the ports after the given one and nginx in front of them, for the public unless ATTENTION_HOSTED
says otherwise; starts a process again that has died, and stops all on Ctrl-C or SIGTERM. See deploy/README.md.
"""

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEMPLATE = Path(__file__).with_name("nginx.conf")
OPTIONS = {"address": "127.0.0.1", "headless": "true"}
THIS_MACHINE = "127.0.0.1"
MAX_CONNECTIONS, OF_ONE_ADDRESS = 16_384, 3_000
"""Of nginx, to visitors and processes together: an open page takes two; of visitors with the same address, a hall's."""


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


def start(app: str, port: int) -> subprocess.Popen[bytes]:
    framed = {"xsrfCookieSameSite": "none"} if os.environ.get("ATTENTION_FRAMED_BY") else {}
    options = [part for name, value in (OPTIONS | framed).items() for part in (f"--server.{name}", value)]
    command = [sys.executable, "-m", "streamlit", "run", app, "--server.port", str(port), *options]
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "ATTENTION_HOSTED": "1", **os.environ}
    return subprocess.Popen(command, cwd=ROOT, env=environment)


def serve(options: argparse.Namespace, nginx: str) -> None:
    app_ports = range(options.port + 1, options.port + 1 + options.processes)
    running: dict[int, subprocess.Popen[bytes]] = {}
    with tempfile.TemporaryDirectory(prefix="attention-nginx-") as folder:
        Path(folder).chmod(0o755)  # if root starts nginx, its worker is somebody else
        written = Path(folder, "nginx.conf")
        text = configuration(options.port, app_ports, folder, options.address, options.proxies)
        written.write_text(text, encoding="utf-8")
        front = subprocess.Popen([nginx, "-p", folder, "-e", "stderr", "-c", str(written)])
        try:
            where = f"http://{options.address}:{options.port}"
            print(f"{options.processes} processes behind {where}; Ctrl-C stops them", flush=True)
            while front.poll() is None:
                for one in app_ports:
                    if one in running and running[one].poll() is not None:
                        print(f"The process on port {one} ended ({running.pop(one).returncode}); again", flush=True)
                    if one not in running:
                        running[one] = start(options.app, one)
                time.sleep(1)
            sys.exit(f"nginx ended ({front.returncode})")
        finally:
            for process in (front, *running.values()):
                process.terminate()
            for process in (front, *running.values()):
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2, help="one per core of the machine (2)")
    parser.add_argument("--port", type=int, default=8080, help="the processes take the ports after it (8080)")
    parser.add_argument("--address", default=THIS_MACHINE, help="where it listens; 0.0.0.0 = for everybody (127.0.0.1)")
    known = "proxies before it whose word is taken for whom they ask, such as 10.0.0.5 or 10.1.0.0/16"
    parser.add_argument("--proxies", nargs="+", default=[], type=ip_network, help=known)
    parser.add_argument("--app", default="app.py", help="a path from the repository's root")
    options = parser.parse_args()
    nginx = find_nginx()
    if nginx is None:
        sys.exit("nginx is not installed; on Debian and Ubuntu: sudo apt-get install nginx")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        serve(options, nginx)
    except KeyboardInterrupt:
        print("Stopped")


if __name__ == "__main__":
    main()
