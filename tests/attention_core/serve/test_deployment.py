"""The deployment with Ray itself: replicas that answer as here, batches, the token, a replica that is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import pytest
import torch

from attention_core import load as load_here
from attention_core.serve import AwayError, Cluster, load
from tests.support.server import below, free_port
from tests.support.waiting import wait_until

TOKEN = "0123456789abcdef" * 4

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (requirements-cluster.txt)")


@pytest.fixture(scope="module")
def served(root) -> Iterator[tuple[str, int]]:
    """The address of two replicas and the process that started them."""
    port = free_port()
    given = ["--replicas", "2", "--cpus", "0.5", "--port", str(port)]
    environment = {**os.environ, "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "attention_core.serve", *given]
    with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.DEVNULL) as process:
        address = f"127.0.0.1:{port}"

        def answers() -> bool:
            assert process.poll() is None, "it ended"
            return is_there(address)

        try:
            wait_until(answers, 120)
            yield address, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def is_there(address: str) -> bool:
    try:
        return bool(Cluster(address, TOKEN).probe())
    except AwayError:
        return False


@pytest.fixture
def model(served, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    return load("pixel-classifier", served[0])


def replicas_of(pid: int) -> list[int]:
    return [one for one in below(pid) if "ServeReplica" in Path(f"/proc/{one}/cmdline").read_text()]


def test_a_trace_and_a_prediction_are_the_same_there_and_here(model):
    image = torch.rand(28, 28, generator=torch.Generator().manual_seed(1))
    here = load_here("pixel-classifier", "cpu")
    assert torch.equal(model.trace(image).weights(), here.trace(image).weights())
    torch.testing.assert_close(model(image[None]).logits, here(image[None]).logits)


def test_predictions_of_many_at_once_are_each_their_own(model):
    pictures = torch.rand(24, 1, 28, 28, generator=torch.Generator().manual_seed(2))
    with ThreadPoolExecutor(12) as pool:
        got = list(pool.map(lambda picture: model(picture).logits, pictures))
    wanted = load_here("pixel-classifier", "cpu")(pictures[:, 0]).logits
    torch.testing.assert_close(torch.cat(got), wanted, rtol=1e-4, atol=1e-4)


def test_a_stranger_without_the_token_is_not_answered(served):
    with pytest.raises(AwayError, match="token"):
        Cluster(served[0], "another").probe()


def test_no_call_is_lost_when_a_replica_is_killed(served, model):
    image, lost, answered = torch.rand(28, 28), [], []
    is_over = Event()

    def ask() -> None:
        while not is_over.is_set():
            try:
                answered.append(model.trace(image).n_queries)
            except OSError as error:
                lost.append(error)

    with ThreadPoolExecutor(4) as pool:
        askers = [pool.submit(ask) for _ in range(4)]
        try:
            wait_until(lambda: len(answered) > 20)
            before = replicas_of(served[1])
            assert len(before) == 2
            os.kill(before[0], signal.SIGKILL)
            wait_until(lambda: before[0] not in (now := replicas_of(served[1])) and len(now) == 2)
            n_before = len(answered)
            wait_until(lambda: len(answered) > n_before + 20)
        finally:
            is_over.set()
    assert all(asker.result() is None for asker in askers)
    assert not lost
