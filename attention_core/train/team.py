"""One training by several processes, as torchrun starts them; a process that nobody else helps is a team of one."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class Team:
    """This process, by its rank from 0, and those beside it; the first one alone writes files."""

    rank: int = 0
    size: int = 1

    @contextmanager
    def first_alone(self) -> Iterator[None]:
        """Let the first process do something, such as fill a cache, before the others."""
        if self.rank:
            dist.barrier()
        yield
        if self.size > 1 and not self.rank:
            dist.barrier()

    def together(self, losses: nn.Module) -> nn.Module:
        """Return a module that gives all processes the mean of their gradients; parameters start as the first one's."""
        return losses if self.size == 1 else DistributedDataParallel(losses, find_unused_parameters=True)

    def apart(self, losses: nn.Module) -> AbstractContextManager[None]:
        """Keep a gradient here for now: another one of the same step follows."""
        return losses.no_sync() if isinstance(losses, DistributedDataParallel) else nullcontext()

    def mean(self, value: Tensor) -> float:
        if self.size > 1:
            dist.all_reduce(value)
        return value.item() / self.size


@contextmanager
def gathered(device: str) -> Iterator[Team]:
    """Meet the other processes that torchrun has started, each on a device of its own if it is cuda."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield Team()
        return
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    try:
        yield Team(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
