"""One training loop for every model: seeded, resumable, with progress bar and model card."""

import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from tqdm import tqdm

from attention_core.device import choose_device, describe_device, device_of
from attention_core.models import build
from attention_core.weights import fill, read_weights, write_weights

CHECKPOINT_SECONDS = 120


class TrainingProgress(NamedTuple):
    """How far a training has come: batches before this one, and of the whole training."""

    step: int
    n_steps: int

    @property
    def progress(self) -> float:
        return self.step / self.n_steps


class Task(Protocol):
    """What a model is trained on. Everything random comes from the generators that are passed in.

    A method start(model), if there is one, prepares the model before its first batch.
    """

    def loss(self, model: nn.Module, moment: TrainingProgress, generator: torch.Generator) -> Tensor: ...

    def figures(self, model: nn.Module) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Recipe:
    task: Callable[[str | None, int, str], Task]  # (data folder or None, seed, device) -> Task
    data: str  # what it is trained on and under which licence, for the card
    batches_per_epoch: int  # steps of one epoch
    epochs: float  # how many, unless the command says otherwise
    learning_rate: float  # at its height
    weight_decay: float = 0.02  # of AdamW
    gentle: tuple[str, ...] = ()  # prefixes of parameters that are trained at 0.3 of the rate and without decay
    half: bool = False  # write the weights as 16-bit numbers; the figures are those of the rounded weights
    # shares of the training at which something is kept: what the task's method snapshot(model) returns if it has one,
    # else the parameters named by snapshot_of
    snapshot_at: tuple[float, ...] = ()
    snapshot_of: tuple[str, ...] = ()  # prefixes of parameter names


RECIPES: dict[str, Recipe] = {}  # by the model's name; each file of this folder adds its own


class ShuffledBatches:
    """Batches of positions: every epoch is a pass over all items in a new order, told by the seed alone."""

    def __init__(self, batches_of: Callable[[torch.Generator], list[list[int]]], seed: int) -> None:
        self._batches_of, self._seed = batches_of, seed
        self._epoch, self._batches = -1, list[list[int]]()

    @cached_property
    def per_epoch(self) -> int:
        return len(self._batches_of(torch.Generator().manual_seed(self._seed)))

    def at(self, step: int) -> list[int]:
        epoch, number = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            generator = torch.Generator().manual_seed(self._seed * 7919 + epoch)
            self._epoch, self._batches = epoch, self._batches_of(generator)
        return self._batches[number]


@dataclass(frozen=True)
class Options:
    """What the command line says, see attention_core.train.__main__; `command` is as typed, for the card."""

    name: str
    epochs: float | None = None
    seed: int = 0
    device: str = "auto"
    data: str | None = None
    resume: bool = False
    init: str | None = None
    checkpoints: Path = Path("checkpoints")
    weights: Path | None = None
    command: str = ""


@dataclass
class _TrainingState:
    step: int = 0
    seconds: float = 0.0
    loss: float = math.nan
    snapshots: dict[str, Tensor] = field(default_factory=dict)


def train(recipe: Recipe, options: Options) -> Path:
    """Train a model, write its weights and card, and return the path of the weights.

    The same seed on the same device gives the same result, stopped and resumed or not: the batch of a step depends on
    seed and step alone.

    Raises:
        ValueError: no such device, or a damaged checkpoint.
        DataError: data missing or damaged.
        WeightsError: the weights to start from are missing, damaged, or those of another model.
        FileNotFoundError: --resume without a checkpoint.
    """
    device = choose_device(options.device)
    torch.manual_seed(options.seed)
    model = build(options.name)
    if options.init:
        fill(model, options.init, read_weights(options.init))
    model.to(device).train()
    task = recipe.task(options.data, options.seed, device)
    optimiser = _optimiser(model, recipe)
    checkpoint = options.checkpoints / f"{options.name}.pt"
    run = _restore(checkpoint, model, optimiser, device) if options.resume else _TrainingState()
    epochs = recipe.epochs if options.epochs is None else options.epochs
    n_steps = max(1, round(epochs * recipe.batches_per_epoch))
    if not run.step:
        _take_snapshot(run, model, task, recipe, n_steps)
        getattr(task, "start", lambda model: None)(model)
    began, saved = time.monotonic() - run.seconds, time.monotonic()
    with tqdm(total=n_steps, initial=run.step, desc=options.name, unit="batch", mininterval=2) as bar:
        while run.step < n_steps:
            _take_snapshot(run, model, task, recipe, n_steps)
            moment = TrainingProgress(run.step, n_steps)
            loss = training_step(model, task, optimiser, moment, recipe.learning_rate, options.seed)
            run.step += 1
            run.loss = loss if math.isnan(run.loss) else 0.99 * run.loss + 0.01 * loss
            bar.update()
            if run.step % 20 == 0:
                bar.set_postfix(loss=f"{run.loss:.3f}")
            if time.monotonic() - saved > CHECKPOINT_SECONDS or run.step >= n_steps:
                run.seconds, saved = time.monotonic() - began, time.monotonic()
                _save(checkpoint, run, model, optimiser)
    _take_snapshot(run, model, task, recipe, n_steps)
    return _finish(recipe, options, model.eval(), task, run, device)


def training_step(
    model: nn.Module, task: Task, optimiser: torch.optim.Optimizer, moment: TrainingProgress, height: float, seed: int
) -> float:
    """Train a model on the batch of a moment and return its loss; for the height of the rate see learning_rate."""
    for group in optimiser.param_groups:
        group["lr"] = group["share"] * learning_rate(height, *moment)
    generator = torch.Generator(device_of(model)).manual_seed(seed * 1_000_003 + moment.step)
    torch.manual_seed(seed * 1_000_003 + moment.step)  # dropout has no generator of its own
    optimiser.zero_grad(set_to_none=True)
    loss = task.loss(model, moment, generator)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return loss.item()


def _optimiser(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    gentle = [p for name, p in model.named_parameters() if name.startswith(recipe.gentle)]
    others = [p for name, p in model.named_parameters() if not name.startswith(recipe.gentle)]
    groups = [
        {"params": others, "share": 1.0, "weight_decay": recipe.weight_decay},
        {"params": gentle, "share": 0.3, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=1.0, betas=(0.9, 0.99))


def learning_rate(height: float, step: int, n_steps: int) -> float:
    """Return the rate of a step: linear warm-up, then a cosine down to 1/50 (Loshchilov and Hutter 2017)."""
    warmth = min(1.0, (step + 1) / min(200, max(1, n_steps // 10)))
    return height * warmth * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / n_steps)))


def _take_snapshot(run: _TrainingState, model: nn.Module, task: Task, recipe: Recipe, n_steps: int) -> None:
    for number, share in enumerate(recipe.snapshot_at):
        if run.step >= min(n_steps, round(share * n_steps)) and f"{number}.step" not in run.snapshots:
            if hasattr(task, "snapshot"):
                kept = task.snapshot(model)
            else:
                kept = {name: one for name, one in model.state_dict().items() if name.startswith(recipe.snapshot_of)}
            for name, tensor in kept.items():
                run.snapshots[f"{number}.{name}"] = tensor.detach().cpu().half()
            run.snapshots[f"{number}.step"] = torch.tensor(run.step)


def _save(path: Path, run: _TrainingState, model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"run": vars(run), "model": model.state_dict(), "optimiser": optimiser.state_dict()}
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _restore(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, device: str) -> _TrainingState:
    if not path.exists():
        raise FileNotFoundError(f"Nothing to resume: there is no {path}. Leave --resume away to start anew.")
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        return _TrainingState(**state["run"])
    except (RuntimeError, ValueError, KeyError, TypeError, EOFError, UnpicklingError):
        raise ValueError(
            f"{path} is damaged or belongs to another form of the model. Delete it, or leave --resume away."
        ) from None


def _finish(recipe: Recipe, options: Options, model: nn.Module, task: Task, run: _TrainingState, device: str) -> Path:
    if recipe.half:
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point():
                tensor.data = tensor.data.half().to(tensor.dtype)
    with torch.inference_mode():
        figures = task.figures(model)
    card = {
        "data": recipe.data,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        **figures,
        "final_training_loss": round(run.loss, 4),
        "seed": options.seed,
        "epochs": round(run.step / recipe.batches_per_epoch, 2),
        "batches": run.step,
        "wall_seconds": round(run.seconds),
        "device": describe_device(device),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "command": options.command,
    }
    if run.snapshots:
        write_weights(f"{options.name}.snapshots", run.snapshots, {"of": options.name}, options.weights)
    state = {
        name: tensor.half() if recipe.half and tensor.is_floating_point() else tensor
        for name, tensor in model.state_dict().items()
    }
    return write_weights(options.name, state, card, options.weights)
