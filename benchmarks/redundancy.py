"""What a translator loses without order, and without attention: python -m benchmarks.redundancy.

BLEU (beam search) of the test sentences as trained, and with one thing left out, see `ways` below.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from torch import Tensor, nn

from attention_core.attention.edits import UNIFORM, Edits
from attention_core.data.pieces import Pair, read_pairs, split_pairs
from attention_core.evaluate.translation import bleu_of
from attention_core.models import load
from attention_core.models.transformer import Transformer
from attention_core.models.translator import DecoderState, Translator
from attention_core.topics.transformer.ablation import EditedTransformer, TransformerHead, switched_off
from attention_core.topics.translate.training import ReductionCost
from benchmarks.report import publish

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
class ReducedTranslator:
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
        features, states, _ = self.model.decode(state.encoding, target, self.edits, state.cache)
        return self.model.logits(features), state._replace(cache=states[:, -1])


def shuffled(sentence: str, seed: int = 0) -> str:
    """Return a sentence with its words in a random order, a last mark left in place."""
    spoken = sentence.rstrip(".?!… ")
    words = spoken.split()
    random.Random(seed).shuffle(words)
    return " ".join(words) + sentence[len(spoken) :].rstrip()


def without_heads(model: Transformer, kind: str) -> EditedTransformer:
    """Return a transformer whose attention of one kind gives nothing, in all layers."""
    sizes = range(model.config.n_layers), range(model.config.n_heads)
    return EditedTransformer(
        model, switched_off(TransformerHead(kind, layer, head) for layer in sizes[0] for head in sizes[1])
    )


def main() -> None:
    pairs = split_pairs(read_pairs()).test
    mixed = [(shuffled(english, sum(map(ord, english))), french) for english, french in pairs]
    gru = cast(Translator, load("translator-additive", "cpu"))
    transformer = cast(Transformer, load("translator-transformer", "cpu"))
    ways: list[tuple[str, str, Callable[[], Any], list[Pair]]] = [
        ("additive", "", lambda: gru, pairs),
        ("additive", "order", lambda: gru, mixed),
        ("additive", "recurrence", lambda: ReducedTranslator(gru, reads_alone=True), pairs),
        ("additive", "choice", lambda: ReducedTranslator(gru, UNIFORM), pairs),
        ("additive", "choice_trained", partial(load, "translator-mean", "cpu"), pairs),
        ("additive", "attention_trained", partial(load, "translator-none", "cpu"), pairs),
        ("transformer", "", lambda: transformer, pairs),
        ("transformer", "order", lambda: transformer, mixed),
        ("transformer", "positions", lambda: EditedTransformer(transformer, with_positions=False), pairs),
        ("transformer", "encoder", lambda: without_heads(transformer, "encoder"), pairs),
        ("transformer", "cross", lambda: without_heads(transformer, "cross"), pairs),
    ]
    costs, n = [], 0
    for name, what, make, given in ways:
        found = bleu_of(make(), given)
        n = found["n"]
        costs.append(ReductionCost(name, what, found["bleu"], found["bleu_long"]))
        print(costs[-1], flush=True)
    rows = [["model", "without", "BLEU", "12 words and more"]]
    rows += [
        [one.model, WITHOUT.get(one.without, "(nothing)"), f"{one.bleu:.1f}", f"{one.bleu_long:.1f}"] for one in costs
    ]
    publish("redundancy", rows, {"n": n, "rows": [one._asdict() for one in costs]})


if __name__ == "__main__":
    main()
