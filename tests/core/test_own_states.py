"""Two recurrent networks over one text: what they foresee, and where the one looked back."""

import torch
from torch.testing import assert_close

from attention_core.data.language_pieces import START, WINDOW, pieces
from attention_core.models import build
from attention_core.topics.memory.own_states import cut, foresee


def untrained(name):
    torch.manual_seed(1)
    return build(name).eval().requires_grad_(False)


def test_text_is_cut_into_pieces_and_bounded():
    given = cut("  Tom ate.  ")
    assert given.labels[0] == START
    assert "".join(given.labels[1:]).strip() == "Tom ate."
    assert given.left_out == 0
    long = cut("Tom ate an apple. " * 100)
    assert (len(long.ids), len(long.labels)) == (WINDOW, WINDOW)
    assert long.left_out == len(pieces().encode(("Tom ate an apple. " * 100).strip()).ids) - WINDOW
    assert len(cut("").ids) == 1


def test_both_foresee_every_piece_from_those_before_it():
    models = untrained("language-recurrent"), untrained("language-recurrent-alone")
    given = cut("Tom ate an apple. Tom ate")
    told = foresee(*models, given)
    for model, probabilities, likeliest in zip(models, told.probabilities, told.likeliest, strict=True):
        whole = model(torch.tensor([given.ids])).logits[0].softmax(-1)
        for place, piece in enumerate(given.ids[1:]):
            assert_close(float(probabilities[place]), float(whole[place, piece]))
        assert len(likeliest) == len(given.ids)
        assert [value for _, value in likeliest[2]] == sorted((value for _, value in likeliest[2]), reverse=True)
        assert_close(likeliest[2][0][1], float(whole[2].max()))
    weights = told.trace.weights()
    assert_close(weights.triu(), torch.zeros_like(weights))  # no state sees itself or what is to come
    assert_close(weights[1:].sum(1), torch.ones(len(given.ids) - 1))
