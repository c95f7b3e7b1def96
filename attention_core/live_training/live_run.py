"""A training that a page advances step by step: its frames, its file, and its verdict on attention."""

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
from attention_core.files import find_file, note_missing, read_json
from attention_core.live_training import digits, graphs, lookup, sentences, triples
from attention_core.live_training.lesson import ATTENTION, BEFOREHAND, Lesson, LessonOptions, LiveSettings, Look
from attention_core.train.loop import TrainingSteps

LESSONS: dict[str, LessonOptions] = {
    "digits": digits.OPTIONS,
    "lookup": lookup.OPTIONS,
    **sentences.OPTIONS,
    "triples": triples.OPTIONS,
    "graph": graphs.OPTIONS,
}
RECORDED_FOLDER = find_file("lessons")
"""Of finished trainings with usual settings, LESSON.safetensors, from python -m attention_core.live_training.live_run.
"""
N_FRAMES = 32
"""Frames of a training, closer together at its beginning, because more is learned there."""
CLEAR_DIFFERENCE = 0.05
"""Difference of two accuracies from which on one is called better."""
HIGH_ACCURACY = 0.9
"""Accuracy that the verdict asks which model reached first."""
SCRIPT = '''"""The training that you watched: prints the same numbers. Run it in the folder of Attention Explorer."""

from attention_core.live_training.lesson import LiveSettings
from attention_core.live_training.live_run import LiveRun

run = LiveRun({settings})
while not run.is_done:
    run.advance()
for frame in run.frames:
    print(frame.step, frame.accuracies, frame.losses)
'''
"""Python that repeats a training; {settings} are those of the training."""


class Frame(NamedTuple):
    """What a training was after one of its steps."""

    step: int  # batches so far
    losses: dict[str, float]  # of each model, the mean since the frame before; empty before the first step
    accuracies: dict[str, float]  # on examples that are never learned from
    state: dict[str, Tensor]  # parameters of the model that is watched, in two bytes each


def check_settings(settings: LiveSettings) -> LiveSettings:
    """Return the settings themselves; ValueError where the lesson does not offer one of them."""
    if settings.lesson not in LESSONS:
        raise ValueError(f"lesson must be one of {', '.join(LESSONS)}, got {settings.lesson!r}")
    for name in ("size", "rate", "score", "broken", "share", "seed"):
        value, offered = getattr(settings, name), getattr(LESSONS[settings.lesson], name)
        if value not in offered:
            raise ValueError(f"{name} must be one of {offered}, got {value!r}")
    return settings


class LiveRun:
    """A training of a model with attention and of its controls; `advance` trains all of them on one batch more.

    Raises:
        ValueError: the lesson does not offer these settings.
        DataError: the lesson's data, or the recorded training that it starts from, is missing.
    """

    def __init__(self, settings: LiveSettings) -> None:
        self.settings = check_settings(settings)
        with torch.inference_mode(False), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed)
            self.lesson: Lesson = LESSONS[self.settings.lesson].make(self.settings)
            self.models = {name: model.to(choose_device()) for name, model in self.lesson.models().items()}
            if self.settings.broken == BEFOREHAND:
                self._freeze_recorded_looks()
        self._viewer = copy.deepcopy(self.watched).requires_grad_(False).eval()
        self.n_steps, self.step = self.lesson.n_steps, 0
        self._trainings = {
            name: TrainingSteps(model, self.lesson, self.lesson.recipe, self.n_steps, self.settings.seed)
            for name, model in self.models.items()
        }
        self._frame_steps = sorted({round(self.n_steps * (number / (N_FRAMES - 1)) ** 2) for number in range(N_FRAMES)})
        self._losses = dict.fromkeys(self.models, 0.0)  # sums over the _n_summed batches since the last frame
        self._n_summed, self.frames = 0, list[Frame]()
        self._add_frame()

    def _freeze_recorded_looks(self) -> None:
        """Copy the parameters of looking from the end of the recorded training, and exclude them from this one."""
        recorded = recorded_run("digits")
        if recorded is None:
            raise DataError("The recorded training is missing, whose looks are to be kept.")
        state = recorded.frames[-1].state
        for name, parameter in self.watched.named_parameters():
            if name.startswith(digits.LOOKS):
                parameter.requires_grad_(False).copy_(state[name])

    @property
    def is_done(self) -> bool:
        return self.step >= self.n_steps

    @property
    def watched(self) -> nn.Module:
        """The model with attention, whose looks a page draws."""
        return next(iter(self.models.values()))

    def advance(self) -> None:
        """Train every model on the next batch, the same for all."""
        for name, training in self._trainings.items():
            self._losses[name] += next(training)
        self.step, self._n_summed = self.step + 1, self._n_summed + 1
        if self.step in self._frame_steps:
            self._add_frame()

    @torch.no_grad()
    def _add_frame(self) -> None:
        losses = {name: loss / self._n_summed for name, loss in self._losses.items()} if self._n_summed else {}
        accuracies = {}
        for name, model in self.models.items():
            model.eval()
            accuracies[name] = self.lesson.accuracy(model)
            model.train()
        self.frames.append(Frame(self.step, losses, accuracies, _as_half(self.watched.state_dict())))
        self._losses, self._n_summed = dict.fromkeys(self.models, 0.0), 0

    @torch.no_grad()
    def look(self, frame: Frame, example: Any) -> Look:
        """Return where the watched model, as it was in a frame, looks in an example; one thread at a time."""
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
        metadata |= {"losses": json.dumps([self._losses, self._n_summed])}
        return safetensors.torch.save({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, metadata)

    @classmethod
    def from_checkpoint(cls, content: bytes) -> LiveRun:
        """Return the training in a file, which may come from anybody; ValueError, with the reason, if it has none."""
        if len(content) > CHECKPOINT_BYTES.maximum:
            raise ValueError(
                f"This file has more than {CHECKPOINT_BYTES.millions} MB: no training here makes such a one."
            )
        try:
            header = content[8 : 8 + int.from_bytes(content[:8], "little")]  # which safetensors.torch keeps to itself
            metadata = read_json(header)["__metadata__"]
            run = cls(_parse_settings(metadata["settings"]))
            run._resume(metadata, safetensors.torch.load(content))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, SafetensorError) as error:
            raise ValueError("This is no training that was saved here.") from error
        return run

    def _resume(self, metadata: dict[str, str], tensors: dict[str, Tensor]) -> None:
        step, frames = int(metadata["step"]), read_json(metadata["frames"])
        steps = [frame_step for frame_step in self._frame_steps if frame_step <= step]
        if not 0 <= step <= self.n_steps or [frame_step for frame_step, _, _ in frames] != steps:
            raise ValueError("steps must be those of this training")
        for number, training in enumerate(self._trainings.values()):
            training.resume(step, _remove_prefix(tensors, f"{number}."))
        shapes = {name: tensor.shape for name, tensor in self.watched.state_dict().items()}
        self.frames.clear()
        for number, (frame_step, losses, accuracies) in enumerate(frames):
            state = _remove_prefix(tensors, f"frame.{number}.")
            if {name: tensor.shape for name, tensor in state.items()} != shapes:
                raise ValueError("frames must be of this model")
            self.frames.append(Frame(frame_step, self._figures(losses), self._figures(accuracies), _as_half(state)))
        losses, n_summed = read_json(metadata["losses"])
        self.step, self._n_summed, self._losses = step, min(int(n_summed), step), self._figures(losses)

    def _figures(self, numbers: dict[str, Any]) -> dict[str, float]:
        """Return figures by model, or none at all; ValueError where they are not those of all models."""
        figures = {name: float(value) for name, value in numbers.items()}
        if figures and (figures.keys() != self.models.keys() or not all(map(math.isfinite, figures.values()))):
            raise ValueError("figures must be numbers of all models")
        return figures


def _as_half(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().half().cpu() for name, tensor in state.items()}


def _remove_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names have a prefix, by their names without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _parse_settings(text: str) -> LiveSettings:
    settings, types = read_json(text), {field.name: type(field.default) for field in fields(LiveSettings)}
    if {name: type(value) for name, value in settings.items()} != types:
        raise ValueError("settings must be those of a training")
    return check_settings(LiveSettings(**settings))


def initial_run(settings: LiveSettings) -> LiveRun:
    """Return the training before a visitor trains: the recorded one if it has these settings, else a new one."""
    recorded = recorded_run(settings.lesson) if settings == usual_settings(settings.lesson) else None
    return recorded or LiveRun(settings)


def usual_settings(lesson: str) -> LiveSettings:
    """Return the settings that a lesson begins with."""
    return LiveSettings(lesson, score=LESSONS[lesson].score[0])


def recorded_run(lesson: str) -> LiveRun | None:
    """Return the finished training of a lesson that comes along, with its usual settings, if one does.

    DataError where its file is damaged.
    """
    file = RECORDED_FOLDER / f"{lesson}.safetensors"
    with note_missing(file.name):
        try:
            return LiveRun.from_checkpoint(file.read_bytes()) if file.exists() else None
        except (OSError, ValueError) as error:
            raise DataError(f"{file} is damaged: fetch it, or Attention Explorer, again.") from error


def verdict(run: LiveRun, n_frames: int | None = None) -> str:
    """Return in two sentences whether attention did any work, with all accuracies, the best control first.

    With n_frames, as it was after so many of the run's frames.
    """
    frames = run.frames[:n_frames]
    step = frames[-1].step
    controls, never, is_done = dict(frames[-1].accuracies), run.n_steps + 1, step >= run.n_steps
    accuracy = controls.pop(ATTENTION)
    ranking = sorted(controls.items(), key=lambda item: -item[1])
    control = ranking[0][1]
    first_high = {
        name: next((frame.step for frame in frames if frame.accuracies[name] >= HIGH_ACCURACY), never)
        for name in run.models
    }
    attention_high = first_high.pop(ATTENTION)
    so_far = "" if is_done else " so far"
    nearness = f"comes within {100 * CLEAR_DIFFERENCE:.0f} points" if accuracy > control else "does as well"
    close = f"A control {nearness}{so_far}"
    if not is_done and step < run.n_steps / 5 and accuracy < control + CLEAR_DIFFERENCE:
        sentence = "It is too early to tell"
    elif accuracy > control + CLEAR_DIFFERENCE:
        sentence = f"Attention did the work{so_far}"
    elif accuracy < control - CLEAR_DIFFERENCE:
        sentence = f"Attention did worse than a control{so_far}"
    elif attention_high < min(first_high.values()):
        batches = format_count(attention_high, "batches")
        sentence = f"{close}, but attention was there first: {HIGH_ACCURACY:.0%} after {batches}"
    else:
        sentence = close
    accuracies = [f"{percent(accuracy)} right"]
    accuracies += [f"{percent(share)} with {name}" for name, share in ranking]
    return f"After {format_count(step, 'batches')}: **{sentence}**. {', '.join(accuracies)}."


if __name__ == "__main__":
    for lesson in ("digits", "graph"):
        run = LiveRun(usual_settings(lesson))
        while not run.is_done:
            run.advance()
        (RECORDED_FOLDER / f"{lesson}.safetensors").write_bytes(run.checkpoint())
