"""Inside a transformer, without a browser: presets, heads, steps, heads switched off, positions, cost, bad input."""

import re

import pytest

from attention_core.data.sentence_presets import LAYERED
from attention_core.topics.transformer import cost
from attention_core.topics.translate import training
from tests.app import tools
from tests.app.tools import bodies, body_with, open_tab, opened, said, there_and_back

PAGE, NAME = "pages/transformer.py", "transformer"
TEXT = f"{NAME}_text"
BAD = {
    "one word": "Hello",
    "200 words": "The red car stopped. " * 50,
    "another alphabet": "Где находится библиотека?",
    "emoji": "I love you 😀 😀!",
    "HTML": "<img src=x onerror=alert(1)> <b>Stop</b>",
    "digits": "In 1998 we had 365 days.",
    "unknown words": "Zorglub ate my xylophonic quokka.",
    "upper case": "THE RED CAR IS IN FRONT OF THE HOUSE.",
    "no final stop": "the red car is in front of the house",
    "one endless word": "a" * 900,
}
TABS = ("heads", "steps", "off", "order", "positions", "cost")


def settled(page):
    assert not tools.settled(page).error
    return page


def typed(page, text):
    page.text_area(key=TEXT).set_value(text)
    return settled(page)


def n_charts(page, tabs=TABS) -> int:
    return sum(len(open_tab(page, tab).get("vega_lite_chart")) for tab in tabs)


def test_every_preset_is_translated_and_looked_into(page):
    seen = set()
    for text in LAYERED.values():
        typed(page, text)
        seen.add(next(one for one in bodies(page).split("</p>") if 'class="said"' in one))
        assert n_charts(page) >= 10
    assert len(seen) == len(LAYERED)


def test_kind_decides_who_asks_whom(page):
    asked = {}
    for kind in ("encoder", "decoder", "cross"):
        page.segmented_control(key=f"{NAME}_kind").set_value(kind)
        asked[kind] = next(one.value for one in settled(page).caption if "Handed over is" in one.value)
    assert "English sentence" in asked["encoder"]
    assert "never what comes after" in asked["decoder"]
    assert "about to be said" in asked["cross"]


def test_layer_and_head_are_chosen_and_in_the_address(page):
    page.segmented_control(key=f"{NAME}_layer").set_value(2)
    page.segmented_control(key=f"{NAME}_head").set_value(4)
    settled(page)
    assert "**Layer 3, head 5**" in said(page)
    assert page.query_params["head"] in ("encoder-3-5", ["encoder-3-5"])


@pytest.mark.parametrize(("asked", "shown"), [("cross-3-1", "Layer 3, head 1"), ("cross-9-x", "Layer 1, head 1")])
def test_an_address_can_name_a_head(app, asked, shown):
    app.query_params["head"] = asked
    assert shown in said(opened(app, PAGE))


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_every_step_can_be_shown(page, kind):
    page.segmented_control(key=f"{NAME}_kind").set_value(kind)
    open_tab(settled(page), "steps")
    page.session_state[f"{NAME}_step"] = "embedding"
    seen = []
    for _ in range(14):
        seen.append(settled(page).session_state[f"{NAME}_step"])
        following = page.button(key=f"{NAME}_step_next")
        if following.disabled:
            break
        following.click()
    expected = ["embedding", "query", "key", "value", "scores", "scaled", "mask", "weights", "context", "merge"]
    assert seen == [step for step in expected if step != "mask" or kind == "decoder"]


def test_a_head_is_switched_off_and_on_again(page):
    assert "Choose a head above" in said(open_tab(page, "off"))
    page.button(key=f"{NAME}_switch").click()
    settled(page)
    assert "Off: encoder, layer 1, head 1" in said(page)
    assert page.button(key=f"{NAME}_switch").label == "Switch on"
    page.button(key=f"{NAME}_restore").click()
    settled(page)
    assert page.session_state[f"{NAME}_off"] == []
    assert "Choose a head above" in said(page)


def test_positions_left_out_change_what_is_said(page):
    open_tab(page, "off")
    page.toggle(key=f"{NAME}_without").set_value(True)
    settled(page)
    assert "Positions left out." in said(page)


@pytest.mark.parametrize("tab", ["heads", "steps", "off"])
def test_the_translation_at_the_top_is_the_changed_models(page, tab):
    at_top = re.compile(r'class="said" lang="fr">(.*?)</p>')
    trained, *below = at_top.findall(bodies(open_tab(page, tab)))
    assert not below
    assert "As trained" not in bodies(page)
    page.toggle(key=f"{NAME}_without").set_value(True)
    settled(page)
    changed, *below = at_top.findall(bodies(page))
    assert changed != trained
    assert not below
    assert f'As trained: <i lang="fr">{trained}</i>' in bodies(page)
    page.button(key=f"{NAME}_restore").click()
    assert at_top.findall(bodies(settled(page))) == [trained]


def test_many_heads_off_are_counted(app):
    app.query_params["off"] = ".".join(f"encoder-{layer}-{head}" for layer in (1, 2) for head in range(1, 5))
    assert "encoder, layer 1, head 4 and 4 more." in said(opened(app, PAGE))


def test_shuffled_words_are_the_same_to_an_encoder_without_positions(page):
    open_tab(page, "order")
    page.button(key=f"{NAME}_reverse").click()
    settled(page)
    without, with_positions = (one.value for one in page.markdown if "largest difference" in one.value)
    assert float(without.split("**")[-2]) < 1e-4
    assert float(with_positions.split("**")[-2]) > 0.01
    assert "(the same)" in bodies(page)
    before = bodies(page)
    page.button(key=f"{NAME}_shuffle").click()
    assert bodies(settled(page)) != before


@pytest.mark.parametrize(("kind", "told"), [("Learned", "form a line"), ("Rotary", "hands of clocks")])
def test_all_kinds_of_positions_are_pictured(page, kind, told):
    open_tab(page, "positions")
    page.segmented_control(key=f"{NAME}_positions").set_value(kind)
    assert told in said(settled(page))


def test_cost_was_measured_beforehand(page, monkeypatch, tmp_path):
    assert "Measured beforehand" in said(open_tab(page, "cost"))
    monkeypatch.setattr(cost, "COMMITTED", tmp_path / "missing.json")
    assert "No figures were measured beforehand" in said(open_tab(page, "cost"))


@pytest.mark.parametrize("text", ["", "   \n "])
def test_nothing_typed_leaves_positions_and_cost(page, text):
    page.text_area(key=TEXT).set_value(text).run()
    assert page.info
    assert n_charts(page, ("positions", "cost")) == 5


def test_bad_input_is_answered_and_shown_as_pieces(page):
    for name, text in BAD.items():
        typed(page, text)
        assert 'class="said"' in bodies(page), name
        assert "<img" not in "".join(bodies(open_tab(page, tab)) for tab in ("heads", "order")), name
        assert page.text_area(key=TEXT).value == text, name


def test_what_was_not_read_is_told(page):
    typed(page, BAD["200 words"])
    assert "words are read" in said(page)
    typed(page, BAD["another alphabet"])
    assert "never met" in said(page) or "pieces" in said(page)
    assert "Unknown to the model: 3 of 3 words. It knows English alone." in said(page)


def test_sentence_and_head_survive_leaving_the_page(page):
    typed(page, "The dog bit the man.")
    page.segmented_control(key=f"{NAME}_kind").set_value("cross")
    page.segmented_control(key=f"{NAME}_layer").set_value(1)
    settled(page)
    there_and_back(page)
    assert page.text_area(key=TEXT).value == "The dog bit the man."
    assert page.segmented_control(key=f"{NAME}_kind").value == "cross"
    assert "**Layer 2, head 1**" in said(page)


def test_missing_weights_cost_no_more_than_their_part(weights, start_app):
    (weights / "translator-transformer.safetensors").unlink()
    (weights / "learned-positions.safetensors").unlink()
    page = opened(start_app(), PAGE)
    assert "attention_core.train translator-transformer" in page.error[0].value
    assert n_charts(page, ("positions", "cost")) == 5
    open_tab(page, "positions").segmented_control(key=f"{NAME}_positions").set_value("Learned").run()
    assert "cannot be loaded" in page.error[1].value


def test_what_order_and_attention_are_worth_is_told_from_measured_figures(page, monkeypatch, tmp_path):
    open_tab(page, "twice")
    table = body_with(page, 'class="figures"')
    assert all(what in table for what in training.WITHOUT.values())
    assert "Neither is too many" in said(page)
    monkeypatch.setattr(training, "COMMITTED", tmp_path / "missing.json")
    assert "Nothing was measured beforehand" in said(open_tab(page, "twice"))
