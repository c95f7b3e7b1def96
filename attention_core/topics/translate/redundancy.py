"""Is the order of words learned twice, by the states and by attention? One thing is left out at a time."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor, nn

from attention_core.attention.edits import Edits
from attention_core.files import find_file, written_figures
from attention_core.models.beam_search import DecoderState
from attention_core.models.translator import Translator

COMMITTED = find_file("benchmarks/results/redundancy.json")

WITHOUT = {
    "order": "the order of the English words, which are shuffled",
    "recurrence": "neighbours in the keys: every piece is read alone",
    "choice": "chosen weights: all are equal",
    "choice_trained": "chosen weights, trained so",
    "attention_trained": "attention, trained so",
    "positions": "positions",
    "encoder": "attention among the English pieces",
    "cross": "attention to the English",
}
"""What is left out, in words."""


@dataclass(frozen=True, eq=False)
class Without:
    """A recurrent translator with something left out, for beam search and whatever else a translator is asked."""

    model: Translator  # it is not changed
    edits: Edits = ()  # inside its attention
    reads_alone: bool = False  # each piece's state knows that piece only; the start of the decoder is as trained

    def parameters(self) -> Iterator[nn.Parameter]:
        return self.model.parameters()

    def begin(self, source: Tensor) -> DecoderState:
        """Read source sentences, int64 (batch, n_source)."""
        state = self.model.begin(source)
        if not self.reads_alone:
            return state
        alone = self.model.encode(source.reshape(-1, 1)).states.view_as(state.encoding.states)
        return state._replace(encoding=state.encoding._replace(states=alone))

    def step(self, state: DecoderState, target: Tensor) -> tuple[Tensor, DecoderState]:
        """Return logits (n_rows, n, VOCABULARY_SIZE) after each of target pieces (n_rows, n), and the state then."""
        features, states, _ = self.model.decode(state.encoding, target, self.edits, state.said)
        return self.model.logits(features), state._replace(said=states[:, -1])


def shuffled(sentence: str, seed: int = 0) -> str:
    """Return a sentence with its words in a random order, a last mark left in place."""
    spoken = sentence.rstrip(".?!… ")
    words = spoken.split()
    random.Random(seed).shuffle(words)
    return " ".join(words) + sentence[len(spoken) :].rstrip()


class Cost(NamedTuple):
    """What a translator is worth with something left out."""

    model: str  # "additive" or "transformer"
    without: str  # what is left out, one of WITHOUT; "" = nothing
    bleu: float  # over all sentences
    bleu_long: float  # over those of twelve words and more


def committed_costs() -> tuple[list[Cost], int]:
    """Return the figures that `python -m benchmarks.redundancy` wrote and how many sentences; none if it is missing."""
    found = written_figures(COMMITTED)
    if found is None:
        return [], 0
    return [Cost(**row) for row in found["rows"]], found["n"]
