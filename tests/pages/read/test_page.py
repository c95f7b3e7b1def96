"""The reading page without a browser: presets, typed and drawn numbers, bad input, the looks, steps, experiments."""

import numpy as np
import pytest

from attention_core.data.presets import digit_strokes, number_strokes
from attention_core.data.scenes import MAX_DIGITS
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
from ui.player import CODE_OPEN

PAGE = "pages/read/page.py"
NAME, SIZE = "read", (144, 576)


def put(page, strokes):
    return draw_strokes(page, [path_object(stroke.path, stroke.width) for stroke in strokes])


def draw(page, number):
    return put(page, number_strokes(number, SIZE, np.random.default_rng(3)))


def texts(page) -> list[str]:
    return [part.value for part in (*page.markdown, *page.caption)]


def read(page) -> str:
    """Return the number that is read in the page's scene."""
    assert not page.error
    return scene(page)["answer"][0][0]


def scene(page) -> dict:
    return data_of(page, "read_scene")


def remarks(page) -> str:
    assert not page.error
    return "\n".join(one.value for one in page.info)


def test_arrival_shows_how_a_number_is_read_look_after_look(page):
    data = scene(page)
    assert not page.info
    assert [look["answer"][0][0] for look in data["looks"]] == [*"31415", "end"]
    assert data["answer"][0][1] == pytest.approx(np.prod([look["answer"][0][1] for look in data["looks"]]), rel=1e-4)
    assert [look["words"][0][0] for look in data["looks"]] == ["nothing", "3", "31", "314", "3141", "31415"]
    columns = [np.reshape(look["weights"], data["grid"]).sum(0).argmax() for look in data["looks"]]
    assert columns == sorted(columns), "the looks go from left to right"
    for look in data["looks"]:
        exponentials = np.exp(look["scores"])
        assert look["weights"] == pytest.approx(exponentials / exponentials.sum(), abs=1e-4)
    assert data["even"][0][0] != "31415"
    assert "Look 1 of 6" in texts(page)


def test_presets_and_drawn_numbers_are_read_dark_on_light_and_light_on_dark(page, monkeypatch):
    for number in ("42", "271828"):
        page.button(key=f"{NAME}_preset_{number}").click().run()
        assert read(page) == number
        assert f"Look 1 of {len(number) + 1}" in texts(page)
    draw(page, "605")
    assert read(page) == "605"
    turn_dark(page, monkeypatch)
    draw(page, "428")
    assert read(page) == "428"


@pytest.mark.parametrize(("asked", "shown"), [("90210", "90210"), ("<script>alert(1)</script>", "31415")])
def test_address_names_a_number_or_is_ignored(start_app, asked, shown):
    page = start_app()
    page.query_params["number"] = asked
    page.query_params["at"] = "<i>"
    page.switch_page(PAGE).run()
    assert read(page) == shown
    assert asked == shown or asked not in "".join(texts(page))


def test_unusual_drawings_get_a_remark_and_a_reading(page):
    strokes = [*digit_strokes(3, (270, 72), 84), *digit_strokes(8, (314, 72), 84)]
    put(page, strokes)
    assert "touch or overlap" in remarks(page)
    assert read(page)
    draw(page, "1234567")
    assert "more digits than the 6" in remarks(page)
    assert read(page)
    assert len(strokes_of(page)) >= 7
    offered = [button.label for button in page.button if f"{NAME}_preset_" in button.key]
    assert max(map(len, offered)) == MAX_DIGITS


def test_empty_pad_dot_and_canvas_painted_black_are_told_and_nothing_is_lost(page):
    page.button(key=f"{NAME}_clear").click().run()
    assert "Write a number" in remarks(page)
    assert ".st-key-read_answer { opacity: 0.35; }" in html_of(page)  # that of the last number stays
    assert read(page) == "31415"
    draw_strokes(page, [path_object([[300, 72], [300, 72]], 2)])
    assert "dot" in remarks(page)
    for left, words in ((8, "painted over"), (0, "one colour")):
        draw_strokes(page, covering_strokes(*SIZE, left))
        assert words in remarks(page)
    n = len(strokes_of(page))
    page.button(key=f"{NAME}_undo").click().run()
    assert len(strokes_of(page)) == n - 1


def test_looks_are_walked_through_and_are_fewer_after_a_shorter_number(page):
    open_question(page, "question")
    page.button(key=f"{NAME}_at_next").click().run()
    assert "Look 2 of 6" in texts(page)
    assert any("of new numbers of up to five digits right" in text for text in texts(page))
    set_fields(page, at=3)
    assert "Look 4 of 6" in texts(page)
    set_fields(page, at=5)
    assert page.button(key=f"{NAME}_at_next").disabled
    page.button(key=f"{NAME}_preset_7").click().run()
    assert "Look 2 of 2" in texts(page)
    assert read(open_question(page, "")) == "7"


def test_every_step_shows_formula_and_code(page):
    page.session_state[CODE_OPEN] = True
    for step in ("picture", "key", "scores", "context", "output"):
        set_fields(page, step=step)
        assert page.latex, step
        assert page.code, step


def read_now(page) -> str:
    found = [text for text in texts(page) if text.startswith("Now it reads")]
    return found[0].split("**")[1] if found else ""


def test_question_of_a_later_look_reads_from_the_middle_and_its_reading_stands_above(page):
    assert read_now(open_question(page, "start")) == ""
    assert read(set_fields(page, after=2)) == "415"
    assert read_now(page) == "415"
    assert "as learned, **31415**" in text_of(page)
    page.session_state[f"{NAME}_after"] = 6
    page.button(key=f"{NAME}_preset_42").click().run()
    assert read_now(page)
    assert page.session_state[f"{NAME}_after"] == 3


def test_try_this_begins_with_a_later_question_and_says_what_came_out(page):
    page.session_state[f"{NAME}_even"] = True
    page.button(key=f"{NAME}_try").click().run()
    assert scene(page)["covered"]
    page.segmented_control(key=f"{NAME}_try_guess").set_value(1).run()
    assert (read(page), scene(page)["covered"], scene(page)["isEven"]) == ("1415", False, False)
    assert "its state alone knows how far it has come" in page.success[0].value
    steps = [(look["words"][0][0], look["answer"][0][0]) for look in scene(page)["looks"]]
    assert steps[:2] == [("3", "1"), ("31", "4")]
    assert "Look 1 of 5" in text_of(page), "all the numbers are of the same reading"


def test_withheld_glimpse_is_told_and_changes_what_is_read(visit):
    page = visit(NAME, skipped="1", tab="try")
    assert "skipped" not in page.query_params
    assert page.checkbox(key=f"{NAME}_edit_0").label == "Look 2 hands over nothing"
    assert read_now(page) != "31415"
    assert "At look 2, where most has changed:" in texts(page)
    page.button(key=f"{NAME}_withhold_5").click().run()
    page.button(key=f"{NAME}_preset_7").click().run()  # the sixth look will not be there
    assert "Not applied: query must be from 0 to 1, got 5." in texts(page)
    page.button(key=f"{NAME}_withhold_1").click().run()
    assert [change.description for change in page.session_state[f"{NAME}_edits"]] == ["look 6 hands over nothing"]


def test_a_region_is_brushed_and_no_look_goes_there(page):
    left = [48 * row + column for row in range(12) for column in range(14)]
    set_fields(open_question(page, "elsewhere"), brushed=left)
    page.button(key=f"{NAME}_region_look_away").click().run()
    assert read_now(page) != "31415"
    assert page.session_state[f"{NAME}_edits"][0].edit.keys == tuple(left)
    page.button(key=f"{NAME}_edits_undo").click().run()
    assert read_now(page) == ""


def test_drawing_look_region_and_experiment_survive_another_page(page):
    draw(page, "605")
    page.session_state[f"{NAME}_region"] = 100
    page.session_state[f"{NAME}_after"] = 1
    set_fields(page, at=2)
    leave_and_return(page)
    assert "Look 3 of 3" in texts(page)
    assert "as learned, **605**" in text_of(open_question(page, "start"))
    open_question(page, "question")
    assert page.session_state[f"{NAME}_region"] == 100
    assert page.session_state[f"{NAME}_after"] == 1


def test_looks_are_counted_and_what_is_odd_is_said_of_the_reader_as_learned(page):
    draw_strokes(page, [path_object([[x, 20 + (at % 2) * 100] for at, x in enumerate(range(20, 560, 15))], 6)])
    assert "As learned, it comes to no end, and is stopped after eight looks." in remarks(page)
    assert "more digits" not in remarks(page), "it is one scribble"
    draw(page, "7")
    set_fields(page, after=1)
    assert [look["answer"][0][0] for look in scene(page)["looks"]] == ["end"]
    assert read(page) == "nothing"


@pytest.mark.parametrize(
    "changes",
    [lambda page: page.button(key=f"{NAME}_withhold_0").click().run(), lambda page: set_fields(page, after=2)],
)
def test_what_came_of_the_surprise_goes_when_more_is_changed(page, changes):
    page.button(key=f"{NAME}_try").click().run()
    page.segmented_control(key=f"{NAME}_try_guess").set_value(1).run()
    assert "its state alone knows how far it has come" in page.success[0].value
    changes(open_question(page, "elsewhere"))
    open_question(page, "")
    assert read(page) != "1415"
    assert not page.success
    assert page.button(key=f"{NAME}_try")


def test_what_came_of_a_guess_goes_with_the_drawing_that_was_asked_about(page):
    page.button(key=f"{NAME}_try").click().run()
    page.segmented_control(key=f"{NAME}_try_guess").set_value(0).run()
    assert "You guessed: 31415 again" in text_of(page)
    page.button(key=f"{NAME}_preset_42").click().run()
    assert "You guessed" not in text_of(page)
    assert page.button(key=f"{NAME}_try").label == "**Try this**: pretend the 4 is already read"
    page.button(key=f"{NAME}_try").click().run()
    page.segmented_control(key=f"{NAME}_try_guess").set_value(1).run()
    assert page.success[0].value.startswith("You guessed: Only 2.")
