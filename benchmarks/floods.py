"""Five visitors while others flood the server with messages: python -m benchmarks.floods.

Each flood is a number of websockets that send as fast as is said; README.md says what is measured.
Arguments such as none "10 x 100" choose some by parts of their names.
"""

import asyncio
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.load import Tally, Visitor, options_of, quantiles, warm
from benchmarks.report import publish
from tests.support.server import Server, command, free_port, started
from tests.support.visits import VISITS

RERUN = BackMsg(rerun_script={"query_string": "a" * 180}).SerializeToString()  # type: ignore[arg-type]
CLEAR = BackMsg(clear_cache=True).SerializeToString()
SECONDS, N_VISITORS = 40, 5
PAGES = list(VISITS)[:8]


class Flood(NamedTuple):
    """Websockets that send the same message again and again."""

    name: str
    n: int = 0
    message: bytes = b""
    per_second: float = 0  # of each


FLOODS = [
    Flood("none"),
    Flood("reruns, 1 x 1,000 a second", 1, RERUN, 1000),
    Flood("reruns, 5 x 200 a second", 5, RERUN, 200),
    Flood("reruns, 10 x 100 a second", 10, RERUN, 100),
    Flood("clear_cache, 1 x 20 a second", 1, CLEAR, 20),
    Flood("8 MB, 1 x 5 a second", 1, bytes(7_900_000), 5),
    Flood("half-sent frames of 150 MB, 5", 5, b"", 0),
]


async def flood(server: Server, plan: Flood) -> None:
    """Send for ever, over one websocket; one without a message sends the half of a frame, and waits."""
    address = f"ws{server.address.removeprefix('http')}/_stcore/stream"
    while True:
        with suppress(OSError, websockets.WebSocketException):
            async with websockets.connect(address, max_size=None, compression=None) as socket:
                if not plan.message:
                    socket.transport.write(
                        b"\x82\xff" + (150_000_000).to_bytes(8, "big") + bytes(4) + bytes(140_000_000)
                    )
                    await socket.wait_closed()
                    await asyncio.sleep(3600)
                listening = asyncio.create_task(drain(socket))
                try:
                    while True:
                        await socket.send(plan.message)
                        await asyncio.sleep(1 / plan.per_second)
                finally:
                    listening.cancel()
        await asyncio.sleep(0.2)


async def drain(socket: websockets.ClientConnection) -> None:
    with suppress(websockets.WebSocketException):
        async for _ in socket:
            pass


async def measure(server: Server, plan: Flood) -> tuple[list[float], int, int]:
    """Let five visitors in while it floods; returns p50, p95 and p99 of their actions, faults, and MB more than before.

    All pages have been open before: what is measured is the flood's.
    """
    options, tally = options_of(["--visitors", str(N_VISITORS), "--pause", "0.5", "1.5"]), Tally()
    Path(f"/proc/{server.pids[0]}/clear_refs").write_text("5")  # begins VmHWM anew
    (before,) = server.megabytes("VmRSS")
    floods = [asyncio.create_task(flood(server, plan)) for _ in range(plan.n)]
    until = time.monotonic() + SECONDS
    await asyncio.gather(*(Visitor(server, tally, options, seed).visit(PAGES, until) for seed in range(N_VISITORS)))
    for task in floods:
        task.cancel()
    return (
        quantiles([done.seconds for done in tally.done if done.kind == "act"], 3),
        tally.n_faults(*VISITS),
        max(server.megabytes("VmHWM")) - before,
    )


def main() -> None:
    """Measure every flood in turn, or those that are named, print, write results/floods.json."""
    chosen = [plan for plan in FLOODS if not sys.argv[1:] or any(word in plan.name for word in sys.argv[1:])]
    rows, figures = [["flood", "action, s: p50 p95 p99", "faults", "MB more"]], {}
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    hosted = {"ATTENTION_HOSTED": "1", "ATTENTION_WARM": "0"}
    with started(command("app.py", port), address, **hosted) as process:
        asyncio.run(warm(address, PAGES))
        for plan in chosen:
            seconds, n_faults, megabytes = asyncio.run(measure(Server(address, (address,), (process.pid,)), plan))
            rows.append([plan.name, " ".join(f"{value:g}" for value in seconds), str(n_faults), str(megabytes)])
            figures[plan.name] = {"p50_p95_p99": seconds, "n_faults": n_faults, "mb_more": megabytes}
            print(*rows[-1], flush=True)
        publish("floods", rows, {"floods": figures})


if __name__ == "__main__":
    main()
