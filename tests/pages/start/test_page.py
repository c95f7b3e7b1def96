"""Start without a browser: what is shown at once is what the models say; what is typed and drawn is answered."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from attention_core.data.presets import SCENES, scene_strokes
from attention_core.data.questions import parse_question
from attention_core.data.sentence_presets import OPENING
from attention_core.files import find_file
from attention_core.inference.scenes import is_clear
from attention_core.links import pack_strokes, unpack_strokes
from pages.start.first_screen import (
    EMPTY,
    QUESTION,
    QUESTIONS,
    SENTENCE,
    current_strokes,
    first_answers,
    listed,
    sent_drawing,
)
from pages.start.live_answers import digits_of
from pages.start.prepared import answers
from tests.support.app import data_of, html_of, open_question, set_fields, set_value, text_of
from ui.navigation import PAGES
from ui.state import BAD_VALUE_ERRORS

PAGE = "pages/start/page.py"


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_every_page_has_a_photograph(ground):
    for entry in PAGES:
        with Image.open(find_file(f"pages/{entry.name}/card-{ground}.webp")) as photograph:
            assert photograph.size == (672, 378)
            assert np.asarray(photograph).std() > 5, f"the photograph of {entry.name} shows nothing"


def test_what_is_shown_at_once_is_what_the_models_say():
    computed, stored = answers(), json.loads(json.dumps(first_answers()))
    for name in ("none", "dot"):
        for numbers in ("weights", "probabilities"):
            ours, theirs = (np.array(each["words"][name].pop(numbers), float) for each in (computed, stored))
            assert np.allclose(ours, theirs, atol=2e-3)
    for each, counterpart in zip(computed["scene"].pop("looks"), stored["scene"].pop("looks"), strict=True):
        assert np.allclose(each["weights"], counterpart["weights"], atol=2e-3)
        assert [word for word, _ in each["words"]] == [word for word, _ in counterpart["words"]]
    assert [one[:2] for one in computed["scene"].pop("said")] == [one[:2] for one in stored["scene"].pop("said")]
    assert computed == stored


def test_the_sentence_loses_its_cat_without_attention_and_an_unclear_question_is_warned_of(page):
    words = first_answers()["words"]
    assert words["none"]["target"].count("chien") == 2
    assert ["chat", "cat"] in words["only"]
    assert "the cat is lost" in text_of(page)
    assert "afraid of the <mark>dog.</mark></p>" in html_of(page)
    assert f'<p class="read-back">{SENTENCE}</p>' in html_of(page)
    alone = [
        [words[name]["target"][row] for row in data_of(page, f"start_{name}_words")["alone"]]
        for name in ("none", "dot")
    ]
    assert alone == [["chien"], ["petit", "chat"]]
    set_fields(page, demonstration="drawing")
    assert not page.warning
    set_value(page.text_input(key="start_asked"), "what colour is the digit above the 2?")
    assert "People would answer differently" in page.warning[0].value
    set_fields(page, drawing=pack_strokes(scene_strokes(SCENES["Threes"], 320)), asked="how many digits are there?")
    assert not page.warning
    labels = [button.label for button in page.button]
    assert QUESTION not in labels, "nothing is blue"
    assert "what colour is the 8?" in labels


def test_translations_mark_what_one_says_alone_and_titles_say_what_they_have(page):
    set_value(page.text_input(key="start_text"), "A red car is behind the big house.")
    translations = {name: data_of(page, f"start_{name}_words") for name in ("none", "dot")}
    for name, counterpart in zip(translations, reversed(translations), strict=True):
        words = [translations[name]["target"][row] for row in translations[name]["alone"]]
        assert words
        assert not {word.casefold() for word in words} & {
            word.casefold() for word in translations[counterpart]["target"]
        }
        assert all(re.search(f"<mark>(<ruby>)?{re.escape(word)}<", html_of(page)) for word in words)
    assert html_of(page).count("<mark>") == sum(len(one["alone"]) for one in translations.values())
    for sentence in ("I am tired.", "The red car is here.", "My dog is tired and wants to sleep in the garden.", "Où?"):
        set_value(page.text_input(key="start_text"), sentence)
        none, dot = (data_of(page, f"start_{name}_words") for name in ("none", "dot"))
        looks = re.findall(r"\*([^* ]+)\* looks most at \*([^*]+)\*", text_of(page).replace("\\", ""))
        assert ("it says the same" in text_of(page)) == (none["said"] == dot["said"])
        assert bool(looks) != ("**With attention** it says" in text_of(page))
        for french, english in looks:
            row = len(dot["target"]) - 1 - dot["target"][::-1].index(french)
            assert dot["source"][np.argmax(dot["weights"][row][:-1])] == english
            assert none["target"].count(french) < dot["target"].count(french)


def test_all_first_questions_have_one_answer_and_that_on_arrival_by_attention_alone():
    assert all(is_clear(parse_question(text), digits_of(current_strokes())) for text in QUESTIONS)
    translations = {name: word for name, word, _ in first_answers()["scene"]["said"]}
    assert translations == {"If it may not choose where to look": "no such digit", "Free to choose": "7"}


def test_other_sentences_are_translated_cut_or_refused_and_the_first_one_needs_no_model(page):
    for sentence in OPENING[1:]:
        set_value(page.text_input(key="start_text"), sentence)
        assert "the cat is lost" not in text_of(page)
        assert "*bleue* looks most at *blue*" in text_of(page)
        assert "He gave me a <mark><s>blue</s></mark> shirt" in html_of(page)
        assert data_of(page, "start_dot_words")["source"][4] == "blue"
    set_value(page.text_input(key="start_text"), "the cat is here and " * 9)
    assert "The first 40 of 45 words are read, up to `and`." in text_of(page)
    assert len(data_of(page, "start_dot_words")["source"]) in (40, 41)
    set_value(page.text_input(key="start_text"), "She is here.")
    set_value(page.text_input(key="start_text"), " ")
    assert [one.value for one in page.info]
    assert data_of(page, "start_dot_words")["source"][0] == "She", "the last translation stays"
    set_value(page.text_input(key="start_text"), SENTENCE)
    assert data_of(page, "start_none_words")["target"] == first_answers()["words"]["none"]["target"]


def test_other_questions_and_drawings_are_answered_or_it_is_said_why_not(page):
    set_fields(page, demonstration="drawing")
    set_value(page.text_input(key="start_asked"), "what colour is the 8?")
    assert data_of(page, "start_scene")["said"][1][1] == "purple"
    set_value(page.text_input(key="start_asked"), "why?")
    data = data_of(page, "start_scene")
    assert data["fault"]
    assert data["strokes"] == first_answers()["scene"]["strokes"]
    set_fields(page, drawing=pack_strokes(scene_strokes(SCENES["Threes"], 320)), asked="how many digits are there?")
    assert data_of(page, "start_scene")["said"][1][1] == "4"
    set_fields(page, drawing=pack_strokes([]), asked=QUESTION)
    assert data_of(page, "start_scene")["fault"] == EMPTY


LINE = [10, 10, 50, 90]


def test_strokes_of_a_browser_come_back_as_they_were_sent():
    packed, sent = sent_drawing({"strokes": [["#d62728", 12, LINE]], "sent": 5})
    assert listed(unpack_strokes(packed)) == [["#d62728", 12, LINE]]
    assert sent == 5


@pytest.mark.parametrize(
    "message",
    [
        None,
        {},
        {"strokes": "much", "sent": 5},
        {"strokes": [["#d62728", 12, LINE]]},
        {"strokes": [["red", 12, LINE]], "sent": 5},
        {"strokes": [["#d62728", 1e9, LINE]], "sent": 5},
        {"strokes": [["#d62728", 12, [1, 2, 3]]], "sent": 5},
        {"strokes": [["#d62728", 12, [1, "a"]]], "sent": 5},
        {"strokes": [["#d62728", 12, [1e300, 2]]], "sent": 5},
        {"strokes": [["#d62728", 12, [float("nan"), 2]]], "sent": 5},
    ],
)
def test_what_is_no_drawing_is_not_taken(message):
    with pytest.raises(BAD_VALUE_ERRORS):
        sent_drawing(message)


def test_nothing_is_looked_up_before_a_letter_and_a_word_finds_questions_with_their_weights(page):
    from pages.start.search import HAS_ENCODER

    was_loaded = HAS_ENCODER.is_set()
    assert "Found by attention" not in text_of(page)
    assert HAS_ENCODER.is_set() == was_loaded, "no model is loaded for an empty box"
    assert "Found by attention" not in text_of(set_fields(page, search=" ?! "))
    told = text_of(set_fields(page, search="Can one vector hold a long sentence?"))
    assert "by meaning, at temperature 0.05." in told
    links = [link.proto for link in page.get("page_link") if "question=" in link.proto.query_string]
    assert (links[0].page, links[0].query_string) == ("translate", "question=length")
    weights = [float(share) for share in re.findall(r"--share:([\d.e-]+)", html_of(page))]
    assert len(links) == len(weights) == 3
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) <= 1
    page.switch_page("pages/translate/page.py").run()
    assert open_question(page, "length").title[0].value == "Can one vector hold a sentence of any length?"


def test_a_misspelt_question_is_found_by_spelling_where_there_is_no_encoder(page, monkeypatch):
    monkeypatch.setattr("ui.meaning.find_local", lambda name: None)
    told = text_of(set_fields(page, search="softmx temprature"))
    assert "by spelling, at temperature 0.05." in told
    assert len(re.findall("--share:", html_of(page))) == 3


def test_a_link_with_a_question_opens_the_drawing(visit):
    page = visit("start", q="what colour is the 8?")
    assert page.segmented_control(key="start_demonstration").value == "drawing"
    assert data_of(page, "start_scene")["said"][1][1] == "purple"
