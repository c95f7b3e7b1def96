"""A training that is gone through step by step, kept as a film, and put into a file and taken out of it."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import asdict, fields
from typing import Any, NamedTuple

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from attention_core.attention.wording import format_count, percent
from attention_core.bounds.limits import CHECKPOINT_BYTES
from attention_core.data.mnist import DataError
from attention_core.device import choose_device
from attention_core.files import find_file, read_json
from attention_core.live_training import digits, graphs, lookup, triples
from attention_core.live_training.lesson import ATTENTION, BEFOREHAND, Lesson, LiveSettings, Look, Offer
from attention_core.live_training.sentences import OFFERS
from attention_core.train.loop import TrainingSteps

LESSONS: dict[str, Offer] = {
    "digits": digits.OFFER,
    "lookup": lookup.OFFER,
    **OFFERS,
    "triples": triples.OFFER,
    "graph": graphs.OFFER,
}
RECORDED = find_file("lessons") / "training.safetensors"
"""A training as it usually is, gone through beforehand: python -m attention_core.live_training.live_run."""
N_FRAMES = 32
"""Pictures of a film; the first steps have more of them, because more is learned there."""
WORTH = 0.05
"""Difference of two shares of right answers that is worth a word."""
SCRIPT = '''"""The training that you watched: prints the same numbers. Run it in the folder of Attention Explorer."""

from attention_core.live_training.lesson import LiveSettings
from attention_core.live_training.live_run import LiveRun

run = LiveRun({settings})
while not run.is_done:
    run.advance()
for frame in run.frames:
    print(frame.step, frame.accuracies, frame.losses)
'''
"""Of a training with these settings."""


class Frame(NamedTuple):
    step: int
    losses: dict[str, float]  # of each model, the mean since the frame before; none before the first step
    accuracies: dict[str, float]  # on examples that are never learned from
    state: dict[str, Tensor]  # parameters of the model that is watched, in two bytes each


def checked(settings: LiveSettings) -> LiveSettings:
    """Return settings; ValueError where the lesson does not offer one of them."""
    if settings.lesson not in LESSONS:
        raise ValueError(f"lesson must be one of {', '.join(LESSONS)}, got {settings.lesson!r}")
    for name in ("size", "rate", "score", "broken", "share", "seed"):
        value, offered = getattr(settings, name), getattr(LESSONS[settings.lesson], name)
        if value not in offered:
            raise ValueError(f"{name} must be one of {offered}, got {value!r}")
    return settings


class LiveRun:
    """A model and its controls on their way through a training; goes on by `advance`, one batch for all of them.

    Raises:
        ValueError: settings that there are not.
        DataError: what is to be learned is missing.
    """

    def __init__(self, settings: LiveSettings) -> None:
        self.settings = checked(settings)
        with torch.inference_mode(False), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed)
            self.lesson: Lesson = LESSONS[self.settings.lesson].make(self.settings)
            self.models = {name: model.to(choose_device()) for name, model in self.lesson.models().items()}
            if self.settings.broken == BEFOREHAND:
                self._keep_looks()
        self._viewer = copy.deepcopy(self.watched).requires_grad_(False).eval()
        self.n_steps, self.step = self.lesson.n_steps, 0
        self._trainings = {
            name: TrainingSteps(model, self.lesson, self.lesson.recipe, self.n_steps, self.settings.seed)
            for name, model in self.models.items()
        }
        self._due = sorted({round(self.n_steps * (number / (N_FRAMES - 1)) ** 2) for number in range(N_FRAMES)})
        self._losses = dict.fromkeys(self.models, 0.0)
        self._since, self.frames = 0, list[Frame]()
        self._keep()

    def _keep_looks(self) -> None:
        """Take over where the recorded training looks in the end, and learn it no further."""
        if not RECORDED.exists():
            raise DataError("The recorded training is missing, whose looks are to be kept.")
        state = LiveRun.from_checkpoint(RECORDED.read_bytes()).frames[-1].state
        for name, parameter in self.watched.named_parameters():
            if name.startswith(digits.LOOKS):
                parameter.requires_grad_(False).copy_(state[name])

    @property
    def is_done(self) -> bool:
        return self.step >= self.n_steps

    @property
    def watched(self) -> nn.Module:
        return next(iter(self.models.values()))

    def advance(self) -> None:
        """Learn from one batch, the same for all models."""
        for name, training in self._trainings.items():
            self._losses[name] += next(training)
        self.step, self._since = self.step + 1, self._since + 1
        if self.step in self._due:
            self._keep()

    @torch.no_grad()
    def _keep(self) -> None:
        losses = {name: loss / self._since for name, loss in self._losses.items()} if self._since else {}
        accuracies = {}
        for name, model in self.models.items():
            model.eval()
            accuracies[name] = self.lesson.accuracy(model)
            model.train()
        self.frames.append(Frame(self.step, losses, accuracies, _half(self.watched.state_dict())))
        self._losses, self._since = dict.fromkeys(self.models, 0.0), 0

    @torch.no_grad()
    def look(self, frame: Frame, example: Any) -> Look:
        """Return what the watched model looked at in an input of the lesson's kind; one thread at a time."""
        self._viewer.load_state_dict({name: tensor.float() for name, tensor in frame.state.items()})
        return self.lesson.look(self._viewer, example)

    def checkpoint(self) -> bytes:
        """Return the training so far as a file of safetensors, from which it goes on with the same numbers."""
        tensors = {
            f"frame.{number}.{name}": tensor
            for number, frame in enumerate(self.frames)
            for name, tensor in frame.state.items()
        }
        for number, training in enumerate(self._trainings.values()):
            tensors |= {f"{number}.{name}": tensor for name, tensor in training.tensors().items()}
        frames = [[frame.step, frame.losses, frame.accuracies] for frame in self.frames]
        metadata = {"settings": json.dumps(asdict(self.settings)), "step": str(self.step), "frames": json.dumps(frames)}
        metadata |= {"losses": json.dumps([self._losses, self._since])}
        return safetensors.torch.save({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, metadata)

    @classmethod
    def from_checkpoint(cls, content: bytes) -> LiveRun:
        """Return the training that a file holds, whoever sent it; ValueError, with the reason, where it holds none."""
        if len(content) > CHECKPOINT_BYTES.maximum:
            raise ValueError(
                f"This file has more than {CHECKPOINT_BYTES.millions} MB: no training here makes such a one."
            )
        try:
            metadata = read_json(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
            run = cls(_settings(metadata["settings"]))
            run._resume(metadata, safetensors.torch.load(content))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, SafetensorError) as error:
            raise ValueError("This is no training that was saved here.") from error
        return run

    def _resume(self, metadata: dict[str, str], tensors: dict[str, Tensor]) -> None:
        step, frames = int(metadata["step"]), read_json(metadata["frames"])
        steps = [frame_step for frame_step in self._due if frame_step <= step]
        if not 0 <= step <= self.n_steps or [frame_step for frame_step, _, _ in frames] != steps:
            raise ValueError("steps must be those of this training")
        for number, training in enumerate(self._trainings.values()):
            training.go_on_from(step, _below(tensors, f"{number}."))
        shapes = {name: tensor.shape for name, tensor in self.watched.state_dict().items()}
        self.frames.clear()
        for number, (frame_step, losses, accuracies) in enumerate(frames):
            state = _below(tensors, f"frame.{number}.")
            if {name: tensor.shape for name, tensor in state.items()} != shapes:
                raise ValueError("frames must be of this model")
            self.frames.append(Frame(frame_step, self._figures(losses), self._figures(accuracies), _half(state)))
        losses, since = read_json(metadata["losses"])
        self.step, self._since, self._losses = step, min(int(since), step), self._figures(losses)

    def _figures(self, numbers: dict[str, Any]) -> dict[str, float]:
        figures = {name: float(value) for name, value in numbers.items()}
        if figures and (figures.keys() != self.models.keys() or not all(map(math.isfinite, figures.values()))):
            raise ValueError("figures must be numbers of all models")
        return figures


def _half(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().half().cpu() for name, tensor in state.items()}


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _settings(text: str) -> LiveSettings:
    settings, kinds = read_json(text), {field.name: type(field.default) for field in fields(LiveSettings)}
    if {name: type(value) for name, value in settings.items()} != kinds:
        raise ValueError("settings must be those of a training")
    return checked(LiveSettings(**settings))


def beforehand(settings: LiveSettings) -> LiveRun:
    """Return what stands there before anybody trains: the recorded training if it is of these settings, or none yet."""
    is_usual = settings == LiveSettings() and RECORDED.exists()
    return LiveRun.from_checkpoint(RECORDED.read_bytes()) if is_usual else LiveRun(settings)


def verdict(run: LiveRun) -> str:
    """Return in a sentence or two whether attention did any work."""
    names, controls = [*run.models], dict(run.frames[-1].accuracies)
    right = controls.pop(ATTENTION)
    best = max(controls, key=controls.__getitem__)
    never = run.n_steps + 1
    ninety = {
        name: next((frame.step for frame in run.frames if frame.accuracies[name] >= 0.9), never) for name in names
    }
    first = ninety.pop(ATTENTION)
    yet = "" if run.is_done else " so far"
    close = f"A control {f'comes within {100 * WORTH:.0f} points' if right > controls[best] else 'does as well'}{yet}"
    if not run.is_done and run.step < run.n_steps / 5 and right < controls[best] + WORTH:
        sentence = "It is too early to tell"
    elif right > controls[best] + WORTH:
        sentence = f"Attention did the work{yet}"
    elif right < controls[best] - WORTH:
        sentence = f"Attention did worse than a control{yet}"
    elif first < min(ninety.values()):
        sentence = f"{close}, but attention was there first: 90% after {format_count(first, 'batches')}"
    else:
        sentence = close
    so_far = "" if run.is_done else f"After {format_count(run.frames[-1].step, 'batches')}: "
    return f"{so_far}**{sentence}**. {percent(right)} right, {percent(controls[best])} with {best}."


if __name__ == "__main__":
    usual = LiveRun(LiveSettings())
    while not usual.is_done:
        usual.advance()
    RECORDED.write_bytes(usual.checkpoint())
