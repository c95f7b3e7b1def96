"""What models and look-ups compute, once more and step by step."""

import math

import numpy as np
import torch

from attention_core.data.pieces import END, PAD, START, UNKNOWN
from attention_core.inference.soft_lookup import WIDTH, hash_run
from attention_core.models.translator import LENGTH_PENALTY, Translator


def softmax(scores):
    exponentials = np.exp(scores - scores.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)


def vector_by_hand(text):
    """The embedding of a text of plain lower-case words, run by run."""
    vector = np.zeros(WIDTH)
    counts = {}
    for word in text.split():
        marked = f"_{word}_"
        for size in (2, 3):
            for start in range(len(marked) - size + 1):
                run = marked[start : start + size]
                counts[run] = counts.get(run, 0) + 1
    for run, count in counts.items():
        column, sign = hash_run(run)
        vector[column] += sign * np.sqrt(count)
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def differentiated(model: Translator, source) -> torch.Tensor:
    """The same shares by automatic differentiation, one number of a vector at a time."""
    vectors = model.encode(source.ids[None]).embedded.detach().requires_grad_()
    squares = torch.zeros(len(source.words) + 1, dtype=torch.double)
    for number in model.encoder(vectors)[1].transpose(0, 1).flatten(1)[0]:
        slope = torch.autograd.grad(number, vectors, retain_graph=True)[0][0]
        squares.index_add_(0, torch.tensor(source.word_of), slope.square().sum(1))
    return squares.sqrt() / squares.sqrt().sum()


def jensen_shannon(p, q) -> float:
    """Return the square root of the mean of two Kullback-Leibler divergences from the middle, in bits."""
    middle = (p + q) / 2
    return math.sqrt(sum(float((one * np.log2(one / middle)).sum()) for one in (p, q)) / 2)


def decoded_again(model, source, width, prefix):
    """What beam search finds where every beginning is read again from its first piece, alone, at every step."""
    beam = [(list(prefix), 0.0)]
    for _ in range(max(2 * len(source) + 10, len(prefix) + 10) - len(prefix)):
        longer = [one for one in beam if one[0][-1:] == [END]]
        for ids, total in beam:
            if ids[-1:] != [END]:
                logs = model(source[None], torch.tensor([[START, *ids]])).logits[0, -1].log_softmax(-1)
                logs[[PAD, START, UNKNOWN]] = -math.inf
                longer += [([*ids, piece], total + float(logs[piece])) for piece in logs.topk(width).indices.tolist()]
        beam = sorted(longer, key=lambda one: -one[1])[:width]
    return sorted(beam, key=lambda one: (one[0][-1] == END, one[1] / len(one[0]) ** LENGTH_PENALTY), reverse=True)
