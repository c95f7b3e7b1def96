"""Visitors with real websocket sessions on the running app: python -m benchmarks.load --visitors 25 --seconds 120.

README.md says what they do and what is measured. Linux; the visitors themselves take part of the machine
(`driver_cores`).
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle, islice
from random import Random
from typing import Any, NamedTuple

from benchmarks.report import publish
from tests.support.server import Server, served
from tests.support.session import Answer, GoneError, Session
from tests.support.visits import FLOOR, VISITS, Action, act

PATIENCE = 120.0
"""Seconds after which an action counts as unanswered."""
FLOOR_PAGE = "(floor)"


class Done(NamedTuple):
    """An answered action: "open" (with a new session), "go" (from another page) or "act".

    Its seconds last to the end of its run, its cpu those that the server's processes worked until the next action.
    """

    page: str
    kind: str
    seconds: float
    n_bytes: int
    cpu: float


@dataclass
class Tally:
    """What all visitors did, and how often something happened on a page that was not an answer."""

    done: list[Done] = field(default_factory=list)
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    cut: int = 0
    """Answers whose run Streamlit ended early for another one, see Answer.is_cut."""

    def n_faults(self, *pages: str) -> int:
        return sum(n for (page, _), n in self.faults.items() if page in pages)


class Visitor:
    """One who goes from page to page until the time is over; after a fault the browser is opened anew."""

    def __init__(self, server: Server, tally: Tally, options: argparse.Namespace, seed: int) -> None:
        self.server, self.tally, self.options, self.random = server, tally, options, Random(seed)
        self.session: Session | None = None

    async def visit(self, pages: Sequence[str], until: float) -> None:
        """Go round the pages, from a random one on unless alone."""
        first = 0 if self.options.visitors == 1 else self.random.randrange(len(pages))
        for page in islice(cycle(pages), first, None):
            if time.monotonic() > until:
                break
            if await self._tried(page, "arrival", self._arrive(page)):
                for action in VISITS.get(page, FLOOR):
                    if time.monotonic() > until or not await self._tried(page, action.name, self._do(page, action)):
                        break
        await self._leave()

    async def _tried(self, page: str, action: str, doing: Awaitable[None]) -> bool:
        """Wait for an action; returns whether the session goes on. What went wrong is counted."""
        try:
            await doing
        except LookupError as fault:
            self.tally.missing[page, f"{action}: {fault}"] += 1
        except (GoneError, TimeoutError, OSError) as fault:
            self.tally.faults[page, f"{action}: {type(fault).__name__}: {fault}"] += 1
            await self._leave()
            await asyncio.sleep(1)
            return False
        return True

    async def _arrive(self, page: str) -> None:
        if self.session and page != FLOOR_PAGE:
            await self._measured(page, "go", self.session.switch_page(page, PATIENCE))
        elif not self.session:
            self.session = Session(self.server.address)
            await self._measured(page, "open", self.session.open(page if page in VISITS else "", PATIENCE))

    async def _do(self, page: str, action: Action) -> None:
        session, random = self.session, self.random
        assert session is not None
        widgets = session.widgets(action.type, action.key)
        if not widgets:
            raise LookupError("not there")
        await self._measured(page, "act", act(session, random.choice(widgets), action.values, random, PATIENCE))

    async def _measured(self, page: str, kind: str, doing: Awaitable[Answer]) -> None:
        """Wait for an answer and pause as people do."""
        before = self.server.seconds()
        answer = await doing
        self.tally.cut += answer.is_cut
        self.tally.faults.update((page, fault) for fault in answer.faults)
        await asyncio.sleep(self.random.uniform(*self.options.pause))
        self.tally.done.append(Done(page, kind, answer.seconds, answer.n_bytes, self.server.seconds() - before))

    async def _leave(self) -> None:
        if self.session:
            await self.session.close()
        self.session = None


async def train(server: Server, random: Random) -> None:
    """Train on *Train it yourself* for ever, again whenever a training is done."""
    session = Session(server.address)
    await session.open("train", PATIENCE)
    while True:
        for button in session.widgets("button", "train_start"):
            await act(session, button, None, random, PATIENCE)
        await asyncio.sleep(1)


async def measure(app: Server, floor: Server, options: argparse.Namespace) -> tuple[Tally, dict[str, Any]]:
    """Let the visitors in; returns what they did, and figures of the whole."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(options.visitors + 1))  # nobody waits to fetch
    pages = [page for page in VISITS if not options.pages or (page or "start") in options.pages]
    cold = [await warm(door, pages) for door in app.doors]
    tally = Tally()
    began, cpu_before, driver_before = time.monotonic(), app.seconds(), time.process_time()
    until = began + options.ramp + options.seconds

    async def arrive(number: int) -> None:
        await asyncio.sleep(options.ramp * number / options.visitors)
        await Visitor(app, tally, options, seed=number).visit(pages, until)

    training = asyncio.create_task(train(app, Random(0))) if options.train else None
    empty = Visitor(floor, tally, options, seed=options.visitors)
    await asyncio.gather(empty.visit([FLOOR_PAGE], until), *map(arrive, range(options.visitors)))
    trains = training is not None and not training.done()
    if training:
        training.cancel()
    lasted, n = time.monotonic() - began, sum(done.page != FLOOR_PAGE for done in tally.done)
    return tally, {
        "first_opening_s": cold,
        **({"trains": trains} if options.train else {}),
        "answers_per_s": round(n / lasted, 2),
        "cpu_per_answer_ms": round(1000 * (app.seconds() - cpu_before) / max(n, 1)),
        "driver_cores": round((time.process_time() - driver_before) / lasted, 2),
        "peak_mb": app.megabytes("VmHWM"),
    }


async def warm(door: str, pages: Sequence[str]) -> float:
    """Open every page once, so that all models are loaded; returns the seconds of the first opening."""
    session = Session(door)
    first = await session.open(pages[0], PATIENCE)
    for page in pages[1:]:
        await session.switch_page(page, PATIENCE)
    await session.close()
    return round(first.seconds, 2)


def quantiles(values: Sequence[float], digits: int = 0) -> list[float]:
    """Return the values that half, 95 and 99 of a hundred do not exceed; none if there are none."""
    ordered = sorted(values)
    indices = (int(share * len(ordered)) for share in (0.5, 0.95, 0.99))
    return [round(ordered[min(len(ordered) - 1, index)], digits) for index in indices if ordered]


def summary(done: Sequence[Done], n_faults: int, is_single: bool) -> dict[str, Any]:
    """Return the figures of a page, or of all pages."""
    actions = [answer for answer in done if answer.kind == "act"]
    arrived = {
        kind: quantiles([answer.seconds for answer in done if answer.kind == kind], 3) for kind in ("open", "go")
    }
    figures: dict[str, list[float]] = {
        "s": quantiles([action.seconds for action in actions], 3),
        "kb": quantiles([action.n_bytes / 1000 for action in actions], 1),
        "cpu_ms": quantiles([1000 * action.cpu for action in actions]) if is_single else [],
        "open_s": arrived["open"],
        "go_s": arrived["go"],
        "go_cpu_ms": quantiles([1000 * answer.cpu for answer in done if answer.kind != "act"]) if is_single else [],
    }
    return {"n": len(actions), **{name: values for name, values in figures.items() if values}, "n_faults": n_faults}


COLUMNS = {"s": "action, s", "kb": "kB", "cpu_ms": "server, ms", "open_s": "opening, s", "go_s": "page to page, s"}


def table(figures: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Return the figures as rows: p50, p95 and p99 of each."""
    columns = [name for name in COLUMNS if any(name in page for page in figures.values())]
    rows = [["page", "actions", *(f"{COLUMNS[name]}: p50 p95 p99" for name in columns), "faults"]]
    for page, of_page in figures.items():
        cells = [" ".join(f"{value:g}" for value in of_page.get(name, ())) for name in columns]
        rows.append([page, str(of_page["n"]), *cells, str(of_page["n_faults"])])
    return rows


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of a command line, None = of this one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=120, help="after the last has arrived")
    parser.add_argument("--ramp", type=float, default=10, help="seconds in which they arrive")
    parser.add_argument("--pause", type=float, nargs=2, default=(3, 9), help="seconds between two actions, from to")
    parser.add_argument("--pages", nargs="+", choices=[page or "start" for page in VISITS], help="only these")
    parser.add_argument("--processes", type=int, default=1, help="of the app, behind nginx if more than one")
    parser.add_argument("--train", action="store_true", help="one more trains a network meanwhile")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure, print, write results/load_VISITORS.json, for several processes load_VISITORS_on_PROCESSES.json."""
    options = options_of()
    with served("benchmarks/apps/load_floor_app.py") as floor, served("app.py", options.processes) as app:
        tally, totals = asyncio.run(measure(app, floor, options))
    pages: dict[str, dict[str, Any]] = {}
    for page in (*VISITS, FLOOR_PAGE):
        if answers := [done for done in tally.done if done.page == page]:
            pages[page or "start"] = summary(answers, tally.n_faults(page), options.visitors == 1)
    ours = [done for done in tally.done if done.page != FLOOR_PAGE]
    pages["all pages"] = summary(ours, tally.n_faults(*VISITS), options.visitors == 1)
    totals["cut"] = tally.cut
    for name in ("faults", "missing"):
        totals[name] = {f"{page or 'start'}: {event}": n for (page, event), n in getattr(tally, name).items()}
    name = f"load_{options.visitors}" + (f"_on_{options.processes}" if options.processes > 1 else "")
    name += "_training" if options.train else ""
    command = {"command": " ".join(["python -m benchmarks.load", *sys.argv[1:]])}
    publish(name, table(pages), {**command, "p50_p95_p99": pages, **totals})
    print(*(f"{name}: {value}" for name, value in totals.items() if value not in ({}, [])), sep="\n")


if __name__ == "__main__":
    main()
