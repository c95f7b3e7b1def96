"""One training loop for every model: seeded, resumable, with progress bar and model card.

It runs in one process, or in several that torchrun starts.
"""

import math
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from attention_core.bounds.limits import TRAINING_PARAMETERS, TRAINING_STEPS
from attention_core.device import choose_device, describe_device, device_of
from attention_core.models import build
from attention_core.weights import fill, read_weights, weights_folder, write_weights


@dataclass(frozen=True)
class Worker:
    """This process among those that train together."""

    rank: int = 0  # from 0; only the process of rank 0 writes files
    size: int = 1  # number of processes

    @contextmanager
    def main_process_first(self) -> Iterator[None]:
        """Let the first process do something, such as fill a cache, before the others."""
        if self.rank:
            dist.barrier()
        yield
        if self.size > 1 and not self.rank:
            dist.barrier()

    def mean(self, value: Tensor) -> float:
        """Return the mean of all processes' values; overwrites this one's."""
        if self.size > 1:
            dist.all_reduce(value)
        return value.item() / self.size


@contextmanager
def process_group(device: str) -> Iterator[Worker]:
    """Join the process group that torchrun has started, each process on a device of its own if it is cuda."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield Worker()
        return
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    try:
        yield Worker(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


CHECKPOINT_SECONDS = 120  # between two checkpoints
SLOW_SHARE = 0.3  # of the learning rate, for parameters that learn slowly


class TrainingProgress(NamedTuple):
    """How far a training has come."""

    batch: int  # the number of this batch, from 0
    n_batches: int  # of all epochs

    @property
    def share(self) -> float:
        return self.batch / self.n_batches


class Task(Protocol):
    """What a model learns. All randomness comes from the generators that are passed in.

    A method start(model), if there is one, prepares the model before its first batch.
    """

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor: ...

    def figures(self, model: nn.Module) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Recipe:
    """How a model is trained, and on what."""

    task: Callable[[str | None, int, str], Task]  # (data folder or None, seed, device) -> Task
    data: str  # what it is trained on and under which licence, for the card
    batches_per_epoch: int
    epochs: float  # how many, unless the command says otherwise; 0 = the task's start() is all
    learning_rate: float  # at its peak
    weight_decay: float = 0.02  # of AdamW
    slow: tuple[str, ...] = ()  # prefixes of parameters with SLOW_SHARE of the learning rate and no weight decay
    half: bool = False  # write the weights as 16-bit numbers; the figures are those of the rounded weights
    # shares of the training after which a snapshot is saved: what the task's method snapshot(model) returns if it has
    # one, else the parameters named by snapshot_of
    snapshot_at: tuple[float, ...] = ()
    snapshot_of: tuple[str, ...] = ()  # prefixes of parameter names


RECIPES: dict[str, Recipe] = {}  # by the model's name; each file of this folder adds its own


class ShuffledBatches:
    """Batches of indices of items; every epoch has all items in a new order, which depends on the seed alone."""

    def __init__(self, batches_of: Callable[[torch.Generator], list[list[int]]], seed: int) -> None:
        self._batches_of, self._seed = batches_of, seed
        self._epoch, self._batches = -1, list[list[int]]()

    @cached_property
    def per_epoch(self) -> int:
        return len(self._batches_of(torch.Generator().manual_seed(self._seed)))

    def at(self, batch: int) -> list[int]:
        epoch, index = divmod(batch, self.per_epoch)
        if epoch != self._epoch:
            generator = torch.Generator().manual_seed(self._seed * 7919 + epoch)  # more than there are epochs
            self._epoch, self._batches = epoch, self._batches_of(generator)
        return self._batches[index]


@dataclass(frozen=True)
class Options:
    """What the command line says, see attention_core.train.__main__."""

    name: str
    epochs: float | None = None
    learning_rate: float | None = None
    seed: int = 0
    device: str = "auto"
    data: str | None = None
    resume: bool = False
    batches_per_step: int | None = None  # as the checkpoint says, else one for each process
    init: str | None = None
    freeze: Sequence[str] = ()
    config: Mapping[str, int] = field(default_factory=dict)  # changes of the model's config
    checkpoints: Path = Path("checkpoints")
    weights: Path | None = None
    command: str = ""  # as typed, for the card

    @property
    def result(self) -> str:
        """The name of what is written."""
        return "-".join([self.name, *(f"{name}-{number}" for name, number in self.config.items())])


@dataclass
class _TrainingState:
    step: int = 0  # batches so far, of several for each step of the optimiser; checkpoints call it so
    batches_per_step: int = 0  # of one step of the optimiser
    seconds: float = 0.0
    loss: float = math.nan
    snapshots: dict[str, Tensor] = field(default_factory=dict)


def train(recipe: Recipe, options: Options) -> Path:
    """Train a model, write its weights and card, and return the path of the weights.

    The same seed on the same device gives the same result, stopped and resumed or not: a batch depends on the seed and
    its number alone. Several processes (torchrun) share the batches of one step of the optimiser. Their number must
    divide that of these batches; the losses then are those of one process up to rounding. Only batch norm differs: its
    running statistics are those of process 0.

    Raises:
        ValueError: no such device, a damaged checkpoint, or processes that cannot share the batches alike.
        DataError: data missing or damaged.
        WeightsError: the weights to start from are missing, damaged, or those of another model.
        FileNotFoundError: --resume without a checkpoint.
    """
    device = choose_device(options.device)
    with process_group(device) as worker:
        return _train(recipe, options, device, worker)


def _freeze(model: nn.Module, prefixes: tuple[str, ...]) -> None:
    """Exclude the parameters whose names have one of these prefixes from training, with their running statistics."""
    for name, module in model.named_modules():
        if f"{name}.".startswith(prefixes):
            module.eval()
    for name, parameter in model.named_parameters():
        if name.startswith(prefixes):
            parameter.requires_grad_(False)


class _LossModule(nn.Module):
    """The model with its task, so that all of a loss is computed where gradients are shared."""

    def __init__(self, model: nn.Module, task: Task) -> None:
        super().__init__()
        self.model, self._task = model, task

    def forward(self, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        return self._task.loss(self.model, progress, generator)


def _train(recipe: Recipe, options: Options, device: str, worker: Worker) -> Path:
    torch.manual_seed(options.seed)
    model = build(options.name, options.config)
    if options.init:
        fill(model, options.init, read_weights(options.init))
    _freeze(model.to(device).train(), tuple(options.freeze))
    with worker.main_process_first():
        task = recipe.task(options.data, options.seed, device)
    optimiser = _optimiser(model, recipe)
    checkpoint = options.checkpoints / f"{options.result}.pt"
    state = _restore(checkpoint, model, optimiser, device) if options.resume else _TrainingState()
    state.batches_per_step = options.batches_per_step or state.batches_per_step or worker.size
    if state.batches_per_step % worker.size:
        raise ValueError(f"{worker.size} processes cannot share {state.batches_per_step} batches alike.")
    epochs = recipe.epochs if options.epochs is None else options.epochs
    peak = options.learning_rate or recipe.learning_rate
    n_batches = max(1, round(epochs * recipe.batches_per_epoch)) if epochs else 0
    n_batches = state.batches_per_step * math.ceil(n_batches / state.batches_per_step)
    _add_snapshots(state, model, task, recipe, n_batches)
    if not state.step and hasattr(task, "start"):
        task.start(model)
    loss_module: nn.Module = _LossModule(model, task)
    if worker.size > 1:  # all processes get the mean of their gradients, and begin with the first one's parameters
        loss_module = DistributedDataParallel(loss_module, find_unused_parameters=True)
    started_at, saved_at = time.monotonic() - state.seconds, time.monotonic()
    bar = tqdm(
        total=n_batches, initial=state.step, desc=options.result, unit="batch", mininterval=2, disable=worker.rank > 0
    )
    with bar:
        for _ in _steps(loss_module, optimiser, peak, state, n_batches, options.seed, worker):
            _add_snapshots(state, model, task, recipe, n_batches)
            bar.update(state.batches_per_step)
            if state.step % 20 == 0:
                bar.set_postfix(loss=f"{state.loss:.3f}")
            is_due = time.monotonic() - saved_at > CHECKPOINT_SECONDS or state.step >= n_batches
            if is_due and not worker.rank:
                state.seconds, saved_at = time.monotonic() - started_at, time.monotonic()
                _save(checkpoint, state, model, optimiser)
    if worker.rank:
        return (options.weights or weights_folder()) / f"{options.result}.safetensors"
    return _finish(recipe, options, model.eval(), task, state, device)


class TrainingSteps(Iterator[float]):
    """A training of a small model by the steps of `train`, without files; yields the loss of each step after it.

    The caller may read the model between two steps, and stop. Gradients are on inside a step even where the caller has
    switched them off; the model's parameters must have been created outside inference mode. ValueError for more steps
    or parameters than TRAINING_STEPS and TRAINING_PARAMETERS.
    """

    def __init__(self, model: nn.Module, task: Task, recipe: Recipe, n_steps: int, seed: int = 0) -> None:
        n_parameters = sum(parameter.numel() for parameter in model.parameters())
        if n_steps > TRAINING_STEPS.maximum or n_parameters > TRAINING_PARAMETERS.maximum:
            limits = f"at most {TRAINING_STEPS} steps and {TRAINING_PARAMETERS} parameters"
            raise ValueError(f"{limits}, got {n_steps:,} and {n_parameters:,}")
        self.model, self._state = model, _TrainingState(batches_per_step=1)
        loss_module, self._optimiser = _LossModule(model.train(), task), _optimiser(model, recipe)
        self._steps = _steps(loss_module, self._optimiser, recipe.learning_rate, self._state, n_steps, seed, Worker())

    def __next__(self) -> float:
        return next(self._steps)

    def tensors(self) -> dict[str, Tensor]:
        """Return all that `resume` needs, except the number of the step."""
        moments = self._optimiser.state_dict()["state"]
        return {f"model.{name}": tensor.detach() for name, tensor in self.model.state_dict().items()} | {
            f"optimiser.{number}.{name}": moment
            for number, parameter_moments in moments.items()
            for name, moment in parameter_moments.items()
        }

    def resume(self, step: int, tensors: Mapping[str, Tensor]) -> None:
        """Go on after a step with what `tensors` returned then; ValueError where they belong to another model."""
        parameters = [parameter for group in self._optimiser.param_groups for parameter in group["params"]]
        state = self.model.state_dict()
        shapes = {f"model.{name}": tensor.shape for name, tensor in state.items()}
        for number, parameter in enumerate(parameters if step else ()):  # before the first step there are no moments
            for name, shape in (("step", torch.Size()), ("exp_avg", parameter.shape), ("exp_avg_sq", parameter.shape)):
                shapes[f"optimiser.{number}.{name}"] = shape
        if {name: tensor.shape for name, tensor in tensors.items()} != shapes:
            raise ValueError("tensors must be those of the same model, got others")
        with torch.inference_mode(False):
            self.model.load_state_dict({name: tensors[f"model.{name}"] for name in state})
            moments: dict[int, dict[str, Tensor]] = {}
            for name in shapes.keys() - {f"model.{name}" for name in state}:
                _, index, moment = name.split(".")
                moments.setdefault(int(index), {})[moment] = tensors[name].clone()
            self._optimiser.load_state_dict(self._optimiser.state_dict() | {"state": moments})
        self._state.step = step


def _steps(
    loss_module: nn.Module,
    optimiser: torch.optim.Optimizer,
    peak: float,
    state: _TrainingState,
    n_batches: int,
    seed: int,
    worker: Worker,
) -> Iterator[float]:
    """Train from the state's step on; yields the loss of each step of the optimiser after it."""
    while state.step < n_batches:
        with torch.inference_mode(False), torch.enable_grad():
            for group in optimiser.param_groups:
                group["lr"] = group["share"] * learning_rate(peak, state.step, n_batches)
            optimiser.zero_grad(set_to_none=True)
            loss = worker.mean(_backward(loss_module, state, n_batches, seed, worker))
            nn.utils.clip_grad_norm_(loss_module.parameters(), 1.0)
            optimiser.step()
        state.step += state.batches_per_step
        state.loss = loss if math.isnan(state.loss) else 0.99 * state.loss + 0.01 * loss
        yield loss


def _backward(loss_module: nn.Module, state: _TrainingState, n_batches: int, seed: int, worker: Worker) -> Tensor:
    """Add the gradient of this process's share of a step's batches; returns their mean loss."""
    batches = range(state.step + worker.rank, state.step + state.batches_per_step, worker.size)
    device = device_of(loss_module)
    total = torch.zeros((), device=device)
    for batch in batches:
        batch_seed = seed * 1_000_003 + batch  # more than there are batches
        generator = torch.Generator(device).manual_seed(batch_seed)
        torch.manual_seed(batch_seed)  # dropout has no generator of its own
        is_synced_later = batch != batches[-1] and isinstance(loss_module, DistributedDataParallel)
        with loss_module.no_sync() if is_synced_later else nullcontext():  # type: ignore[operator]
            loss = loss_module(TrainingProgress(batch, n_batches), generator) / len(batches)
            loss.backward()
        total += loss.detach()
    return total


def _optimiser(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    learned = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    slow = [p for name, p in learned if name.startswith(recipe.slow)]
    ordinary = [p for name, p in learned if not name.startswith(recipe.slow)]
    groups = [
        {"params": ordinary, "share": 1.0, "weight_decay": recipe.weight_decay},
        {"params": slow, "share": SLOW_SHARE, "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.99))  # _steps sets the rate


def learning_rate(peak: float, batch: int, n_batches: int) -> float:
    """Return the rate of a batch: linear warm-up, then a cosine down to 1/50 (Loshchilov and Hutter 2017)."""
    warmth = min(1.0, (batch + 1) / min(200, max(1, n_batches // 10)))
    return peak * warmth * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * batch / n_batches)))


def _add_snapshots(state: _TrainingState, model: nn.Module, task: Task, recipe: Recipe, n_batches: int) -> None:
    """Add the snapshots that are due to the state."""
    for number, share in enumerate(recipe.snapshot_at):
        if state.step >= min(n_batches, round(share * n_batches)) and f"{number}.step" not in state.snapshots:
            if hasattr(task, "snapshot"):
                snapshot = task.snapshot(model)
            else:
                state_dict = model.state_dict()
                snapshot = {name: state_dict[name] for name in state_dict if name.startswith(recipe.snapshot_of)}
            for name, tensor in snapshot.items():
                state.snapshots[f"{number}.{name}"] = tensor.detach().cpu().half()
            state.snapshots[f"{number}.step"] = torch.tensor(state.step)


def _save(path: Path, state: _TrainingState, model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = {"run": vars(state), "model": model.state_dict(), "optimiser": optimiser.state_dict()}
    torch.save(checkpoint, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _restore(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, device: str) -> _TrainingState:
    if not path.exists():
        raise FileNotFoundError(f"Nothing to resume: there is no {path}. Leave --resume away to start anew.")
    try:
        checkpoint = torch.load(path, map_location=device, weights_only=True)
        model.load_state_dict(checkpoint["model"])
        optimiser.load_state_dict(checkpoint["optimiser"])
        return _TrainingState(**checkpoint["run"])
    except (RuntimeError, ValueError, KeyError, TypeError, EOFError, UnpicklingError):
        raise ValueError(
            f"{path} is damaged or belongs to another form of the model. Delete it, or leave --resume away."
        ) from None


def _finish(recipe: Recipe, options: Options, model: nn.Module, task: Task, state: _TrainingState, device: str) -> Path:
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
        **({"final_training_loss": round(state.loss, 4)} if state.step else {}),
        "seed": options.seed,
        "epochs": round(state.step / recipe.batches_per_epoch, 2),
        "batches": state.step,
        "wall_seconds": round(state.seconds),
        "device": describe_device(device),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "command": options.command,
    }
    if state.snapshots:
        write_weights(f"{options.result}.snapshots", state.snapshots, {"of": options.result}, options.weights)
    tensors = {
        name: tensor.half() if recipe.half and tensor.is_floating_point() else tensor
        for name, tensor in model.state_dict().items()
    }
    return write_weights(options.result, tensors, card, options.weights)
