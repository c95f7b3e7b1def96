"""Captures of several tasks, threads and processes, and those that are interrupted, leave torch and others alone."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_core import capture


def attend(n_keys):
    F.scaled_dot_product_attention(*torch.randn(3, 1, 1, n_keys, 4).unbind())


def state_of_torch():
    hooks = nn.modules.module._global_forward_pre_hooks, nn.modules.module._global_forward_hooks
    modes = torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()
    return modes, tuple(map(len, hooks)), torch.backends.mha.get_fastpath_enabled()


@pytest.fixture(autouse=True)
def unchanged():
    before = state_of_torch()
    yield
    assert state_of_torch() == before


async def attends(n_keys, times=3):
    for _ in range(times):
        attend(n_keys)
        await asyncio.sleep(0)


async def captured(run):
    with capture() as recording:
        await run
    return [trace.n_keys for trace in recording]


def test_tasks_of_one_thread_record_what_they_run_themselves():
    async def together():
        return await asyncio.gather(captured(attends(4)), captured(attends(5, 2)), attends(6, 4))

    assert asyncio.run(together()) == [[4] * 3, [5] * 2, None]


def test_what_a_block_starts_is_recorded_in_it():
    async def nested():
        with capture() as outer:
            inner = await asyncio.gather(captured(attends(4)), captured(attends(5)))
        return [trace.n_keys for trace in outer], inner

    assert asyncio.run(nested()) == ([4, 5] * 3, [[4] * 3, [5] * 3])


def test_a_capture_that_another_thread_or_an_earlier_end_closes_watches_no_more():
    with ExitStack() as later:
        with ExitStack() as earlier:
            first, second = earlier.enter_context(capture()), later.enter_context(capture())
            attend(3)
        attend(4)
    assert [len(recording) for recording in (first, second)] == [1, 2]
    opened = ExitStack()
    recording = opened.enter_context(capture())
    thread = threading.Thread(target=opened.close)
    thread.start()
    thread.join()
    attend(3)
    assert len(recording) == 0
    with capture() as recording:  # takes what was left off the stacks
        attend(3)
    assert len(recording) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_that_is_forked_while_others_capture_has_its_own():
    is_open, is_over = threading.Event(), threading.Event()

    def hold():
        with capture():
            is_open.set()
            is_over.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert is_open.wait(60)
    if not (child := os.fork()):
        signal.alarm(30)
        with capture() as recording:
            attend(3)
        os._exit(0 if len(recording) == 1 and state_of_torch() == ((0, 0), (0, 0), True) else 3)
    is_over.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


OPEN_FOR_EVER = """
import random, signal
from attention_core import capture
from tests.attention_core.attention.capture.test_together import state_of_torch

def open_for_ever():
    while True:
        with capture():
            pass

chance, before = random.Random(0), state_of_torch()
signal.signal(signal.SIGINT, signal.default_int_handler)  # which some shells ignore
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
for _ in range(60):
    try:
        # again each second: Python swallows what is raised while it frees an object
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-4, 3e-3), 1)
        open_for_ever()
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert state_of_torch() == before
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such clock")
def test_ctrl_c_at_any_time_leaves_torch_as_it_was(root):
    subprocess.run([sys.executable, "-c", OPEN_FOR_EVER], check=True, timeout=300, cwd=root)
