"""The section that asks whether a map explains its answer, on every page that has it."""

import re

import pytest

from attention_core.attention.edits import Uniform
from attention_core.attention.wording import percent
from attention_core.faithfulness import subjects
from attention_core.faithfulness.assessment import RANDOM, assess
from attention_core.faithfulness.attribution import ATTENTION
from attention_core.faithfulness.model_subject import model_subject
from attention_core.faithfulness.variation import AdversarialWeights
from attention_core.hub.run import TextInput
from attention_core.inference.pretrained import load_model, prepare
from attention_core.inference.sentiment import read_sentence
from attention_core.links import pack
from attention_core.models import load
from tests.support.app import frames, html_of, rerun, text_of
from ui.edits import ListedEdit
from ui.faithfulness import AS_LEARNED, describe_adversarial

PAGES = ("pixels", "read", "ask", "matter", "translate", "transformer", "groups")


def curves(page) -> dict[str, list[float]]:
    """Return the curves of deletion that are drawn."""
    (data,) = (frame for frame in frames(page) if {"order", "erased", "probability"} <= set(frame.columns))
    return {order: rows["probability"].tolist() for order, rows in data.groupby("order", sort=False)}


@pytest.mark.parametrize("name", PAGES)
def test_the_section_says_whether_the_map_points_at_what_is_needed(visit, name):
    page = visit(name, tab="doubts")
    assert not page.exception
    assert "Here the map" in text_of(page)
    assert "Shuffled, these weights move" in text_of(page)
    assert list(curves(page)) == ["attention", "random"]
    drawn = curves(rerun(page, **{f"{name}_doubts_way": "gradients"}))
    assert list(drawn) == ["attention", "gradient × input", "integrated gradients", "random"]
    assert len({round(values[0], 4) for values in drawn.values()}) == 1  # nothing is erased yet


def test_where_the_search_found_no_other_weights_none_are_called_the_most_different():
    assert describe_adversarial(AdversarialWeights({}, 0.0, 0.0)).startswith("No different ones were found")


def test_weights_without_softmax_are_no_shares_and_have_no_section(visit):
    page = visit("pixels", layer="pixel-notes-product", question="doubts")
    assert "Without a softmax weights are no shares." in text_of(page)
    assert "Here the map" not in text_of(page)


def test_heads_are_ranked_and_inserted_parts_and_orders_through_layers_drawn(visit):
    page = visit("transformer", question="doubts")
    (data,) = (frame for frame in frames(page) if {"label", "value"} == set(frame.columns))
    assert len(data) == 12
    assert data["value"].is_monotonic_decreasing
    assert f"**Without {data['label'][0]}**" in text_of(page)
    assert "of the 54 heads" in text_of(page)
    page = rerun(page, transformer_doubts_way="inserted")
    (data,) = (frame for frame in frames(page) if {"order", "inserted", "probability"} <= set(frame.columns))
    starts = data.groupby("order").probability.first()
    assert starts.round(4).nunique() == 1  # nothing is there yet
    assert "what is enough, not what is needed" in text_of(page)
    page = rerun(page, transformer_doubts_way="through all layers")
    through = ["rollout", "weight × length", "attention × gradient", "value zeroing"]
    assert list(curves(page)) == ["attention", *through, "random"]
    page = rerun(page, transformer_doubts_way="numbers")
    rows = re.findall("<tr><td>(.*?)</td>", html_of(page))
    assert rows == ["attention", "gradient × input", "integrated gradients", "random", *through]
    assert "with erasing each part alone" in text_of(page)


@pytest.mark.parametrize("name", ["translate", "transformer", "memory"])
def test_forty_unknown_words_are_not_erased_in_five_hundred_ways(visit, name):
    page = visit(name, tab="doubts", text=" ".join(f"qwx{n}zy" for n in range(40)))
    assert "too long to erase word after word" in text_of(page)
    assert "Here the map" not in text_of(page)


def test_what_one_vector_knows_is_asked_too(visit):
    page = visit("memory", tab="doubts")
    assert not page.exception
    assert "Here the map" in text_of(page)
    assert list(curves(page)) == ["share of the one vector", "random"]
    assert "This network has no weights to exchange" in text_of(page)


def test_ones_own_model_has_the_section_below_what_it_does(visit):
    page = visit("model", model="tatoeba-llama", question="doubts")
    assert not page.exception
    assert "Here the map" in text_of(page)
    assert "One layer alone, shuffled" in text_of(page)
    page = rerun(page, model_doubts_way="through all layers")
    assert "value zeroing" in curves(page)


def test_over_many_inputs_numbers_and_words_agree(visit):
    said_of = text_of(visit("groups", question="doubts"))
    assert "the map does not clearly point at what the answers need" in said_of
    assert "Mean area 0.567, at random 0.679; ahead of chance on 48%." in said_of


OFF = {"model": "tatoeba-llama", "off": pack([["decoder self", 1, 2]])}


@pytest.mark.parametrize(("name", "address"), [("model", OFF), *((name, {}) for name in ("pixels", "ask", "matter"))])
def test_with_attention_changed_it_is_said_that_the_answer_is_the_networks_own(visit, name, address):
    page = visit(name, tab="doubts", **{**address, "off": ""})
    assert AS_LEARNED not in text_of(page)
    changed = {f"{name}_edits": (ListedEdit(Uniform(), "alike"),)}
    page = visit(name, tab="doubts", **address) if address else rerun(page, **changed)
    assert AS_LEARNED in text_of(page)


def test_matter_says_that_its_figures_are_of_sentences_for_development(visit):
    told = text_of(visit("matter", tab="doubts"))
    assert "Over 500 sentences for development the map" in told
    assert "held-out" not in told


SENTENCE = "A dull film with a wonderful end."


def subject_of_matter(visit):
    page = visit("matter", text=SENTENCE, tab="doubts")
    return page, subjects.sentence_subject(load("sentence-attention", "cpu"), read_sentence(SENTENCE).words)


def subject_of_model(visit):
    page = visit("model", model="tatoeba-llama", text_decoder=SENTENCE, question="doubts")
    pretrained = load_model("tatoeba-llama")
    return page, model_subject(pretrained, prepare(pretrained, TextInput(SENTENCE)))


@pytest.mark.parametrize("subject_of", [subject_of_matter, subject_of_model])
def test_every_share_in_the_captions_is_the_librarys(visit, subject_of):
    page, subject = subject_of(visit)
    *_, (_, result) = assess(subject)
    assert curves(page)["attention"] == pytest.approx(result.deletion[ATTENTION].probability, abs=1e-4)
    words = text_of(page)
    areas = [percent(result.deletion[order].area) for order in (ATTENTION, RANDOM)]
    assert "order leave the answer {} on average, in random order {}.".format(*areas) in words
    moved, equal, rival = map(percent, (float(result.shuffled.median()), result.uniform, result.adversarial.moved))
    assert f"Shuffled, these weights move the answer by {moved}; equal, by {equal}: it" in words
    assert (
        f"The most different ones found (distance {result.adversarial.divergence:.2f} of 1) move it by {rival}."
        in words
    )
    if result.by_layer:
        least, most = (choose(result.by_layer.items(), key=lambda layer: layer[1]) for choose in (min, max))
        span = f"moves it by {percent(least[1])} ({least[0]}) to {percent(most[1])} ({most[0]})."
        assert f"One layer alone, shuffled, {span}" in words
    if result.otherwise:
        areas = [percent(result.otherwise[order].area) for order in (ATTENTION, RANDOM)]
        assert "instead: {} and {}.".format(*areas) in words
    if len(result.heads) > 1:
        (layer, head), moved = next(iter(result.heads.items()))
        name = f"{layer}, head {head}" if result.by_layer else f"head {head + 1}"
        assert f"**Without {name}** the answer moves by {percent(moved)}, most of the" in words
