"""The multiplied vectors of a translator, likeness of its vectors, how much French owes to English, things left out."""

import math

import pytest
import torch

from attention_core.attention.edits import UNIFORM
from attention_core.data.pieces import END
from attention_core.data.sentence_presets import CLASSIC, GIVEN
from attention_core.models import load
from attention_core.topics.translate.training import committed_costs
from attention_core.topics.translate.translation import (
    explain,
    explain_layers,
    french_prefix,
    likeness,
    n_agreeing,
    parts_of_context,
    piece_probabilities,
    read_source,
    told_by_source,
    translate,
    translation_of,
    word_view,
)
from benchmarks.redundancy import ReducedTranslator, shuffled

SOURCE = read_source("The red car is in front of the house.")


def told(name: str, source=SOURCE, ids: list[int] | None = None):
    """A model, what it says or is given to say, its trace and its view by words."""
    model = load(f"translator-{name}", "cpu")
    made = translation_of(ids, piece_probabilities(model, source, ids)) if ids else translate(model, source, 5)
    trace = explain_layers(model, source, made)["cross", 1] if name == "transformer" else explain(model, source, made)
    return model, made, trace, word_view(trace, source, made, made.probabilities)


@pytest.mark.parametrize("name", ["none", "mean", "dot", "additive", "transformer"])
def test_multiplied_vectors_add_up_to_the_context(name):
    _, _, trace, _ = told(name)
    for head in range(trace.n_heads):
        for query in range(trace.n_queries):
            parts = parts_of_context(trace, head, query)
            whole = torch.zeros_like(parts.context)
            for key in range(trace.n_keys):
                whole += float(trace.weights(head)[query, key]) * trace.value_of(head)[key]
            torch.testing.assert_close(parts.vectors.sum(0), whole, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(parts.context, whole, atol=1e-5, rtol=1e-5)
            assert float(parts.shares.sum()) == pytest.approx(1, abs=1e-4)


def test_cosines_are_those_of_single_vectors():
    source = read_source("My chihuahua sleeps.")
    model, made, trace, view = told("additive", source)
    alike = likeness(model, trace, source, made, view)
    assert alike.keys.shape == alike.words.shape == view.weights.shape

    def cosine(one, other):
        return float(one @ other) / math.sqrt(float(one @ one) * float(other @ other))

    for row, first in enumerate(view.first_piece):
        last = [*view.first_piece, len(made.ids)][row + 1]
        french = sum(model.embedding.weight[piece] for piece in made.ids[first:last]) / (last - first)
        for word in range(len(source.words) + 1):
            own = [piece for piece, of in enumerate(source.word_of) if of == word]
            key = sum(trace.key[0, piece] for piece in own) / len(own)
            english = sum(model.embedding.weight[source.ids[piece]] for piece in own) / len(own)
            assert float(alike.keys[row, word]) == pytest.approx(cosine(trace.query[0, first], key), abs=1e-5)
            assert float(alike.words[row, word]) == pytest.approx(cosine(french, english), abs=1e-5)


def test_dot_attention_follows_the_likeness_of_state_and_key_and_additive_does_not():
    agreeing = {}
    for name in ("dot", "additive"):
        model, made, trace, view = told(name)
        agreeing[name] = n_agreeing(view.weights, likeness(model, trace, SOURCE, made, view).keys), len(view.target)
    assert agreeing["dot"] == (9, 9)
    assert agreeing["additive"][0] < 3


def test_an_unfinished_sentence_has_no_vector_for_what_is_not_said():
    ids = french_prefix("La voiture")
    model, made, trace, view = told("dot", SOURCE, ids)
    alike = likeness(model, trace, SOURCE, made, view)
    assert alike.words[-1].isnan().all()
    assert alike.words[:-1].isfinite().all()


def test_the_classic_figure_aligns_zone_and_economique_and_misses_europeenne():
    source = read_source(CLASSIC)
    _, _, _, view = told("additive", source, [*french_prefix(GIVEN[CLASSIC]), END])
    best = {french: view.source[int(row.argmax())] for french, row in zip(view.target, view.weights, strict=True)}
    assert (best["accord"], best["zone"], best["économique"]) == ("agreement", "Area", "Economic")
    assert (best["signé"], best["août"], best["1992"]) == ("signed", "August", "1992")
    assert best["européenne"] == "Economic"


@pytest.mark.parametrize("name", ["none", "additive", "transformer"])
def test_french_that_belongs_to_the_english_is_told_by_it(name):
    model = load(f"translator-{name}", "cpu")
    right, wrong = french_prefix("La voiture rouge est devant la maison."), french_prefix("Je voudrais boire du café.")
    assert told_by_source(model, SOURCE, right) > 1.5
    assert told_by_source(model, SOURCE, wrong) < 0.5
    assert told_by_source(model, SOURCE, []) == 0
    classic = told_by_source(model, read_source(CLASSIC), french_prefix(GIVEN[CLASSIC]))
    assert classic > 1.5


def test_nothing_left_out_changes_nothing_and_a_piece_read_alone_knows_no_neighbours():
    model, ids = load("translator-additive", "cpu"), SOURCE.ids[None]
    said = torch.tensor([[1, 5, 9]])
    torch.testing.assert_close(
        ReducedTranslator(model).step(ReducedTranslator(model).begin(ids), said)[0],
        model.step(model.begin(ids), said)[0],
    )
    states = ReducedTranslator(model, reads_alone=True).begin(ids).encoding.states[0]
    for place, piece in enumerate(SOURCE.ids):
        torch.testing.assert_close(states[place], model.encode(piece.view(1, 1)).states[0, 0])
    uniform = ReducedTranslator(model, UNIFORM)
    assert translate(uniform, SOURCE, 5).text != translate(model, SOURCE, 5).text


def test_shuffled_words_are_the_same_words_and_keep_the_mark():
    text = "I don't know where he bought this book."
    other = shuffled(text, 1)
    assert other != text
    assert other.endswith(".")
    assert sorted(other[:-1].split()) == sorted(text[:-1].split())
    assert [shuffled("Hello!"), shuffled("?"), shuffled("")] == ["Hello!", "?", ""]


def test_committed_costs_say_what_order_and_attention_are_worth():
    costs, n = committed_costs()
    found = {(one.model, one.without): one for one in costs}
    assert n > 400
    for model in ("additive", "transformer"):
        whole = found[model, ""].bleu
        assert whole > 35
        assert all(one.bleu < whole for one in costs if one.model == model and one.without)
