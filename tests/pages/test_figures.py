"""Every tab of every page explains its terms; its pictures can be taken along, under names that say what they are."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from attention_core.charts import figure
from tests.support.app import html_of, open_page, open_question, rerun, visible_and_hover_text
from ui.chart import PRINT_WIDTHS, file_name
from ui.labels import TERMS, terms_in
from ui.navigation import PAGES, path_of

NO_PICTURE = (
    "lecture share scroll_to bare_pad streamlit_drawable_canvas brush learning_film hall_corner lecture_notes paste"
)
ONE = "aligned_words next_words token_chips atlas_map vector_plane judged_words pixel_map"
COMPONENTS = {
    **dict.fromkeys(f"{NO_PICTURE} ten_digits party nine_pairs question_box word_tiles".split(), 0),
    **dict.fromkeys(
        [*ONE.split(), "moving_step", "layers", "scene", "aligned_scene", "table_scene", "picture_scene"], 1
    ),
    **dict.fromkeys(["pixel_scene", "photo_scene", "reading_scene", "question_scene", "one_vector", "sentence"], 1),
    **dict.fromkeys(("token_view", "score_plane"), 2),
}
"""Names of components, and how many pictures each has: a text and its weights are two."""
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def pictures_of(page):
    """Return what ui.chart.noted_pictures() does, outside a run."""
    import ui.chart

    return list(ui.chart._flat(page.session_state["pictures_of_the_page"]))


def pictures_of_components(page) -> int:
    """Return how many pictures those components have that are drawn now, bars, and a strip.

    A component that is not known has none to be saved.
    """
    n_bars = len(re.findall('class="(?:bars|strip)"', html_of(page)))
    of_looks = ("ask_scene", "start_drawing_scene")  # a picture of each of two
    n_bars += sum(scene in each.proto.id for scene in of_looks for each in page.get("bidi_component"))
    return n_bars + sum(COMPONENTS[each.proto.component_name.split(".")[-1]] for each in page.get("bidi_component"))


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_experiment_opens_explains_its_terms_and_its_pictures_become_vector_figures(app, entry):
    page = open_page(app, path_of(entry))
    assert page.title
    assert not page.error
    saved = set()
    for slug in ("", *(question.slug for question in entry.questions)):
        if slug:
            open_question(page, slug)
        words, helps = visible_and_hover_text(page)
        assert len(words) > 100
        assert not [term for term in terms_in(words) if TERMS[term] not in helps], slug
        shown = pictures_of(page)
        assert len(shown) == len(page.get("vega_lite_chart")) + pictures_of_components(page), slug
        for picture in shown:
            assert NAME.fullmatch(file_name(entry.name, picture.name))
            if picture.title in saved:
                continue
            chart, is_first = picture.build(), not saved
            saved.add(picture.title)
            svg = figure(chart, "svg", title=picture.title)
            assert any(words and picture.title.startswith(words) for words in ET.fromstring(svg).itertext()), (
                picture.title
            )
            assert not is_first or figure(chart, "pdf", title=picture.title).startswith(b"%PDF")


def test_a_step_is_named_by_page_model_and_step_and_nothing_is_made_before_it_is_asked_for(app, monkeypatch):
    made = []
    monkeypatch.setattr(
        sys.modules["attention_core.charts.figure"], "figure", lambda *given, **named: made.append(named) or b""
    )
    page = open_page(app, "pages/translate/page.py")
    rerun(page, translate_step="weights")
    names = [file_name("translate", picture.name) for picture in pictures_of(page)]
    assert "translate-dot-attention-over-source-words-weights" in names
    assert not made


def test_pictures_of_an_experiment_that_was_left_are_not_offered(app):
    page = open_question(open_page(app, "pages/translate/page.py"), "alignment")
    there = {picture.title for picture in pictures_of(page)}
    open_question(page, "")
    assert there - {picture.title for picture in pictures_of(page)}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("translate", "Additive attention", "weights"), "translate-additive-attention-weights"),
        (("pixels", "Été: 28 × 28!"), "pixels-ete-28-28"),
        (("model", "model 7"), "model-7"),
        (("a", "b " * 90), "a-b"),
    ],
)
def test_file_names_are_plain(words, name):
    assert file_name(*words) == name


def test_widths_are_those_of_columns():
    assert list(PRINT_WIDTHS.values()) == [None, 85.0, 176.0]
