"""The app on one core's worth of process, and on a cluster that loses parts: python -m benchmarks.cluster.

On the same cores, one after another: one process of the app; two processes behind the nginx of deploy/ whose models are
two replicas of Ray Serve; the same again while one of the replicas and then one of the processes is killed (SIGKILL).
Visitors are those of benchmarks.load. Beside them, while things are killed, some ask the core for traces again and
again, and one sits at a real browser before the process that is going to be killed. Needs requirements-cluster.txt.
"""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from attention_core.serve import AwayError, Cluster, load
from attention_core.serve.client import ADDRESS
from benchmarks.browser import settle, visitor
from benchmarks.load import FLOOR_PAGE, Server, Tally, below, measure, options_of, served, summary, warm
from benchmarks.report import publish
from benchmarks.server import free_port
from benchmarks.visits import VISITS

MODEL, N_ASKERS, BETWEEN = "pixel-classifier", 2, 0.2
"""Who asks the core beside the visitors: how many, and their seconds between an answer and the next question."""
LINK, MAIN = "ask?scene=1234", "[data-testid=stMain]"
CONNECTION = "document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState"
PATIENCE = 90.0


@contextmanager
def serving_models(replicas: int) -> Iterator[int]:
    """Run the deployment and name it to whatever starts from here; gives the process that it runs below."""
    port = free_port()
    os.environ |= {ADDRESS: f"127.0.0.1:{port}", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    given = ["--replicas", str(replicas), "--cpus", "0.5", "--port", str(port)]
    server = subprocess.Popen([sys.executable, "-m", "attention_core.serve", *given], stdout=subprocess.DEVNULL)
    try:
        while not _answers(os.environ[ADDRESS]):
            if server.poll() is not None:
                sys.exit("The deployment did not start")
            time.sleep(1)
        yield server.pid
    finally:
        os.environ.pop(ADDRESS)
        server.terminate()
        server.wait(60)


def _answers(address: str) -> bool:
    try:
        return bool(Cluster(address).probe())
    except AwayError:
        return False


def _of(pids: tuple[int, ...]) -> Server:
    return Server("", (), pids)


def replicas_of(serve_pid: int) -> tuple[int, ...]:
    return processes_with("ServeReplica", serve_pid)


def processes_with(word: str, pid: int) -> tuple[int, ...]:
    """Return the processes below one whose command line has a word."""
    return tuple(one for one in below(pid) if word in Path(f"/proc/{one}/cmdline").read_text().replace("\0", " "))


class Askers:
    """They ask the core for traces until they are stopped, and count."""

    def __init__(self) -> None:
        self.answered, self.lost, self.longest = 0, Counter[str](), 0.0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(seed,)) for seed in range(N_ASKERS)]
        for thread in self._threads:
            thread.start()

    def _ask(self, seed: int) -> None:
        model, generator = load(MODEL), torch.Generator().manual_seed(seed)
        while not self._stop.wait(BETWEEN):
            began = time.monotonic()
            try:
                model.trace(torch.rand(28, 28, generator=generator))
                self.answered += 1
            except OSError as error:
                self.lost[f"{type(error).__name__}: {error}"] += 1
            self.longest = max(self.longest, time.monotonic() - began)

    def stop(self) -> dict[str, Any]:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        return {
            "answered": self.answered,
            "lost": self.lost.total(),
            "how": self.lost,
            "longest_s": round(self.longest, 2),
        }


def kill_both(app: Server, serve_pid: int, every: float) -> dict[str, Any]:
    """Kill a replica, and then the process that a browser is at; returns what became of the page in it."""
    with visitor() as page:
        page.goto(f"{app.address}/{LINK}")
        settle(page)
        page.locator(".st-key-ask_example_1 button").click()
        settle(page)
        words, link = page.locator(MAIN).inner_text(), page.url
        time.sleep(every)
        os.kill(replicas_of(serve_pid)[0], signal.SIGKILL)
        time.sleep(every)
        cookie = next(one["value"] for one in page.context.cookies() if one["name"] == "process")
        os.kill(processes_with(f"--server.port {cookie}", os.getpid())[0], signal.SIGKILL)
        began = time.monotonic()
        page.wait_for_function(f"{CONNECTION} !== 'CONNECTED'")
        page.wait_for_function(f"{CONNECTION} === 'CONNECTED'")
        connected = time.monotonic() - began
        settle(page)
        moved = next(one["value"] for one in page.context.cookies() if one["name"] == "process")
        same = page.locator(MAIN).inner_text() == words and page.url == link
    return {"reconnected_s": round(connected, 1), "page_restored": same, "on_another_process": moved != cookie}


def main() -> None:
    options = options_of()
    found: dict[str, Any] = {}
    tallies: dict[str, Tally] = {}
    with served("benchmarks/apps/load_floor_app.py") as floor:
        with served("app.py") as app:
            tallies["one process"], found["one process"] = asyncio.run(measure(app, floor, options))
        with serving_models(2) as serve_pid, served("app.py", 2) as app:
            name, ray, replicas = "two processes, two replicas", *map(_of, (below(serve_pid), replicas_of(serve_pid)))
            for door in app.doors:
                asyncio.run(warm(door, [*VISITS]))
            app, used = replace(app, doors=()), (ray.seconds(), replicas.seconds())
            tallies[name], found[name] = asyncio.run(measure(app, floor, options))
            cpu = {"ray": ray.seconds() - used[0], "of_it_replicas": replicas.seconds() - used[1]}
            found[name] |= {"cpu_s": {who: round(seconds, 1) for who, seconds in cpu.items()}}
            askers, fate = Askers(), {}
            killing = threading.Thread(target=lambda: fate.update(kill_both(app, serve_pid, options.seconds / 5)))
            killing.start()
            name = "the same, a replica and a process killed"
            tallies[name], found[name] = asyncio.run(measure(app, floor, options))
            killing.join(PATIENCE)
            found[name] |= {"browser": fate, "core_calls": askers.stop()}
            del found[name]["cpu_per_answer_ms"]  # what was killed took its share along
    rows = [["", "actions", "action, s: p50 p95 p99", "answers a second", "faults"]]
    for name, tally in tallies.items():
        ours = [done for done in tally.done if done.page != FLOOR_PAGE]
        faults = {f"{page or 'start'}: {what}": n for (page, what), n in tally.faults.items() if page != FLOOR_PAGE}
        figures = summary(ours, sum(faults.values()), alone=False)
        found[name] |= {"all pages": figures, "faults": faults, "cut": tally.cut}
        seconds = " ".join(f"{value:g}" for value in figures.get("s", ()))
        rows.append([name, str(figures["n"]), seconds, str(found[name]["answers_per_s"]), str(figures["n_faults"])])
    publish("cluster", rows, {"command": " ".join(["python -m benchmarks.cluster", *sys.argv[1:]]), **found})
    print(found["the same, a replica and a process killed"])


if __name__ == "__main__":
    main()
