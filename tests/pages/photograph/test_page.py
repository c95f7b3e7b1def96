"""The page on asking a photograph, without a browser: words, names, regions, values, photographs of one's own."""

import io
import re

import numpy as np
import pytest
from PIL import Image

from tests.support.app import data_of, html_of, open_question, set_fields, text_of
from ui.hosting import uploads

PAGE = "pages/photograph/page.py"
NAME = "photograph"


def scene(page) -> dict:
    return data_of(page, f"{NAME}_scene")


def peak(page) -> tuple[float, float]:
    """Return where it looks most: right and down, in shares of the photograph."""
    data = scene(page)
    row, column = divmod(int(np.argmax(data["looks"][0]["weights"])), data["grid"][1])
    return (column + 0.5) / data["grid"][1], (row + 0.5) / data["grid"][0]


def ask(page, text: str):
    page.text_input(key=f"{NAME}_text").set_value(text).run()
    return page


def near_names(page) -> list[str]:
    names = [button.label for button in page.button if button.key.startswith(f"{NAME}_near_")]
    return [re.sub(r" \*.*", "", name) for name in names[:2]]


def test_arrival_lights_the_bee_which_equal_weights_do_not_see(page):
    data, (right, down) = scene(page), peak(page)
    assert data["answer"][0][0] == data["equal"][0][0] == "bee"
    assert data["answer"][0][1] > 0.95
    assert data["equal"][0][1] < 0.05
    assert (0.08 < right < 0.35, 0.37 < down < 0.74) == (True, True), "in the box around the bee"
    assert sum(data["looks"][0]["weights"]) == pytest.approx(1, abs=1e-3)
    assert not near_names(page), "its name is the query"
    assert "best" not in data
    assert not page.exception


def test_a_word_that_is_no_name_of_its_own_mixes_the_nearest_names(page):
    page.button(key=f"{NAME}_preset_astronaut").click().run()
    assert page.text_input(key=f"{NAME}_text").value == "helmet"
    assert near_names(page) == ["football helmet", "crash helmet"]
    assert peak(page) > (0.54, 0.67), "in the box around the helmet"
    page.button(key=f"{NAME}_near_1").click().run()
    assert scene(page)["looks"][0]["words"][0][0] == page.text_input(key=f"{NAME}_text").value == "crash helmet"
    ask(page, "sdkfjhg")
    assert "No name is near" in text_of(page)
    ask(page, "")
    assert not page.exception


def test_what_is_not_there_is_guessed_and_found(page):
    page.button(key=f"{NAME}_try").click().run()
    assert scene(page)["covered"]
    assert "97%" not in "".join(button.label for button in page.button), "no per cent stands below the question"
    set_fields(page, tried="2")
    data = scene(page)
    assert (data["covered"], data["answer"][0][0]) == (False, "bell pepper")
    assert data["answer"][0][1] > 0.5
    assert (0.4 < peak(page)[0] < 0.5, peak(page)[1] < 0.25) == (True, True), "at the blossom"
    assert data["says"].startswith("**There is no bell pepper here.**")
    assert [name for name, _ in data["best"]] == ["a typical name", "bee", "bell pepper"]
    assert data["best"][1][1] > data["best"][2][1] > data["best"][0][1]
    assert "91%, and it looks at a blossom." in page.success[0].value
    text = text_of(open_question(page, "trust"))
    assert "here **8**, on average **4**." in text
    assert "<span>bell pepper</span>" in html_of(page)
    assert "<b>91%</b>" in html_of(page), "as on the page"


def test_a_region_asks_what_looks_like_it(page):
    set_fields(page, region=174)
    assert scene(page)["looks"][0]["words"][0][0] == "this region"
    assert "Region 175 asks" in text_of(page)
    set_fields(page, region=9999)
    assert scene(page)["looks"][0]["words"][0][0] == "bee", "there is no such region"
    assert not page.exception


def test_other_values_bring_back_a_colour_and_a_picture(page):
    set_fields(page, photo="astronaut", text="helmet", value="colour")
    assert scene(page)["answer"][0][0] == "black"
    assert len(scene(page)["mixtures"]) == 2
    set_fields(page, value="patch")
    assert scene(page)["mixes"]
    assert not page.exception


@pytest.mark.parametrize(("side", "grid"), [(224, [7, 7]), (672, [21, 21])])
def test_regions_are_as_fine_as_wanted(visit, side, grid):
    assert scene(visit(NAME, photo="astronaut", side=str(side)))["grid"] == grid


def test_a_photograph_of_ones_own_is_turned_and_is_in_no_link(page):
    file, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    Image.new("RGB", (640, 480), "navy").save(file, "JPEG", exif=exif)
    page.file_uploader(key=f"{NAME}_upload").set_value(("mine.jpg", file.getvalue(), "image/jpeg")).run()
    assert not page.error
    assert scene(page)["grid"] == [19, 14]
    page.file_uploader(key=f"{NAME}_upload").set_value(("mine.heic", b"\0\0\0\x18ftypheic", "image/heic")).run()
    assert "HEIC" in page.error[0].value
    page.file_uploader(key=f"{NAME}_upload").set_value(("mine.jpg", b"nothing", "image/jpeg")).run()
    assert "damaged. The photograph before it stays." in page.error[0].value
    assert scene(page)["grid"] == [19, 14]


def test_a_photograph_that_the_server_has_lost_is_told_as_such(visit, monkeypatch):
    monkeypatch.setattr(uploads, "widget_value", lambda key, _otherwise: "listed" if "upload" in key else None)
    page = visit(NAME, photo="own", q="cup")
    assert "Give it again" in page.warning[0].value
    assert not page.info


def test_a_link_of_somebodys_own_photograph_says_so_and_keeps_the_question(visit):
    page = visit(NAME, photo="own", q="cup")
    assert "no link holds one" in page.info[0].value
    assert scene(page)["looks"][0]["words"][0][0] == "cup"


def test_the_camera_is_asked_for_only_after_a_click(page):
    assert not page.get("camera_input")
    page.button(key=f"{NAME}_use_camera").click().run()
    assert page.get("camera_input")


def test_a_region_that_it_may_not_look_at_gets_no_weight(page):
    heaviest = np.argsort(scene(page)["looks"][0]["weights"])[-24:].tolist()
    set_fields(open_question(page, "elsewhere"), brushed=heaviest)
    page.button(key=f"{NAME}_region_look_away").click().run()
    assert "**bee** falls from" in text_of(page)
    data = scene(open_question(page, ""))
    assert max(data["looks"][0]["weights"][region] for region in heaviest) == 0
    assert "as you changed them" in data["says"]


def test_figures_over_photographs_with_boxes_are_those_of_the_card(page):
    text = text_of(open_question(page, "trust"))
    assert "at the right place **24 of 24** times" in text


def test_two_words_have_two_spots_of_light(page):
    set_fields(page, photo="astronaut", text="helmet")
    text = text_of(open_question(page, "two"))
    assert "**football helmet** (98%)" in text
    assert "**wine bottle** (88%)" in text
