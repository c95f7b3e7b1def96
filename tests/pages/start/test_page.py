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
from pages.start.first_screen import SENTENCE, first_answers
from pages.start.live_answers import FIRST_QUESTION, ON_WHITE, QUESTIONS, SIDE, digits_of, first_strokes
from pages.start.prepared import answers
from pages.start.story import STORY
from tests.support.app import data_of, draw_strokes, html_of, open_question, path_object, set_fields, set_value, text_of
from ui.navigation import PAGES

PAGE, SCENE = "pages/start/page.py", "start_drawing_scene"


def draw(page, name: str) -> None:
    """Put a scene of digits onto the pad."""
    strokes = scene_strokes(SCENES[name], SIDE)
    draw_strokes(page, [path_object(one.path, one.width, stroke=one.colour) for one in strokes])


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_every_page_has_a_photograph(ground):
    for entry in PAGES:
        with Image.open(find_file(f"pages/{entry.name}/card-{ground}.webp")) as photograph:
            assert photograph.size == (672, 378)
            assert np.asarray(photograph).std() > 5, f"the photograph of {entry.name} shows nothing"


def test_what_is_shown_at_once_is_what_the_models_say():
    computed, stored = answers(), json.loads(json.dumps(first_answers()))
    ours, theirs = (each["words"] for each in (computed, stored))
    for numbers in ("scores", "weights"):
        assert np.allclose(ours.pop(numbers), theirs.pop(numbers), atol=2e-3)
    strips = [each.pop("numbers") | {"vector": each["vector"].pop("numbers")} for each in (ours, theirs)]
    for name in ("queries", "keys", "vector"):
        assert np.allclose(*(each[name] for each in strips), atol=5e-3)
    for name in ("answers", "equal"):
        likeliest = [[row[0][0] for row in each.pop(name)] for each in (ours, theirs)]
        assert likeliest[0] == likeliest[1]
    for each, counterpart in zip(computed["scene"].pop("looks"), stored["scene"].pop("looks"), strict=True):
        for numbers in ("scores", "weights"):
            assert np.allclose(each[numbers], counterpart[numbers], atol=2e-3)
        assert [word for word, _ in each["words"]] == [word for word, _ in counterpart["words"]]
    for name in ("answer", "even"):
        assert computed["scene"].pop(name)[0][0] == stored["scene"].pop(name)[0][0]
    assert computed == stored


def test_the_sentence_loses_its_cat_without_attention_and_an_unclear_question_is_warned_of(page):
    data = data_of(page, "start_sentence_scene")
    vector = data["vector"]
    assert vector["words"].count("chien") == 2
    assert vector["lostText"] == "little, cat"
    assert vector["english"] == "The black dog is afraid of the dog."
    row = data["query"]
    assert data["queries"][row] == "chat"
    assert data["keys"][int(np.argmax(data["weights"][row]))] == "cat"
    assert not page.warning
    set_value(page.text_input(key="start_asked"), "what colour is the digit above the 2?")
    assert "people would name different digits" in page.warning[0].value
    draw(page, "Threes")
    set_value(page.text_input(key="start_asked"), "how many digits are there?")
    assert not page.warning
    labels = [button.label for button in page.button]
    assert FIRST_QUESTION not in labels, "nothing is blue"
    assert "what colour is the 8?" in labels


def test_a_scene_asks_from_the_last_word_that_attention_alone_says(page):
    for sentence in ("A red car is behind the big house.", "I am tired.", "Où?"):
        set_value(page.text_input(key="start_text"), sentence)
        data = data_of(page, "start_sentence_scene")
        vector = {word.casefold() for word in data["vector"]["words"]}
        alone = [row for row, word in enumerate(data["queries"]) if word.casefold() not in vector]
        longest = max(range(len(data["queries"])), key=lambda row: len(data["queries"][row]))
        assert data["query"] == (alone[-1] if alone else longest)


def test_all_first_questions_have_one_answer_and_that_on_arrival_by_attention_alone():
    assert all(is_clear(parse_question(text), digits_of(first_strokes(), ON_WHITE)) for text in QUESTIONS)
    scene = first_answers()["scene"]
    assert (scene["even"][0][0], scene["answer"][0][0]) == ("no such digit", "7")


def test_other_sentences_are_translated_cut_or_refused_and_the_first_one_needs_no_model(page):
    for sentence in OPENING[1:]:
        set_value(page.text_input(key="start_text"), sentence)
        data = data_of(page, "start_sentence_scene")
        assert data["queries"][data["query"]] == "bleue"
        assert data["keys"][4] == "blue"
        assert 4 in data["vector"]["lost"]
    set_value(page.text_input(key="start_text"), "the cat is here and " * 9)
    assert "The first 40 of 45 words are read, up to `and`." in text_of(page)
    assert len(data_of(page, "start_sentence_scene")["keys"]) in (40, 41)
    set_value(page.text_input(key="start_text"), "Ich bin ein Hund.")
    assert "trained on English alone" in page.info[0].value
    set_value(page.text_input(key="start_text"), "She is here.")
    assert not page.info
    set_value(page.text_input(key="start_text"), " ")
    assert [one.value for one in page.info]
    assert data_of(page, "start_sentence_scene")["keys"][0] == "She", "the last translation stays"
    set_value(page.text_input(key="start_text"), SENTENCE)
    assert data_of(page, "start_sentence_scene")["vector"]["words"] == first_answers()["words"]["vector"]["words"]


def test_other_questions_and_drawings_are_answered_or_it_is_said_why_not(page):
    set_value(page.text_input(key="start_asked"), "what colour is the 8?")
    assert data_of(page, SCENE)["answer"][0][0] == "purple"
    set_value(page.text_input(key="start_asked"), "why?")
    assert "Below is the answer to “what colour is the 8?”." in page.info[0].value
    assert data_of(page, SCENE)["answer"][0][0] == "purple", "the last answer stays"
    assert ".st-key-start_drawing_scene { opacity: 0.35; }" in html_of(page)
    draw(page, "Threes")
    set_value(page.text_input(key="start_asked"), "how many digits are there?")
    assert data_of(page, SCENE)["answer"][0][0] == "4"
    page.button(key="start_clear").click().run()
    assert page.info[0].value.startswith("Draw a digit")
    data = data_of(page, SCENE)
    assert (data["answer"][0][0], data["isEmpty"]) == ("4", True)


def test_a_lecture_shows_the_drawing_with_the_buttons_of_its_pad(visit):
    lecture = visit("start", lecture="1", show="drawing")
    assert data_of(lecture, SCENE)["answer"]
    assert lecture.button(key="start_clear")


def test_nothing_is_looked_up_before_a_letter_and_a_word_finds_questions_with_their_weights(page):
    from pages.start.search import EXAMPLE, HAS_ENCODER

    was_loaded = HAS_ENCODER.is_set()
    assert "Found by attention" not in text_of(page)
    assert HAS_ENCODER.is_set() == was_loaded, "no model is loaded for an empty box"
    assert "Found by attention" not in text_of(set_fields(page, search=" ?! "))
    assert "None of the questions fits well" in text_of(set_fields(page, search="a recipe for pizza"))
    assert "fits well" not in text_of(set_fields(page, search=EXAMPLE))
    told = text_of(set_fields(page, search="Can one vector hold a long sentence?"))
    assert "by meaning, at temperature 0.05." in told
    links = [link.proto for link in page.get("page_link") if "question=" in link.proto.query_string]
    assert (links[0].page, links[0].query_string) == ("translate", "question=length")
    weights = [float(share) for share in re.findall(r"--share:([\d.e-]+)", html_of(page))]
    assert len(weights) == 3
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) <= 1
    for text, page_name, query in (
        ("what is a query", "lookup", ""),
        ("why softmax?", "vectors", "question=rules"),
        ("kv cache", "model", "question=keeps"),
        ("can I use my own photo", "photograph", ""),
        ("what are heads for", "transformer", "question=several"),
    ):
        link = set_fields(page, search=text).get("page_link")[2].proto  # behind those of the heroes
        assert (link.page, link.query_string) == (page_name, query), text
    page.switch_page("pages/translate/page.py").run()
    assert open_question(page, "length").title[0].value == "Can one vector hold a sentence of any length?"


def test_a_misspelt_question_is_found_by_spelling_where_there_is_no_encoder(page, monkeypatch):
    monkeypatch.setattr("ui.meaning.find_local", lambda name: None)
    told = text_of(set_fields(page, search="softmx temprature"))
    assert "by spelling, at temperature 0.05." in told
    assert len(re.findall("--share:", html_of(page))) == 3


def test_a_link_with_a_question_brings_the_drawing_into_view_and_in_a_lecture_it_is_a_screen(visit):
    page = visit("start", q="what colour is the 8?")
    assert data_of(page, "start_scroll")["key"] == "start_drawing"
    assert data_of(page, SCENE)["answer"][0][0] == "purple"
    page = visit("start", lecture="1")
    (screens,) = page.segmented_control
    assert screens.options == ["Translate a sentence", "Ask about a drawing"]
    assert not page.text_input(key="start_text").disabled
    screens.set_value("drawing").run()
    assert data_of(page, SCENE)["plays"]


def test_the_story_has_eight_steps_and_leads_to_every_page(page):
    names = [name for step in STORY for name in step]
    assert len(STORY) == 8
    assert len(set(names)) == len(names) == len(PAGES) - 1
    assert {entry.name for entry in PAGES[1:]} <= {link.proto.page for link in page.get("page_link")}


def test_a_guess_is_about_another_sentence_of_which_one_vector_loses_a_word(visit):
    page = visit("start")
    page.button(key="start_try").click().run()
    assert page.text_input(key="start_text").value == OPENING[1]
    scene = data_of(page, "start_sentence_scene")
    assert (scene["covered"], scene["query"]) == (True, 0), "at another word than the one that is lost"
    page.segmented_control(key="start_try_guess").set_value(1).run()
    assert "**Right**: **blue** is lost. " in page.success[0].value
