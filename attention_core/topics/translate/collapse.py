"""Many encoder states become one vector: what attention hands over."""

from itertools import cycle, islice
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.data.pieces import END, START, english_words, load_vocabulary, strip_space_mark
from attention_core.device import device_of
from attention_core.models.translator import Translator


class Collapse(NamedTuple):
    words: list[str]  # n texts
    states: Tensor  # (n, d)
    weights: Tensor  # (n,), the first decoder state's; they sum to 1
    context: Tensor  # (d,), the weighted sum


@torch.inference_mode()
def collapse(model: Translator, text: str, n: int) -> Collapse:
    """Read n words, and let the first decoder state of a translator with attention collect from their states.

    The sentence begins again where it ends. A word of several pieces counts with the state of its last piece; the
    sentence's end is read but not counted.
    """
    taken = list(islice(cycle(english_words(text)), n))
    cut = load_vocabulary().cut([word.lower() for word in taken])
    device = device_of(model)
    encoding = model.encode(torch.tensor([[*cut.ids, END]], device=device))
    last_piece = {word: piece for piece, word in enumerate(cut.word_of)}
    states = encoding.states[0, [last_piece[word] for word in range(n)]]
    start = model.start(encoding.last).tanh()
    query, _ = model.decoder(model.embedding(torch.tensor([[START]], device=device)), start[None])
    weights = model.score()(query[0], states)[0].softmax(-1)
    return Collapse([strip_space_mark(word) for word in taken], states, weights, weights @ states)
