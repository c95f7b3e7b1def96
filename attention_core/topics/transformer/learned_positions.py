"""Positions that were learned: a small model that fills in missing notes must find out which places are neighbours.

A melody is a walk on a circle of notes: each is the one before, or one up, or one down. Some are missing; the model,
one attention head whose queries and keys are learned positions, is trained to fill them in. Nothing tells it the order
of the positions: their vectors begin as noise.

To make weights/learned-positions.safetensors again: python -m attention_core.topics.transformer.learned_positions
"""

import sys
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend

NAME = "learned-positions"
N_POSITIONS, N_NOTES, D = 48, 24, 32
MISSING = N_NOTES
SHARE_MISSING = 0.25
BATCH_SIZE, LEARNING_RATE = 64, 4e-3
SNAPSHOTS = (0, 50, 100, 150, 200, 400, 800)
"""Steps of training at which the table is kept; the last one ends it."""


class MelodyFiller(nn.Module):
    """One attention head over notes with learned positions; positions alone make queries and keys.

    Source: learned absolute positions, Gehring et al. 2017; compared with sinusoids in Vaswani et al. 2017, table 3, E;
    queries and keys apart from the content: Ke et al. 2021, "TUPE".
    """

    def __init__(self) -> None:
        super().__init__()
        self.notes = nn.Embedding(N_NOTES + 1, D)
        self.positions = nn.Parameter(0.1 * torch.randn(N_POSITIONS, D))
        self.value = nn.Linear(D, D)
        self.answer = nn.Linear(D, N_NOTES)

    def forward(self, melodies: Tensor) -> Tensor:
        """Return logits (batch, N_POSITIONS, N_NOTES) from int64 (batch, N_POSITIONS), MISSING where a note is."""
        place = self.positions.expand(len(melodies), 1, -1, -1)
        value = self.value(self.notes(melodies))[:, None]
        there = (melodies != MISSING)[:, None, None]
        return self.answer(attend(place, place, value, mask=there).context[:, 0])


def melodies(n: int, generator: torch.Generator) -> Tensor:
    """Return n melodies, int64 (n, N_POSITIONS)."""
    first = torch.randint(N_NOTES, (n, 1), generator=generator)
    steps = torch.randint(-1, 2, (n, N_POSITIONS - 1), generator=generator)
    return torch.cat((first, first + steps.cumsum(1)), 1) % N_NOTES


def learn(seed: int = 0, snapshots: Sequence[int] = SNAPSHOTS) -> tuple[list[Tensor], list[float]]:
    """Train, and return the table (N_POSITIONS, D) and the share of notes filled in rightly by snapshot."""
    torch.manual_seed(seed)
    model, generator = MelodyFiller(), torch.Generator().manual_seed(seed + 1)
    optimiser = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    tables, shares = [], []
    for step in range(snapshots[-1] + 1):
        if step in snapshots:
            tables.append(model.positions.detach().clone())
            shares.append(_share_right(model, seed + 2))
        whole = melodies(BATCH_SIZE, generator)
        gone = torch.rand(whole.shape, generator=generator) < SHARE_MISSING
        loss = F.cross_entropy(model(whole.masked_fill(gone, MISSING))[gone], whole[gone])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return tables, shares


@torch.no_grad()
def _share_right(model: MelodyFiller, seed: int) -> float:
    generator = torch.Generator().manual_seed(seed)
    whole = melodies(1000, generator)
    gone = torch.rand(whole.shape, generator=generator) < SHARE_MISSING
    return float((model(whole.masked_fill(gone, MISSING)).argmax(-1)[gone] == whole[gone]).float().mean())


def main() -> int:
    from attention_core.weights import write_weights

    tables, shares = learn()
    card = {
        "data": f"random walks of {N_POSITIONS} notes on a circle of {N_NOTES}, made on the fly",
        "steps": list(SNAPSHOTS),
        "share_right": [round(share, 4) for share in shares],
        "command": "python -m attention_core.topics.transformer.learned_positions",
    }
    write_weights(NAME, {f"positions.{number}": table for number, table in enumerate(tables)}, card)
    print(f"filled in rightly after {SNAPSHOTS} steps: {[f'{share:.0%}' for share in shares]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
