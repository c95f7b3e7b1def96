"""A visitor's training, in a thread of its own: one at a time on a server, and only while its visitor is there."""

import threading
import time
from enum import Enum

from attention_core.device import choose_device
from attention_core.live_training.live_run import LiveRun
from attention_core.log import log
from ui.hosting.bounds import TRAINING_SECONDS
from ui.job_queue import POLL_SECONDS, Queue, background_turn, queue_of

PATIENCE = 10.0  # seconds without a run of the visitor's page after which a training rests
PORTION = 0.25  # seconds for which it has the device; then others may have it


class TrainingStage(Enum):
    """Whether a training waits for its turn, trains, rests until it is resumed, or is done."""

    WAITS = "waits"
    TRAINS = "trains"
    RESTS = "rests"
    DONE = "done"


class Training:
    """A run with the thread that takes it further.

    Attributes:
        run: what is trained.
        stage: see TrainingStage.
        n_before: how many trainings of others come first.
        seconds: how long it has computed.
        first_step: the step that it began with, above 0 for an uploaded one.
        remark: why it rests, if not because its visitor has paused it.
    """

    def __init__(self, run: LiveRun) -> None:
        self.run = run
        self.stage = TrainingStage.DONE if run.is_done else TrainingStage.RESTS
        self.n_before, self.seconds, self.remark, self.first_step = 0, 0.0, "", run.step
        self._last_sign = 0.0
        self._is_paused = threading.Event()

    @property
    def is_on(self) -> bool:
        return self.stage in (TrainingStage.WAITS, TrainingStage.TRAINS)

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end, at the pace so far; None = too early to say."""
        done = self.run.step - self.first_step
        return (self.run.n_steps - self.run.step) * self.seconds / done if done > 3 else None

    def note_visitor(self) -> None:
        self._last_sign = time.monotonic()

    def resume(self, session: str, address: str) -> None:
        if self.is_on or self.run.is_done:
            return
        self.stage, self.remark = TrainingStage.WAITS, ""
        self.note_visitor()
        self._is_paused.clear()
        threading.Thread(target=self._train, args=(session, address), daemon=True).start()

    def pause(self) -> None:
        self._is_paused.set()

    def _train(self, session: str, address: str) -> None:
        queue, thread = queue_of(choose_device(), "training"), threading.get_ident()
        try:
            if not queue.join(thread, session, address) or not self._wait(queue, thread):
                self.remark = self.remark or "Many trainings are waiting already. Press the button again in a moment."
                return
            self.stage = TrainingStage.TRAINS
            while not self.run.is_done and not self._should_pause():
                with background_turn(address) as has_turn:
                    self._portion() if has_turn else time.sleep(POLL_SECONDS)
        except Exception:
            log.exception("A training has failed")
            self.remark = "The training broke off. What it had learned so far is here."
        finally:
            queue.leave(thread)
            self.stage = TrainingStage.DONE if self.run.is_done else TrainingStage.RESTS

    def _wait(self, queue: Queue, thread: int) -> bool:
        while before := queue.wait(thread, POLL_SECONDS):
            self.n_before = before
            if self._should_pause():
                return False
        return before == 0

    def _should_pause(self) -> bool:
        if self.seconds > TRAINING_SECONDS.maximum:
            self.remark = f"It has computed for {TRAINING_SECONDS} seconds, the most here."
        elif time.monotonic() - self._last_sign > PATIENCE:
            self.remark = "It rested while you were away."
        else:
            return self._is_paused.is_set()
        return True

    def _portion(self) -> None:
        began = time.monotonic()
        while not self.run.is_done and not self._is_paused.is_set() and time.monotonic() - began < PORTION:
            self.run.advance()
        self.seconds += time.monotonic() - began
