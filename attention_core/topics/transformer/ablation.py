"""What a transformer makes of a sentence with heads switched off, without positions, or with its words shuffled."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.edits import DropHead, dropped
from attention_core.attention.trace import AttentionTrace
from attention_core.data.pieces import START
from attention_core.device import device_of
from attention_core.models.transformer import KINDS, EditsByPlace, Transformer
from attention_core.models.translator import DecoderState
from attention_core.topics.translate.translation import SourceSentence, Translation


class TransformerHead(NamedTuple):
    """One head of the transformer."""

    kind: str  # "encoder", "decoder" or "cross"
    layer: int  # from 0
    head: int  # from 0

    @property
    def label(self) -> str:
        return f"{self.kind}, layer {self.layer + 1}, head {self.head + 1}"


def switched_off(heads: Iterable[TransformerHead]) -> EditsByPlace:
    """Return the edits that set the contexts of these heads to 0."""
    return dropped(((kind, layer), head) for kind, layer, head in heads)


@dataclass(frozen=True, eq=False)
class EditedTransformer:
    """A transformer with edits, for beam search and for everything else that a translator is asked."""

    model: Transformer  # the transformer; it is not changed
    edits: EditsByPlace = field(default_factory=dict)  # by (kind, layer)
    with_positions: bool = True  # False leaves the positions out of encoder and decoder

    def parameters(self) -> Iterator[nn.Parameter]:
        return self.model.parameters()

    def begin(self, source: Tensor) -> DecoderState:
        """Read source sentences, int64 (batch, n_source)."""
        return self.model.begin(source, self.edits, with_positions=self.with_positions)

    def step(self, state: DecoderState, target: Tensor) -> tuple[Tensor, DecoderState]:
        """Return logits (n_rows, n, VOCABULARY_SIZE) after each of target pieces (n_rows, n), and the state then."""
        return self.model.step(state, target, self.edits, with_positions=self.with_positions)


@torch.inference_mode()
def head_importance(
    model: Transformer, source: SourceSentence, made: Translation, kinds: Iterable[str] = KINDS
) -> dict[str, Tensor]:
    """Return what the translation by the unedited model loses in log-probability when one head alone is switched off.

    Returns:
        for each kind (n_layers, n_heads), in nats; positive = the translation becomes less probable without the head.

    Source: Michel et al. 2019, "Are sixteen heads really better than one?"; Voita et al. 2019.
    """
    n_layers, n_heads, device = model.config.n_layers, model.config.n_heads, device_of(model)
    n = n_layers * n_heads + 1  # a row for each head, and one with all of them
    fed, wanted = (torch.tensor(ids, device=device).expand(n, -1) for ids in ([START, *made.ids[:-1]], made.ids))
    worth = {}
    for kind in kinds:
        edits = {
            (kind, layer): [DropHead(head, item=n_heads * layer + head) for head in range(n_heads)]
            for layer in range(n_layers)
        }
        asked = source.ids.to(device).expand(1 if kind == "decoder" else n, -1)  # its own heads read nothing of this
        features = model.decode(model.encode(asked, interventions=edits), fed, edits)[0]
        logs = model.logits(features).log_softmax(-1).gather(2, wanted[..., None]).cpu().double().sum((1, 2))
        worth[kind] = (logs[-1] - logs[:-1]).view(n_layers, n_heads).float()
    return worth


CLEAR = 0.35  # a head has a habit when its queries give at least this share to one place, on average


class Habit(NamedTuple):
    words: str  # for people, such as "the piece before"
    share: float  # of the weights that goes there, mean over the queries that have such a place


def habits(weights: Tensor, *, of_itself: bool) -> list[Habit]:
    """Return where the queries look on average by weights (n_queries, n_keys), largest share first.

    Source: positional heads, Voita et al. 2019, section 5; Clark et al. 2019, section 3.
    """
    n_queries, n_keys = weights.shape
    found = [Habit("the last piece", float(weights[:, -1].mean()))]
    if of_itself:
        found.append(Habit("itself", _diagonal(weights, 0)))
        found.append(Habit("the first piece", float(weights[1:, 0].mean()) if n_queries > 1 else 0.0))
        if n_keys > 1:
            found.append(Habit("the piece before", _diagonal(weights, -1)))
            found.append(Habit("the piece after", _diagonal(weights, 1)))
    return sorted(found, key=lambda habit: -habit.share)


def habit_words(trace: AttentionTrace, head: int) -> str:
    """Return one phrase for a head of a trace: its clearest habit, or how widely it looks."""
    weights = trace.weights(head)
    best = habits(weights, of_itself=trace.story.query_axis is trace.story.key_axis)[0]
    if best.share >= CLEAR:
        return f"{best.share:.0%} on {best.words}"
    bits = float(-torch.xlogy(weights, weights).sum(1).mean()) / math.log(2)
    return f"spread over about {2**bits:.1f} pieces"


def _diagonal(weights: Tensor, offset: int) -> float:
    """Return the mean of a diagonal; those whose place is beyond the edge do not count."""
    diagonal = weights.diagonal(offset)
    return float(diagonal.mean()) if len(diagonal) else 0.0


class OrderComparison(NamedTuple):
    """What the encoder makes of a sentence and of the same words in another order."""

    order: Tensor  # int64 (n,), place in the original of each piece of the shuffled sentence
    states: Tensor  # (n, d_model) of the original
    shuffled_states: Tensor  # (n, d_model) of the shuffled sentence
    likeness: Tensor  # (n, n) cosine of each original state (row) with each state of the shuffled sentence (column)
    largest: float  # largest absolute difference of any number of any piece's state


def word_order(n_words: int, how: str, seed: int = 0) -> list[int]:
    """Return an order, "reversed" or "shuffled" (never as it was, if possible); ValueError for other ways."""
    if how == "reversed":
        return list(range(n_words))[::-1]
    if how != "shuffled":
        raise ValueError(f"how must be 'shuffled' or 'reversed', got {how!r}")
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(n_words, generator=generator).tolist()
    if n_words > 1 and order == list(range(n_words)):
        order = [*order[1:], order[0]]
    return order


def reordered(source: SourceSentence, order: list[int]) -> tuple[SourceSentence, Tensor]:
    """Return the sentence with its words in another order, and the place that each of its pieces had, int64 (n,).

    Pieces of a word stay together; a last mark, and the end, stay in place.

    Raises:
        ValueError: order is no permutation of the words that may move.
    """
    n_words = movable_words(source)
    if sorted(order) != list(range(n_words)):
        raise ValueError(f"order must be a permutation of the {n_words} words, got {order}")
    whole = [*order, *range(n_words, len(source.words) + 1)]
    places = [place for word in whole for place, owner in enumerate(source.word_of) if owner == word]
    new_number = {word: number for number, word in enumerate(whole)}
    new = SourceSentence(
        words=[source.word_labels[word] for word in whole[:-1]],
        ids=source.ids[places],
        labels=[source.labels[place] for place in places],
        word_of=[new_number[source.word_of[place]] for place in places],
        n_dropped=source.n_dropped,
    )
    return new, torch.tensor(places)


def movable_words(source: SourceSentence) -> int:
    """Return how many of the first words change places: all, but for a mark that ends the sentence."""
    n_words = len(source.words)
    return n_words - 1 if n_words > 1 and source.words[-1] in ".?!…" else n_words


@torch.inference_mode()
def compare_orders(
    model: Transformer, source: SourceSentence, order: list[int], *, with_positions: bool
) -> OrderComparison:
    """Encode a sentence and the same words in another order, and compare the states piece by piece.

    Source: permutation equivariance of self-attention, Yun et al. 2020, claim 1; positions: Vaswani et al. 2017,
    section 3.5.
    """
    device = device_of(model)
    other, places = reordered(source, order)
    states, moved = (
        model.encode(ids[None].to(device), with_positions=with_positions).states[0].cpu()
        for ids in (source.ids, other.ids)
    )
    back = moved[places.argsort()]
    likeness = torch.nn.functional.normalize(states, dim=-1) @ torch.nn.functional.normalize(moved, dim=-1).T
    return OrderComparison(places, states, moved, likeness, float((states - back).abs().max()))
