"""What attention gives back: how much of each English word the last state knows, and the context at a French word.

Both by the gradient's share, as in influence.py. The context c = sum of w_j h_j depends on a word vector in three
ways: through the states h_j, through the weights by the keys, and through the weights by the query s, which goes back
to the encoder's last states. With e_j the score of query and key, and w = softmax(e):

    dc / dh_j = w_j (I + (h_j - c) de_j/dh_j),        dc / ds = sum of w_j (h_j - c) de_j/ds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.scores import Score
from attention_core.data.pieces import START
from attention_core.device import device_of
from attention_core.models.translator import Translator
from attention_core.topics.memory.influence import (
    DIRECTIONS,
    Jacobians,
    decoder_jacobians,
    encoder_jacobians,
    gradient_norms,
    shares,
)
from attention_core.topics.translate.translation import SourceSentence


class WordKnowledge(NamedTuple):
    """What is known of each English word, the end included: shares, each sums to 1, (n_words + 1,)."""

    last: Tensor  # by the encoder's two last states end to end, all that a decoder without attention gets
    context: Tensor  # by the context when a French piece is said
    weights: Tensor  # the attention of that moment


@torch.inference_mode()
def word_knowledge(model: Translator, source: SourceSentence, said: Sequence[int]) -> WordKnowledge:
    """Return what the last states know of each English word, and the context after some French pieces were said.

    The model is a recurrent translator whose decoder attends to all states.
    """
    device = device_of(model)
    encoding = model.encode(source.ids[None].to(device))
    first, states = model.first_state(encoding)[0], encoding.states[0]
    decoder = decoder_jacobians(model, torch.tensor([START, *said], device=device), first)
    query = decoder.states_and_gates.states[-1]
    scores, by_query, by_key = _score_slopes(model.score(), query, states)
    weights = scores.softmax(-1)
    apart = weights[:, None] * (states - weights @ states)  # w_j (h_j - c)
    of_start = apart.T @ by_query
    for place in reversed(range(len(said) + 1)):
        of_start = of_start @ decoder.by_state[place]
    of_last = of_start * (1 - first.square()) @ model.start.weight
    halves = zip(DIRECTIONS, of_last.chunk(2, 1), by_key.chunk(2, 1), (0, states.shape[1] // 2), strict=True)
    forward, backward = (
        _to_inputs(encoder_jacobians(model, source.ids, way), weights, apart, slopes, last, offset, way == "backward")
        for way, last, slopes, offset in halves
    )
    by_piece = torch.stack(((forward + backward).square().sum((1, 2)), weights))
    word_of = torch.tensor(source.word_of, device=device)
    by_word = weights.new_zeros(2, source.word_of[-1] + 1).index_add(1, word_of, by_piece)
    return WordKnowledge(last_state_shares(model, source), shares(by_word[0].sqrt()).cpu(), by_word[1].cpu())


def last_state_shares(model: Translator, source: SourceSentence) -> Tensor:
    """Return what the encoder's two last states, end to end, know of each English word: shares, (n_words + 1,)."""
    ends = [gradient_norms(model, source.ids, way, source.word_of) for way in DIRECTIONS]
    return shares(torch.stack(ends).norm(dim=0))


def _score_slopes(score: Score, query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the scores of a query (d,) and keys (n, d), and how each changes with its query and its key, (n, d)."""
    with torch.inference_mode(False), torch.enable_grad():
        queries = query.clone().expand(keys.shape).clone().requires_grad_()
        asked = keys.clone().requires_grad_()
        scores = score(queries, asked).diagonal()
        both = torch.autograd.grad(scores.sum(), (queries, asked), allow_unused=True, materialize_grads=True)
    by_query, by_key = both
    return scores.detach(), by_query, by_key


def _to_inputs(
    steps: Jacobians, weights: Tensor, apart: Tensor, by_key: Tensor, of_last: Tensor, offset: int, is_reversed: bool
) -> Tensor:
    """Return dc / dx for every piece's vector as far as one direction's states lead there, (n, d, d_x)."""
    places = range(len(weights)) if is_reversed else range(len(weights))[::-1]
    d = by_key.shape[1]
    straight = torch.eye(len(of_last), d + offset).to(of_last)[:, offset:]
    found, through = [], of_last
    for step, place in zip(reversed(range(len(weights))), places, strict=True):
        through = through + weights[place] * straight + apart[place][:, None] * by_key[place]
        found.append(through @ steps.by_input[step])
        through = through @ steps.by_state[step]
    return torch.stack(found if is_reversed else found[::-1])
