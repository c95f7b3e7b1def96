"""Why there?: the story of the bundled language model, a score's sources down to the word, and what has no reasons."""

import json
import re

import pytest

from attention_core.attention.edits import DropHead
from attention_core.concurrency import BoundedCache
from attention_core.hub.run import text_inputs
from attention_core.inference.pretrained import load_bundled
from attention_core.study import Study
from tests.support.app import open_page, open_question, rerun, set_value, text_of

PAGE, STORY = "pages/model/page.py", "Mary has a red car. Mary has a red"


@pytest.fixture
def story(page_at_why):
    page_at_why.button(key="model_why_story").click()
    return rerun(page_at_why)


@pytest.fixture
def page_at_why(app):
    return open_question(open_page(app, PAGE), "why")


@pytest.fixture(scope="module")
def table():
    pretrained = load_bundled("tatoeba-llama", "cpu")
    return Study(pretrained.model, pretrained.tokenizer).why(STORY, layer=3, head=5, query=10, key=5)


def bars_of(page):
    """Return what the two margins show, by the names of their bars; the query's first."""
    drawn = (one.proto for one in page.get("bidi_component") if one.proto.component_name.endswith("next_words"))
    found = [json.loads(one.json or one.mixed.json)["words"] for one in drawn]
    return [{one["text"]: one["value"] for one in words} for words in found]


def test_two_clicks_find_the_head_that_looks_one_word_back_and_a_third_breaks_the_copying(story):
    words = text_of(story)
    assert "Head 3.5 looks from `red` (the second) at `car`: 79%." in words
    assert "It is an **induction head**" in words
    assert "The largest part on the key’s side comes from **head 2.0**, which looked one token back" in words
    assert not [button for button in story.button if button.key == "model_why_story"]
    story.button(key="model_why_switch").click()
    page = rerun(story)
    assert "its look at `car`\n## 79% → 4%\nthen `car` as the next word\n## 90% → 5%" in text_of(page)
    assert page.query_params["broken"] == "1"
    page.button(key="model_why_switch").click()
    assert "→" not in text_of(rerun(page))


def test_the_bars_add_up_to_the_score_and_sources_are_opened_down_to_the_word(story, table):
    from pages.model.why import format_source

    query, key = bars_of(story)
    for bars, margin in ((query, table.by_query()), (key, table.by_key())):
        assert sum(bars.values()) == pytest.approx(table.score, abs=1e-3)
        rest = next(name for name in bars if "others together" in name)
        named = {format_source(name): value for name, value in margin.items()}
        assert all(value == pytest.approx(named[name], abs=1e-4) for name, value in bars.items() if name != rest)
    assert max(key, key=key.get) == "head 2.0"
    page = set_value(story.multiselect(key="model_why_opened_key"), ["2.0"])
    assert max(bars_of(page)[1].items(), key=lambda bar: bar[1])[0] == "head 2.0, from red (5)"
    page = set_value(page.multiselect(key="model_why_opened_key"), ["2.0", "2.0 of 4 red"])
    deepest = table.open("key", "2.0").open("key", "2.0 of 4 red").by_key()["2.0 of 4 red: mlp 0"]
    shown = bars_of(page)[1]["head 2.0, from red (5): feed-forward 0"]
    assert shown == pytest.approx(deepest, abs=1e-4)
    page = set_value(page.multiselect(key="model_why_opened_query"), ["2.1"])
    assert "head 2.1" not in bars_of(page)[0]
    assert page.session_state["model_why_opened"] == ["key:2.0", "key:2.0 of 4 red", "query:2.1"]
    assert "2.0" in page.multiselect(key="model_why_opened_key").options
    page = set_value(page.multiselect(key="model_why_opened_key"), [])
    assert "head 2.0" in bars_of(page)[1]


def test_a_key_is_chosen_and_compared_with_another_or_with_nothing(story):
    pretrained = load_bundled("tatoeba-llama", "cpu")
    study = Study(pretrained.model, pretrained.tokenizer)
    place = {"layer": 3, "head": 5, "query": 10}
    compared = {-2: (None, "The score,"), 6: (6, "The score, less that of `.`,")}
    compared[-1] = "mean", "The score, less the mean of the others,"
    for against, (expected, words) in compared.items():
        page = set_value(story.selectbox(key="model_why_against"), against)
        why = study.why(STORY, **place, key=5, against=expected)
        told = f"{words} {why.score:.2f}, is the sum of {why.cells.numel():,} products".replace("-", "−")
        assert told in text_of(page)
        assert page.expander[-1].label == "The 5 largest products"
    page = set_value(page.selectbox(key="model_why_key"), 6)
    assert "at `.`" in text_of(page)
    assert page.session_state["model_why_against"] == -1, "a key is not compared with itself"
    assert page.query_params["key"] == "6"


def test_where_a_query_sees_one_key_its_score_is_less_than_nothing_else(story):
    page = rerun(story, model_query=0)
    assert re.search(r"\nThe score, [−\d.]+, is the sum of", text_of(page))


def test_links_hold_what_is_opened_and_bad_ones_open_nothing(story, app, start_app):
    page = set_value(story.multiselect(key="model_why_opened_key"), ["2.0"])
    link = dict(page.query_params)
    again = start_app()
    again.query_params.update(link)
    again = open_page(again, PAGE)
    assert again.session_state["model_why_opened"] == ["key:2.0"]
    assert "head 2.0, from red (5)" in bars_of(again)[1]
    bad = start_app()
    bad.query_params.update(link | {"opened": "~nonsense", "key": "9999", "rather": "77"})
    assert not open_page(bad, PAGE).session_state["model_why_opened"]


def test_encoders_have_reasons_too_and_no_next_word(page_at_why):
    words = text_of(page_at_why)
    assert "Head 3.1 looks from `it` at `animal`: 68%." in words
    assert "is the sum of" in words
    assert sum(bars_of(page_at_why)[1].values()) == pytest.approx(sum(bars_of(page_at_why)[0].values()), abs=1e-3)


def test_what_cannot_be_taken_apart_says_why(app, model_folders, monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    app.query_params["model"] = "both"
    page = open_question(open_page(app, PAGE), "why")
    assert "This score cannot be taken apart: nobody has described where" in text_of(page)


def test_without_names_of_heads_a_score_is_taken_apart_all_the_same(page_at_why, monkeypatch):
    def fails(*given):
        raise ValueError("the corpus is empty")

    monkeypatch.setattr("pages.model.why.corpus", fails)
    monkeypatch.setattr("pages.model.why.result_cache", lambda: BoundedCache(max_items=1))
    page_at_why.button(key="model_why_story").click()
    words = text_of(rerun(page_at_why))
    assert "Head 3.5 looks from `red` (the second) at `car`: 79%." in words
    assert "is the sum of" in words
    assert "induction head" not in words


def test_stored_names_are_those_of_a_model_by_its_hub_id_and_its_folder():
    from attention_core.study.stored_names import stored_names

    assert stored_names("HuggingFaceTB/SmolLM2-135M-Instruct") == stored_names("SmolLM2-135M-Instruct")
    assert stored_names("SmolLM2-135M-Instruct")[17, 5] == "induction"
    assert not stored_names("someone/tiny")


def test_how_often_the_story_holds_is_what_the_page_says():
    """Three names and twenty things: how often head 2.0 is the largest part, and halves the look when it is off."""
    from pages.model.why import EXAMPLE_FIGURES

    things = [
        "red car",
        "new house",
        "black cat",
        "big dog",
        "good book",
        "white horse",
        "blue hat",
        "small table",
        "long letter",
        "young friend",
        "big tree",
        "green door",
        "cold beer",
        "hot tea",
        "dark room",
        "little girl",
        "short story",
        "strange question",
        "cheap ticket",
        "fast train",
    ]
    pretrained = load_bundled("tatoeba-llama", "cpu")
    study = Study(pretrained.model, pretrained.tokenizer)
    largest, halved = [], []
    for name in ("Mary", "Tom", "John"):
        for thing in things:
            text = f"{name} has a {thing}. {name} has a {thing.split()[0]}"
            assert len(text_inputs(pretrained, text).tokens) == 11, text
            largest.append(next(iter(study.why(text, layer=3, head=5, query=10, key=5).by_key())) == "2.0")
            one, other = (
                float(study.run(text, edits)[0].traces[3].weights(5, [10], [5])) for edits in ({}, {2: [DropHead(0)]})
            )
            halved.append(other < one / 2)
    assert len(largest) == 60
    assert f"{sum(largest)} times, and without it the look more than halves {sum(halved)} times" in EXAMPLE_FIGURES
