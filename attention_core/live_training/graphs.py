"""Ask the neighbours in a graph: each node looks for the one that has its colour, and says the number beside it."""

import re
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.types import Axis
from attention_core.device import choose_device, device_of, to_array
from attention_core.live_training import lesson
from attention_core.live_training.lesson import LessonOptions, LiveSettings, Look
from attention_core.live_training.lookup import N_VALUES, heads_of
from attention_core.train.loop import TrainingProgress

BATCH_SIZE, N_HELD_OUT, DENSITY = 64, 500, 0.4
COLOURS = ("red", "red", "red", "red", "green", "green", "green", "green", "blue", "blue", "blue", "blue")
NUMBERS = (4, 1, 7, 3, 9, 0, 5, 2, 8, 6, 1, 5)
"""Beside the nodes A to L of a visitor's graph; in every other one they are drawn anew."""
NODES = "ABCDEFGHIJKL"


def read_edges(text: str) -> Tensor:
    """Return who sees whom, bool (n, n), of edges that are written as pairs of nodes; other words are left out."""
    sees = torch.zeros(len(NODES), len(NODES), dtype=torch.bool)
    for edge in re.findall(f"\\b([{NODES}])-?([{NODES}])\\b", text.upper()):
        first, second = map(NODES.index, edge)
        sees[first, second] = sees[second, first] = first != second
    return sees


class GraphLesson(lesson.Lesson):
    """Twelve nodes of three colours; controls: every neighbour alike, and the node alone.

    Attention over the edges of a graph, as in Veličković et al. 2018, "Graph attention networks", with a scaled dot
    product as score.
    """

    n_steps, seconds = 200, 8

    def __init__(self, settings: LiveSettings) -> None:
        super().__init__(settings, OPTIONS.rate[settings.rate])
        device = choose_device()
        self._colour = torch.tensor([[*dict.fromkeys(COLOURS)].index(colour) for colour in COLOURS], device=device)
        self._held_out = self._draw_graphs(N_HELD_OUT, torch.Generator(device).manual_seed(2023))

    def _draw_graphs(self, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Return who sees whom in n graphs (n, nodes, nodes), and numbers and right answers (n, nodes).

        Nodes have no place, so that which of them are partners need not change.
        """
        shape, device = (n, len(NODES), len(NODES)), generator.device
        chance = torch.rand(shape, generator=generator, device=device).triu(1)
        differs_in_colour = self._colour[:, None] != self._colour
        partner = torch.arange(len(NODES), device=device) ^ 1
        sees = (chance + chance.mT < DENSITY) & differs_in_colour | (partner[:, None] == (partner ^ 1))
        numbers = torch.randint(N_VALUES, shape[:2], generator=generator, device=device)
        return sees, numbers, numbers[:, partner]

    def models(self) -> dict[str, nn.Module]:
        return heads_of(self.settings, OPTIONS, len({*COLOURS}))

    def _inputs(self, sees: Tensor, numbers: Tensor) -> dict[str, Tensor]:
        """Return what a model is given: colours as queries and keys, and edges as mask, unless they are left out."""
        colours = F.one_hot(self._colour).float().expand(len(numbers), -1, -1)
        mask = torch.ones_like(sees) if self.settings.broken == lesson.EDGES else sees
        return {"queries": colours, "keys": colours, "values": numbers, "mask": mask[:, None]}

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        sees, numbers, labels = self._draw_graphs(BATCH_SIZE, generator)
        if self.settings.broken == lesson.LABELS:
            order = torch.randperm(labels.numel(), generator=generator, device=generator.device)
            labels = labels.flatten()[order].view_as(labels)
        return F.cross_entropy(model(**self._inputs(sees, numbers)).flatten(0, 1), labels.flatten())

    def accuracy(self, model: nn.Module) -> float:
        sees, numbers, labels = self._held_out
        return float((model(**self._inputs(sees, numbers)).argmax(-1) == labels).float().mean())

    def remark(self, text: str) -> str:
        isolated = [node for node, sees in zip(NODES, read_edges(text).tolist(), strict=True) if not any(sees)]
        if not isolated or self.settings.broken == lesson.EDGES:
            return ""
        return f"No edge leads to {', '.join(isolated)}: a node without neighbours takes nothing."

    def look(self, model: Any, text: str) -> Look:
        """Return how much each node takes from its neighbours, and the numbers that they say."""
        device = device_of(model)
        sees = read_edges(text)
        inputs = self._inputs(sees[None].to(device), torch.tensor([NUMBERS], device=device))
        answers = model(**inputs)[0].argmax(-1).tolist()
        partners = (sees & (self._colour[:, None] == self._colour).cpu()).tolist()
        sought = [[NUMBERS[j] for j, is_partner in enumerate(row) if is_partner] for row in partners]
        nodes = [f"{node} {colour}" for node, colour in zip(NODES, COLOURS, strict=True)]
        return Look(
            to_array(model.attended(**inputs).weights[0, 0]),
            Axis("nodes", nodes),
            Axis("nodes", [f"{node} = {number}" for node, number in zip(nodes, NUMBERS, strict=True)]),
            f"Says {' '.join(f'{node}{number}' for node, number in zip(NODES, answers, strict=True))}",
            tuple(map(str, answers)),
            tuple(right[0] == said if len(right) == 1 else None for right, said in zip(sought, answers, strict=True)),
        )


OPTIONS = LessonOptions(
    GraphLesson,
    size={"small": 8, "medium": 16, "large": 32},  # d_k
    rate={"low": 0.003, "usual": 0.01, "high": 0.03},
    broken=("", lesson.LABELS, lesson.EDGES, lesson.SCALE),
    share=(100,),  # graphs are drawn anew for every batch
)
