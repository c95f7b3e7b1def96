"""What the last states and a context know of each word: against automatic differentiation; longer sentences."""

import pytest
import torch

from attention_core.data.pieces import MOST_WORDS, START, english_words
from attention_core.data.sentence_presets import REMEMBERED
from attention_core.models import load
from attention_core.models.translator import SourceEncoding, Translator, TranslatorConfig
from attention_core.topics.memory.cure import AROUND, last_states_know, longer, what_is_known
from attention_core.topics.translate.translation import french_prefix, read_source, translate


def tiny(scoring: str, cell: str = "gru") -> Translator:
    torch.manual_seed(3)
    return Translator(TranslatorConfig(scoring, cell, d_embedding=6, d_state=8, d_additive=5)).double().eval()


def differentiated(model: Translator, source, said: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The same shares by automatic differentiation, one number of a vector at a time."""
    encoding = model.encode(source.ids[None])
    vectors = encoding.embedded.detach().requires_grad_()
    states, last = model.encoder(vectors)
    ends = last.transpose(0, 1).flatten(1)
    target = torch.tensor([[START, *said]])
    _, queries, attended = model.decode(SourceEncoding(vectors, states, ends, None), target)
    found = []
    for whole in (ends[0], attended.context.reshape(queries.shape)[0, -1]):
        squares = torch.zeros(len(source.words) + 1, dtype=torch.double)
        for number in whole:
            slope = torch.autograd.grad(number, vectors, retain_graph=True)[0][0]
            squares.index_add_(0, torch.tensor(source.word_of), slope.square().sum(1))
        found.append(squares.sqrt() / squares.sqrt().sum())
    return found[0], found[1]


@pytest.mark.parametrize("scoring", ["additive", "dot", "general", "mean"])
@pytest.mark.parametrize("cell", ["gru", "rnn"])
def test_shares_are_those_of_automatic_differentiation(scoring, cell):
    model, source = tiny(scoring, cell), read_source("My chihuahua Zorglub hates the sea.")
    said = french_prefix("Mon chien")
    known = what_is_known(model, source, said)
    last, context = differentiated(model, source, said)
    torch.testing.assert_close(known.last, last)
    torch.testing.assert_close(known.context, context)
    torch.testing.assert_close(known.weights.sum(), torch.ones((), dtype=torch.double))


def test_a_context_follows_a_nudged_vector_as_its_gradient_says():
    model, source = tiny("additive"), read_source("The red car is here.")
    known = what_is_known(model, source, [])
    with torch.no_grad():
        vectors = model.embedding(source.ids)[None]

        def context(of: torch.Tensor) -> torch.Tensor:
            states, last = model.encoder(of)
            encoding = SourceEncoding(of, states, last.transpose(0, 1).flatten(1), None)
            return model.decode(encoding, torch.tensor([[START]]))[2].context.flatten()

        squares, small = torch.zeros(len(source.ids), dtype=torch.double), 1e-5
        for place in range(len(source.ids)):
            for number in range(vectors.shape[-1]):
                nudge = torch.zeros_like(vectors)
                nudge[0, place, number] = small
                change = (context(vectors + nudge) - context(vectors - nudge)) / (2 * small)
                squares[place] += change.square().sum()
    torch.testing.assert_close(known.context, squares.sqrt() / squares.sqrt().sum(), rtol=1e-5, atol=1e-7)


def test_sister_is_forgotten_and_given_back():
    model, source = load("translator-additive", "cpu"), read_source(REMEMBERED["Fifteen words"])
    made = translate(model, source, 5)
    for french, english, kept, back in (("sœur", "sister", 0.046, 0.391), ("malade", "ill", 0.022, 0.326)):
        known = what_is_known(model, source, made.ids[: made.labels.index(french)])
        place = source.words.index(english)
        assert int(known.weights.argmax()) == place
        assert float(known.last[place]) == pytest.approx(kept, abs=2e-3)
        assert float(known.context[place]) == pytest.approx(back, abs=2e-3)
        assert float(last_states_know(model, source)[place]) == pytest.approx(kept, abs=2e-3)


def test_a_sentence_grows_at_both_ends_until_it_is_too_long():
    ways = longer("The red car stopped here!")
    assert len(ways) == 1 + len(AROUND)
    for way in ways:
        words = read_source(way.english).words
        assert words[way.n_before : way.n_before + 5] == ["The", "red", "car", "stopped", "here"]
        assert words[-1] == "!"
        assert len(words) == 6 + way.n_added <= MOST_WORDS
    assert ways[0].before == []
    assert ways[1].before == french_prefix(AROUND[0][1])
    forty = " ".join(["the red car and"] * 10)
    assert len(english_words(forty)) == 40
    assert [way.n_added for way in longer(forty)] == [0]
