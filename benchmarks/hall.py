"""A hall of phones that poll and answer, beside a lecturer who steps: python -m benchmarks.hall --phones 300.

The phones do what ui/lecture/hall/hall_phone.html does, each with a connection of its own; the
server is README's. Linux.
"""

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import httpx2

from benchmarks.load import quantiles
from benchmarks.report import publish
from tests.support.server import Server, served
from tests.support.session import Session
from tests.support.visits import STEP, act
from ui.lecture.hall.rooms import FILE_VARIABLE, HallQuestion, Rooms
from ui.lecture.hall.routes import KEY_HEADER

POLL, CORNER, STEP_EVERY = 2.0, 1.5, 1.0
WITHIN, OPEN_FOR, N_QUESTIONS = 5.0, 9.0, 4
"""Seconds between polls of a phone, of the corner, steps; to answer in, and that each question is open; how many."""


class Hall(NamedTuple):
    """The address of a room, its lecturer's key, and how many requests of phones ended with which status."""

    room: str
    key: str
    ended: Counter[str]


async def phone(hall: Hall, number: int) -> None:
    """Poll for ever; answer each question at some time within the seconds for it."""
    chance, name, has, answered = Random(number), f"phone-number-{number:06}", "", 0
    # Reading certificates for each phone would hold up everybody here, the lecturer's browser too, for 15 s.
    async with httpx2.AsyncClient(base_url=hall.room, timeout=60, verify=False) as client:
        await asyncio.sleep(POLL * chance.random())
        joins = f"&joins={name}"
        while True:
            with suppress(httpx2.TransportError):  # it tries again
                answer = await client.get(f"/now?has={has}{joins}")
                hall.ended[f"now {answer.status_code}"] += 1
                joins = ""
                if answer.status_code == 200:
                    state = answer.json()
                    if state["number"] not in (0, answered):
                        await asyncio.sleep(WITHIN * chance.random())
                        answer = {"question": state["number"], "answer": chance.randrange(3), "phone": name}
                        hall.ended[f"answer {(await client.post('/answer', json=answer)).status_code}"] += 1
                    answered, has = state["number"], state["state"]
            await asyncio.sleep(POLL * (0.8 + 0.4 * chance.random()))


async def lecturer(session: Session, steps: list[float]) -> None:
    """Step through the page that is open for ever."""
    while True:
        widget = session.widgets(STEP.type, STEP.key)[0]
        steps.append((await act(session, widget, STEP.values, Random(len(steps)), 60)).seconds)
        await asyncio.sleep(STEP_EVERY)


async def corner(hall: Hall) -> None:
    """Ask who is there and who has answered, as the lecturer's corner does."""
    async with httpx2.AsyncClient(base_url=hall.room, timeout=60) as client:
        while True:
            await client.get("/attendance", headers={KEY_HEADER: hall.key})
            await asyncio.sleep(CORNER)


async def measure(server: Server, rooms: Rooms, n_phones: int) -> dict:
    (code, key), session, steps = rooms.open(), Session(server.address), list[float]()
    hall = Hall(f"{server.address}/hall/{code}", key, Counter())
    await session.open("vectors")
    phones = (phone(hall, number) for number in range(n_phones))
    people = [asyncio.create_task(person) for person in (lecturer(session, steps), corner(hall), *phones)]
    await asyncio.sleep(3 * WITHIN)  # all have come
    steps.clear()
    began, cpu_before, driver_before, n_answers = time.monotonic(), server.seconds(), time.process_time(), []
    for number in range(N_QUESTIONS):
        question = HallQuestion("Three vectors, nine pairs", f"Question {number + 1}: which one?", ("x1", "x2", "x3"))
        rooms.ask(code, question)
        await asyncio.sleep(OPEN_FOR)
        n_answers.append(getattr(rooms.reveal(code, question, [0]), "n", 0))
    spent, lasted = server.seconds() - cpu_before, time.monotonic() - began
    for person in people:
        person.cancel()
    ended = await asyncio.gather(*people, return_exceptions=True)
    return {
        "phones": n_phones,
        "answers_counted": n_answers,
        "cpu_per_phone_and_question_s": round(spent / (n_phones * N_QUESTIONS), 5),
        "server_cores": round(spent / lasted, 2),
        "lecturer_step_s_p50_p95_p99": quantiles(steps, 3),
        "slowest_step_s": round(max(steps), 3),
        "requests": dict(sorted(hall.ended.items())),
        "driver_cores": round((time.process_time() - driver_before) / lasted, 2),
        "faults": [repr(error) for error in ended if not isinstance(error, asyncio.CancelledError)],
    }


def main() -> None:
    """Measure, print, write results/hall.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--phones", type=int, default=300)
    parser.add_argument("--processes", type=int, default=1, help="of the app, behind nginx if more than one")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rooms.sqlite"
        os.environ |= {FILE_VARIABLE: str(file), "ATTENTION_WARM": "0"}
        with served("app.py", options.processes) as server:
            command = " ".join(["python -m benchmarks.hall", *sys.argv[1:]])
            figures = {"command": command, **asyncio.run(measure(server, Rooms(file), options.phones))}
    name = f"hall_on_{options.processes}" if options.processes > 1 else "hall"
    publish(name, [["what", "figure"], *([name, str(value)] for name, value in figures.items())], figures)


if __name__ == "__main__":
    main()
