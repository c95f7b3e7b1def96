"""What a translator loses without order, and without attention: python -m benchmarks.redundancy [--data].

The states of a recurrent network and its attention both encode the sequence: is one of them too many? BLEU (beam
search) of the test sentences as trained, with the English words shuffled, with every piece read alone, with uniform
weights; the transformer without positions, shuffled, without its encoder's attention, without looking at the source;
beside the networks that were trained without attention, or with a plain average.
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from attention_core.attention.edits import UNIFORM
from attention_core.data.tatoeba import Pair, read_pairs, split_pairs
from attention_core.evaluate.translation import bleu_of
from attention_core.models import load
from attention_core.models.transformer import Transformer
from attention_core.models.translator import Translator
from attention_core.topics.transformer.ablation import Edited, Head, switched_off
from attention_core.topics.translate.redundancy import WITHOUT, Cost, Without, shuffled
from benchmarks.report import publish


def without_heads(model: Transformer, kind: str) -> Edited:
    """Return a transformer whose attention of one kind gives nothing, in all layers."""
    sizes = range(model.config.n_layers), range(model.config.n_heads)
    return Edited(model, switched_off(Head(kind, layer, head) for layer in sizes[0] for head in sizes[1]))


def out_of_order(pairs: list[Pair]) -> list[Pair]:
    """Return the pairs with every English sentence in its own random order, the same for all of its French ones."""
    return [(shuffled(english, sum(map(ord, english))), french) for english, french in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.redundancy", description=__doc__)
    parser.add_argument("--data", help="folder of the data sets, or a tab-separated file")
    pairs = list(split_pairs(read_pairs(parser.parse_args().data)).test)
    mixed = out_of_order(pairs)
    gru = cast(Translator, load("translator-additive", "cpu"))
    transformer = cast(Transformer, load("translator-transformer", "cpu"))
    ways: list[tuple[str, str, Callable[[], Any], list[Pair]]] = [
        ("additive", "", lambda: gru, pairs),
        ("additive", "order", lambda: gru, mixed),
        ("additive", "recurrence", lambda: Without(gru, reads_alone=True), pairs),
        ("additive", "choice", lambda: Without(gru, UNIFORM), pairs),
        ("additive", "choice_trained", partial(load, "translator-mean", "cpu"), pairs),
        ("additive", "attention_trained", partial(load, "translator-none", "cpu"), pairs),
        ("transformer", "", lambda: transformer, pairs),
        ("transformer", "order", lambda: transformer, mixed),
        ("transformer", "positions", lambda: Edited(transformer, with_positions=False), pairs),
        ("transformer", "encoder", lambda: without_heads(transformer, "encoder"), pairs),
        ("transformer", "cross", lambda: without_heads(transformer, "cross"), pairs),
    ]
    costs, n = [], 0
    for name, what, make, given in ways:
        found = bleu_of(make(), given)
        n = found["n"]
        costs.append(Cost(name, what, found["bleu"], found["bleu_long"]))
        print(costs[-1], flush=True)
    rows = [["model", "without", "BLEU", "12 words and more"]]
    rows += [
        [one.model, WITHOUT.get(one.without, "(nothing)"), f"{one.bleu:.1f}", f"{one.bleu_long:.1f}"] for one in costs
    ]
    publish("redundancy", rows, {"n": n, "rows": [one._asdict() for one in costs]})


if __name__ == "__main__":
    main()
