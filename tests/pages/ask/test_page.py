"""Ask about a drawing without a browser: questions typed, built and refused, odd drawings, steps, experiments."""

import json
import re

import numpy as np
import pytest

from attention_core import Uniform
from attention_core.attention.wording import percent
from attention_core.data.presets import SCENE_COLOURS, SCENES, random_digits, scene_strokes
from attention_core.data.questions import ANSWERS, RELATIONS, Question, format_question, parse_question
from attention_core.data.scene_questions import BESIDE, SceneDigit, answer
from attention_core.evaluate import variants
from attention_core.weights import read_card
from tests.support.app import (
    covering_strokes,
    data_of,
    draw_strokes,
    html_of,
    leave_and_return,
    open_question,
    path_object,
    set_fields,
    strokes_of,
    text_of,
    turn_dark,
)
from ui.edits import ListedEdit

PAGE = "pages/ask/page.py"
NAME, SIDE = "ask", 320
EQUAL_WEIGHTS = ListedEdit(Uniform(), "it looks everywhere alike")


def draw(page, strokes):
    """Put strokes onto the pad."""
    return draw_strokes(page, [path_object(one.path, one.width, stroke=one.colour) for one in strokes])


def asks(page, text):
    """Type a question and press Enter."""
    return page.text_input(key=f"{NAME}_text").set_value(text).run()


def answers(page) -> list[str]:
    """The likeliest answer, alone in a list; none where there is no scene."""
    scene = data_of(page, "ask_scene")
    return [scene["even" if scene["isEven"] else "answer"][0][0]]


def greyed(page) -> bool:
    """Whether the answer is not that of what stands on the page."""
    return ".st-key-ask_answer { opacity: 0.35; }" in html_of(page)


def described(page) -> str:
    """The sentence about the drawing."""
    return next(part.value for part in page.markdown if part.value.startswith("It looks once before each word"))


def chips(page) -> list[str]:
    return [one.label for one in page.button if one.key.startswith(f"{NAME}_example_")]


def test_arrival_shows_a_drawing_a_question_and_an_answer(page):
    assert not page.error
    assert answers(page)[0] in ANSWERS
    assert len(chips(page)) == 4
    assert not page.get("vega_lite_chart")
    for step, grid in {"picture": [64, 64], "key": [16, 16], "query": None, "scaled": [16, 16]}.items():
        assert data_of(set_fields(page, step=step), "ask_moving_step")["steps"][step]["grid"] == grid
    looks = data_of(page, "ask_scene")["looks"]
    assert len(looks) == 2
    assert all(0 < sum(look["weights"]) <= 1.001 for look in looks)


def test_the_colours_of_a_drawing_are_named_on_demand(page):
    assert data_of(page, "ask_scene")["names"] == []
    names = data_of(page.toggle(key="ask_names").set_value(True).run(), "ask_scene")["names"]
    placed = [(colour, x, y) for _, colour, x, y in SCENES["Five colours"]]
    assert [colour for colour, *_ in names] == [colour for colour, *_ in placed]
    assert all(
        abs(x - at) < 0.1 and 0 < y - middle < 0.3 for (_, x, y), (_, at, middle) in zip(names, placed, strict=True)
    )


QUESTIONS = [
    ("Five colours", "which digit is left of the blue one?", "7"),
    ("Five colours", "What colour's the FIVE?", "green"),
    ("Four red", "how many red digits?", "4"),
    ("Threes", "is there a 0", "yes"),
    ("Five colours", "which digit is below the one right of the blue one?", "8"),
    ("Five colours", "what colour is the digit left of the one below the green 5?", "orange"),
    ("Five colours", "which digit is above the one left of the blue one?", "no such digit"),
]


def test_questions_are_answered_as_they_are_read(page):
    for scene, question, expected in QUESTIONS:
        page.button(key=f"{NAME}_preset_{scene}").click().run()
        asks(page, question)
        assert answers(page) == [expected], question
    asks(page, "left of the blue one")
    assert "Read as: `which digit is left of the blue one`" in text_of(page)


UNREADABLE = {
    "": "Ask something",
    "how many digits " * 63: "characters",
    "Quelle est la couleur de ce chiffre ?": "English",
    "この絵には何がありますか": "English",
    "ما لون الرقم الأحمر؟ قل لي الآن من فضلك": "English",
    "<script>alert('x')</script> <b>hi</b>": "English",
    "🙂🙃": "no words",
    "where is the 7?": "where",
    "which digit is above the one left of the one below the blue one?": "four looks, and I have three",
    "which red digit is left of the blue one?": "leave “red” out",
    "what colour is the shirt of the person kicking the ball?": "same two-step question",
}
"""Questions that cannot be asked, and what is said of each."""


def test_question_that_cannot_be_asked_gets_a_kind_answer_and_examples(page):
    objects, before = strokes_of(page), answers(page)
    for text, reason in UNREADABLE.items():
        asks(page, text)
        assert not page.error
        assert reason in page.info[0].value
        assert len(chips(page)) == 10  # one of every kind
        assert answers(page) == before  # that of the last question stays
        assert greyed(page)
        assert page.session_state[f"{NAME}_text"] == text
    assert "which digit is left of the blue one?" in chips(page)
    page.button(key=f"{NAME}_example_4").click().run()
    assert answers(page)
    assert not greyed(page)
    assert strokes_of(page) == objects


def test_address_brings_question_and_scene_back(start_app):
    first, second = start_app(), start_app()
    for visitor in (first, second):
        visitor.query_params["scene"] = "42"
        visitor.query_params["q"] = "how many digits?"
        visitor.switch_page(PAGE).run()
        assert visitor.session_state[f"{NAME}_text"] == "how many digits?"
    one, other = (strokes_of(visitor) for visitor in (first, second))
    assert one == other
    assert len({stroke["stroke"] for stroke in one}) <= 3
    assert first.query_params["scene"] in ("42", ["42"])
    first.button(key=f"{NAME}_compose").click().run()
    assert first.query_params["scene"] != "42" or strokes_of(first) == one
    assert answers(first)


def test_empty_canvas_invites_to_draw_and_keeps_the_question(page):
    asks(page, "what colour is the 7?")
    page.button(key=f"{NAME}_clear").click().run()
    assert not page.error
    assert "canvas is empty" in text_of(page)
    assert greyed(page)
    assert answers(page) == ["red"]  # of before
    assert open_question(page, "tell").info
    open_question(page, "")
    page.button(key=f"{NAME}_preset_Threes").click().run()
    assert answers(page)
    assert page.session_state[f"{NAME}_text"] == "what colour is the 7?"


def test_one_line_and_a_canvas_painted_over_give_answers_and_no_error(page):
    line = [scene_strokes(SCENES["Four red"], SIDE)[0]._replace(path=np.array([[60.0, 40.0], [62.0, 250.0]]))]
    draw(page, line)
    assert answers(page)
    draw_strokes(page, covering_strokes(SIDE, SIDE, 2))
    assert not page.error
    assert "painted over" in text_of(page)


def test_what_is_odd_about_a_drawing_is_said_beside_the_answer(page):
    strokes = scene_strokes(SCENES["Four red"], SIDE)
    asks(page, "how many green digits?")
    over = [one._replace(colour="#00a0a0", path=np.add(one.path, (12.0, 8.0))) for one in strokes[:2]]
    draw(page, [*strokes, *over])
    words = text_of(page)
    assert "lie over each other" in words
    assert "no **green** ink" not in words
    asks(page, "which digit is yellow?")
    assert "no **yellow** ink" in text_of(page)


def test_with_every_weight_alike_the_answer_is_another_and_both_are_said(page):
    own = answers(page)[0]
    set_fields(page, edits=(EQUAL_WEIGHTS,))
    assert "The weights are all alike." in text_of(page)
    alike = answers(page)[0]
    assert (own, alike) == ("7", "no such digit")
    scene = data_of(page, "ask_scene")
    assert (scene["answer"][0][0], scene["even"][0][0]) == (own, alike)
    set_fields(page, edits=())
    assert answers(page)[0] == own


def test_the_surprise_is_a_question_of_three_looks_about_the_first_scene(page):
    page.button(key=f"{NAME}_preset_Threes").click().run()
    set_fields(page, edits=(EQUAL_WEIGHTS,))
    page.button(key=f"{NAME}_try").click().run()
    assert ".st-key-numbers { opacity: 0; visibility: hidden" in html_of(page), "what tells it is hidden"
    assert data_of(page, "ask_scene")["covered"]
    page.segmented_control(key=f"{NAME}_try_guess").set_value(2).run()
    assert answers(page) == ["orange"]
    assert len(data_of(page, "ask_scene")["looks"]) == 3
    assert not data_of(page, "ask_scene")["covered"]
    assert "**Right**: After three looks it says *orange*" in page.success[0].value


def test_closing_the_unanswered_surprise_brings_the_scene_back(page):
    page.button(key=f"{NAME}_preset_Threes").click().run()
    page.text_input(key=f"{NAME}_text").set_value("what colour is the 7?").run()
    page.button(key=f"{NAME}_try").click().run()
    assert page.session_state[f"{NAME}_preset"] != "Threes"
    page.button(key=f"{NAME}_try_close").click().run()
    page.run()
    assert page.session_state[f"{NAME}_preset"] == "Threes"
    assert page.text_input(key=f"{NAME}_text").value == "what colour is the 7?"


def test_an_old_link_with_every_weight_alike_still_opens(visit):
    page = visit(NAME, uniform="1")
    assert data_of(page, "ask_scene")["isEven"]
    assert answers(page)[0] == "no such digit"
    assert not page.toast


def test_a_question_of_two_steps_has_three_looks_and_is_that_of_the_shirt(page):
    assert len(data_of(page, "ask_scene")["looks"]) == 2
    page.button(key=f"{NAME}_example_1").click().run()
    assert answers(page)[0] == "8"
    assert len(data_of(page, "ask_scene")["looks"]) == 3
    assert "first the ball, then the person, then the shirt" in text_of(page)
    peaks = [np.argmax(look["weights"]) for look in data_of(page, "ask_scene")["looks"]]
    places = [(one.x, one.y) for one in SCENES["Five colours"]]
    nearest = [np.hypot(*(np.array(places) - (peak % 16 / 16, peak // 16 / 16)).T).argmin() for peak in peaks]
    assert [SCENES["Five colours"][place].digit for place in nearest] == [3, 5, 8]


def test_a_question_offers_the_looks_that_it_needs_and_opens_on_the_weights_of_the_last(page):
    looks = page.segmented_control(key=f"{NAME}_number")
    assert (looks.options, looks.value) == (["Look 1", "Look 2"], 1)
    assert page.segmented_control(key=f"{NAME}_step").value == "weights"
    asks(page, "which digit is below the one right of the blue one?")
    assert len(page.segmented_control(key=f"{NAME}_number").options) == 3


def test_every_step_of_a_look_is_shown(page):
    asks(page, "which digit is below the one right of the blue one?")
    for look in (0, 1, 2):
        page.segmented_control(key=f"{NAME}_number").set_value(look).run()
        assert len(page.segmented_control(key=f"{NAME}_step").options) >= 8
        set_fields(page, step="weights")
        while not page.button(key=f"{NAME}_step_previous").disabled:
            page.button(key=f"{NAME}_step_previous").click().run()
        assert page.session_state[f"{NAME}_step"] == "picture"


def test_a_model_that_may_look_at_no_place_counts_nothing(page):
    page.button(key=f"{NAME}_preset_Four red").click().run()
    asks(page, "how many red digits are there?")
    assert answers(page) == ["4"]
    set_fields(open_question(page, "elsewhere"), brushed=[*range(256)])
    page.button(key=f"{NAME}_region_look_away").click().run()
    assert "The answer was 4 and is now 0" in text_of(page)
    assert data_of(open_question(page, ""), "ask_scene")["learned"][0][0] == "4"
    assert answers(page) == ["0"]


def test_drawing_and_question_survive_going_to_another_page(page):
    draw(page, scene_strokes(SCENES["Threes"], SIDE))
    assert page.query_params["scene"] in ("drawn", ["drawn"])
    asks(page, "how many digits?")
    before = answers(page)
    leave_and_return(page)
    assert answers(page) == before
    assert page.session_state[f"{NAME}_text"] == "how many digits?"


def test_drawing_is_told_and_every_word_has_its_look(page):
    page.button(key=f"{NAME}_tell").click().run()
    assert "*A red 7 above an orange 2, and a blue 3 above a green 5, and a purple 8.* True (“above”" in text_of(page)
    assert int(re.search(r"Look 1 of (\d+)", text_of(page))[1]) >= 3
    assert "<figure>an<" in html_of(page), "an orange 2"
    page.button(key=f"{NAME}_at_next").click().run()
    assert "Look 2 of" in text_of(page)
    share = read_card("scene-caption")["up_to_five_digits"]["accuracy_by_digits"]["5"]
    assert f"{percent(share)} of new drawings with 5 digits right" in text_of(page)


def test_learning_all_together_is_told_once_it_was_measured(page, monkeypatch, tmp_path):
    card = {"name": "scene-caption-beforehand", "test_drawings": {"accuracy": 0.81}}
    (tmp_path / "variants.json").write_text(json.dumps({"cards": [card]}))
    monkeypatch.setattr(variants, "COMMITTED", tmp_path / "variants.json")
    words = text_of(open_question(page, "tell"))
    assert "beforehand reach 81%" in words
    together = read_card("scene-caption-together")["test_drawings"]["accuracy"]
    assert f"learning along {percent(together)}" in words


def test_a_network_that_learned_to_see_along_tells_the_drawing_with_maps_of_its_own(page):
    open_question(page, "tell")
    before = described(page)
    page.segmented_control(key=f"{NAME}_encoder").set_value("scene-caption-together").run()
    assert described(page) != before
    assert page.query_params["encoder"] == "along"


def two_digits():
    """Every question about a digit beside another."""
    anchors = [{"digit": digit} for digit in "0123456789"] + [{"colour": colour} for colour in SCENE_COLOURS]
    return [
        Question(kind, relation=relation, **anchor) for kind in BESIDE for relation in RELATIONS for anchor in anchors
    ]


@pytest.mark.parametrize("scene", ["Five colours", "Four red", "3", "42"])
def test_an_unclear_question_is_warned_of_and_a_clear_one_is_not(page, scene):
    set_fields(page, preset=scene)
    placed = SCENES.get(scene) or random_digits(int(scene), SIDE)
    items = [SceneDigit(str(digit), colour, x, y) for digit, colour, x, y in placed]
    clear = [question for question in two_digits() if answer(question, items)]
    unclear = [question for question in two_digits() if not answer(question, items)]
    for question in (*clear[::20], *unclear[::25]):
        asks(page, f"{format_question(question)}?")
        assert ("unclear question" in text_of(page)) == (question in unclear)
    for text in chips(page):
        assert answer(parse_question(text), items)


def test_the_question_above_the_2_is_warned_of_and_not_proposed(page):
    asks(page, "what is the meaning of life")
    assert "what colour is the digit above the 2?" not in chips(page)
    asks(page, "what colour is the digit above the 2?")
    assert "unclear question" in text_of(page)


def test_a_drawing_of_one_s_own_is_warned_of_as_its_digits_are_read(page):
    draw(page, scene_strokes(SCENES["Five colours"], SIDE))
    assert page.session_state["ask_preset"] == "drawn"
    assert "unclear question" not in text_of(page)
    asks(page, "what colour is the digit above the 2?")
    assert "unclear question" in text_of(page)


def test_a_lecture_shows_where_digits_are_named(visit):
    page = visit(NAME, lecture="1", question="tell")
    assert re.findall(r"<figure[^>]*>(\w+)", html_of(page)) == ["7", "2", "3", "5", "8"]


def test_the_verdict_goes_with_what_was_asked_about(page):
    page.button(key=f"{NAME}_try").click().run()
    page.segmented_control(key=f"{NAME}_try_guess").set_value(2).run()
    assert page.success
    asks(page, "how many digits?")
    assert not page.success


def test_on_dark_paper_the_black_digits_of_a_scene_are_white(page, monkeypatch):
    turn_dark(page, monkeypatch)
    page.button(key=f"{NAME}_preset_Threes").click().run()
    for colour in ("black", "white"):
        asks(page, f"which digit is left of the {colour} one?")
        assert ("unclear question" in text_of(page)) == (colour == "black")
