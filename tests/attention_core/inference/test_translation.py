"""Translations by word, alignments being learned, states that become one vector, likeness of words."""

import math

import pytest
import torch
from torch.testing import assert_close

from attention_core.data.pieces import END, MAX_WORDS, START, load_vocabulary, pair_words
from attention_core.data.sentence_presets import CLASSIC, LEARNED, REFERENCES
from attention_core.evaluate.translation_figures import committed_costs, learning_of, sharpness
from attention_core.inference.encoder_states import collapse
from attention_core.inference.grammar import committed_grammar, gender_probability, gendered_words
from attention_core.inference.translation import (
    explain,
    explain_layers,
    forced_translation,
    french_prefix,
    piece_probabilities,
    probability_per_word,
    read_source,
    trace_translation,
    translate,
    translation_of,
    word_view,
)
from attention_core.models import build, load
from attention_core.models.transformer import Transformer, TransformerConfig

SOURCE = read_source("My chihuahua sleeps.")
FINISHED = translation_of([*french_prefix("Mon chihuahua dort."), END])
OPEN = translation_of(french_prefix("Mon chihuahua"))


@pytest.fixture(scope="module")
def additive():
    torch.manual_seed(0)
    return build("translator-additive").eval().requires_grad_(False)


def viewed(model, translation):
    translation = translation._replace(probabilities=piece_probabilities(model, SOURCE, translation.ids))
    return word_view(explain(model, SOURCE, translation), SOURCE, translation)


def test_views_have_words_as_rows_and_columns_with_the_probabilities_of_their_pieces(additive):
    view = viewed(additive, FINISHED)
    assert view.target == ["Mon", "chihuahua", "dort", ".", "end"]
    assert view.source == view.keys == ["My", "chihuahua", "sleeps", ".", "end"]
    assert view.weights.shape == (5, 5)
    assert_close(view.weights.sum(1), torch.ones(5))
    words = viewed(additive, FINISHED)
    start, following = words.first_piece[1], words.first_piece[2]
    assert following - start == len(words.pieces_of[1]) > 1
    words, of_pieces = viewed(additive, FINISHED), piece_probabilities(additive, SOURCE, FINISHED.ids)
    assert math.prod(words.probabilities) == pytest.approx(math.prod(of_pieces))
    assert words.probabilities[0] == pytest.approx(of_pieces[0])
    fed = torch.tensor([[START, *FINISHED.ids[:-1]]])
    expected = additive(SOURCE.ids[None], fed).logits[0].softmax(-1)
    probabilities = piece_probabilities(additive, SOURCE, FINISHED.ids)
    assert probabilities == pytest.approx([float(expected[place, one]) for place, one in enumerate(FINISHED.ids)])
    assert piece_probabilities(additive, SOURCE, []) == []
    view = viewed(additive, OPEN)
    assert view.target == ["Mon", "chihuahua", "?"]
    assert math.isnan(view.probabilities[-1])
    nothing = translation_of([])
    assert viewed(additive, nothing).target == ["?"]


def test_without_attention_there_is_a_single_key_and_heads_are_averaged():
    model = build("translator-none").eval().requires_grad_(False)
    view = viewed(model, FINISHED)
    assert view.is_single
    assert_close(view.weights, torch.ones(5, 1))
    assert len(view.source) == 5
    model = Transformer(TransformerConfig(n_layers=1, n_heads=2, d_model=8, d_ff=8)).eval().requires_grad_(False)
    ids = [*load_vocabulary().cut(["le"]).ids, END]  # a piece to a word
    source, translation = read_source("The"), translation_of(ids, piece_probabilities(model, read_source("The"), ids))
    trace = explain_layers(model, source, translation)["cross", 0]
    assert_close(word_view(trace, source, translation).weights, (trace.weights(0) + trace.weights(1)) / 2)


def test_probability_per_word_is_the_root_of_a_product():
    assert probability_per_word([0.5, 0.25, 0.5], 2) == pytest.approx(0.25)
    assert probability_per_word([], 0) == 1
    assert probability_per_word([0.5, 0.0], 2) == 0


def snapshots(n_moments=3):
    """Weights from uniform to all on the first piece, as the training command keeps them."""
    cached = {}
    for number in range(n_moments):
        cached[f"{number}.step"] = torch.tensor(100.0 * number)
        for place, sides in enumerate(pair_words(list(LEARNED))):
            n_source, n_target = (len(load_vocabulary().cut(words).ids) + 1 for words in sides)
            weights = torch.full((n_target, n_source), (1 - number / (n_moments - 1)) / n_source)
            weights[:, 0] += number / (n_moments - 1)
            cached[f"{number}.weights.{place}"] = weights.half()
    return cached


def test_sentences_go_from_uniform_to_sharp():
    learned = learning_of(snapshots())
    assert len(learned) == len(LEARNED)
    for one in learned:
        assert one.source[-1] == one.target[-1] == "end"
        assert [moment.step for moment in one.moments] == [0, 100, 200]
        sharp = [moment.sharpness for moment in one.moments]
        assert sharp == sorted(sharp)
        assert sharp[-1] == pytest.approx(1)
        for moment in one.moments:
            assert moment.weights.shape == (len(one.target), len(one.source))
            assert_close(moment.weights.sum(1), torch.ones(len(one.target)), atol=2e-3, rtol=0)
    first = learning_of(snapshots())[0]
    assert first.source == ["the", "red", "car", "is", "in", "front", "of", "the", "house", ".", "end"]
    assert first.target[:3] == ["la", "voiture", "rouge"]
    assert sharpness(torch.full((4, 5), 0.2)) == pytest.approx(0, abs=1e-6)
    assert sharpness(torch.eye(5)) == 1
    assert sharpness(torch.ones(3, 1)) == 1


TEXT = "The red chihuahua."


@pytest.mark.parametrize("n", [1, 4, MAX_WORDS])
def test_any_number_of_states_becomes_one_vector(additive, n):
    collapsed = collapse(additive, TEXT, n)
    assert collapsed.states.shape == (n, 384)
    assert collapsed.context.shape == (384,)
    assert_close(collapsed.weights.sum(), torch.tensor(1.0))
    assert_close(collapsed.context, (collapsed.weights[:, None] * collapsed.states).sum(0))


def test_a_short_sentence_begins_again(additive):
    assert collapse(additive, TEXT, 6).words == ["The", "red", "chihuahua", ".", "The", "red"]


HOUSE = read_source("The red car is in front of the house.")


def told(name: str, source=HOUSE, ids: list[int] | None = None):
    """A model, what it says or is given to say, and its view by words."""
    model = load(f"translator-{name}", "cpu")
    translation = translation_of(ids, piece_probabilities(model, source, ids)) if ids else translate(model, source, 5)
    trace = (
        explain_layers(model, source, translation)["cross", 1]
        if name == "transformer"
        else explain(model, source, translation)
    )
    return model, translation, word_view(trace, source, translation)


def test_the_classic_figure_aligns_zone_and_economique_and_misses_europeenne():
    source = read_source(CLASSIC)
    _, _, view = told("additive", source, [*french_prefix(REFERENCES[CLASSIC]), END])
    best = {french: view.source[int(row.argmax())] for french, row in zip(view.target, view.weights, strict=True)}
    assert (best["accord"], best["zone"], best["économique"]) == ("agreement", "Area", "Economic")
    assert (best["signé"], best["août"], best["1992"]) == ("signed", "August", "1992")
    assert best["européenne"] == "Economic"


def test_committed_costs_say_what_order_and_attention_are_worth():
    costs = committed_costs()
    bleu_by_variant = {(one["model"], one["without"]): one["bleu"] for one in costs["rows"]}
    assert costs["n"] > 400
    for model in ("additive", "transformer"):
        unchanged = bleu_by_variant[model, ""]
        assert unchanged > 35
        assert all(bleu < unchanged for (of, without), bleu in bleu_by_variant.items() if of == model and without)


def test_an_article_keeps_its_gender_without_the_noun_and_a_pronoun_has_none():
    model, source = load("translator-additive"), read_source("The little girl has a red car.")
    translation = forced_translation(model, source, [*french_prefix("La petite fille a une voiture rouge."), END])
    view = trace_translation(model, "additive", source, (), translation).view
    words = list(gendered_words(view))
    assert [(word.form, word.opposite, view.source[word.noun]) for word in words] == [
        ("la", "le", "girl"),
        ("une", "un", "car"),
    ]
    likely = gender_probability(model, source, translation, view, words[1])
    assert min(likely[:2]) > 0.9
    assert likely.isolated < likely.learned
    model, source = load("translator-additive"), read_source("I know it well.")
    translation = forced_translation(model, source, [*french_prefix("Je le sais bien."), END])
    assert not list(gendered_words(trace_translation(model, "additive", source, (), translation).view))


@pytest.mark.parametrize("score", ["additive", "dot", "general"])
def test_committed_grammar_says_that_the_states_know_the_gender(score):
    committed = committed_grammar(score)
    right = committed["right"]
    assert committed["n"] > 300
    assert right["learned"] > 0.85
    assert -0.05 < right["learned"] - right["without_noun"] < 0.02, "not by a look at the noun"
    assert right["learned"] - right["alone"] > 0.2, "by the states"
    assert committed["masculine"] < right["alone"] < right["without_heaviest"] < right["without_noun"]
    assert committed["turned"] > 0.8 * committed["n_turned"]
