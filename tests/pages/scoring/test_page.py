"""What a score measures, without a browser: presets, dragged vectors, learned scores, what survives."""

import re

import numpy as np
import pytest
import torch

from attention_core.attention.edits import SetWeights
from attention_core.live_training.score_comparison import EXTENT, Vectors
from attention_core.train.synthetic import draw_nearest
from pages.scoring.experiments.scale import worth_of_dividing
from tests.support.app import component_data, frames, html_with, open_page, open_question, set_fields, text_of
from ui.edits import ListedEdit
from ui.edits.edit_list import _format

PAGE = "pages/scoring/page.py"
ALIKE = "Divided or not, about as much is found at every width."


def scene(page):
    """The scene of all scores, a row each."""
    return component_data(page, "score_plane")["scene"]


def text(app):
    return " ".join(element.value for element in app.markdown)


def press(page, *names):
    """Press buttons one after the other, and nothing goes wrong."""
    for name in names:
        page.button(key=f"scoring_{name}").click().run()
    return component_data(page, "score_plane")


def test_the_page_arrives_with_scores_that_learn_nothing_and_compares_printed_and_divided_ones(page):
    data = component_data(page, "score_plane")
    assert (data["names"], data["scene"]["tour"]) == (["q", "k₁", "k₂", "k₃", "k₄"], [0, 1, 2])
    assert "Largest weight" not in text(page)
    table = html_with(open_question(page, "printed"), "figures")
    rows = [re.findall(r"([\d.]+)%", row) for row in table.split("<tr>")[2:]]
    assert len(rows) == 3
    assert rows[0]
    assert rows[0] == rows[1] == rows[2]
    open_question(page, "scale")

    def largest(d_k):
        page.select_slider(key="scoring_d_k").set_value(d_k).run()
        return [float(share) for share in re.findall(r"\*\*([\d.]+)%", text_of(page))]

    narrow, wide = largest(1), largest(1024)
    assert narrow[0] == narrow[1], "the root of 1 changes nothing"
    assert wide[0] > 90 > wide[1]
    assert len(page.get("vega_lite_chart")) == 3


def test_a_query_twice_as_long_changes_the_nearest_key_alone(page):
    before = [np.argmax(row) for row in scene(page)["weights"]]
    page.button(key="scoring_try").click().run()
    page.get("button_group")[0].set_value(2).run()
    data = component_data(page, "score_plane")
    assert data["arrows"][0] == [4.0, 3.0]
    after = [np.argmax(row) for row in data["scene"]["weights"]]
    changed = [name for name, old, new in zip(data["scene"]["queries"], before, after, strict=True) if old != new]
    assert changed == ["squared distance"]
    verdict = "**Right**: **Squared distance**: q's tip is now nearest to k₂, not k₁."
    assert verdict in page.success[0].value
    press(page, "preset_Right angles")
    assert page.button(key="scoring_try"), "what came of the guess goes with the vectors"


def test_all_eight_functions_have_fields_networks_and_weights_at_right_angles_too(page):
    names = ["dot", "scaled dot", "general", "cosine", "additive", "concat", "location", "squared distance"]
    assert "Nearest to q is **k₁**" in text(open_question(page, "all"))
    assert scene(page)["queries"] == names
    additive = scene(page)["scores"][names.index("additive")]
    fields = [frame for frame in frames(open_question(page, "field")) if "ends" in frame]
    assert [name for half in fields for name in half["name"]] == names
    open_question(page, "parameters")
    for key in (0, 2):
        page.segmented_control(key="scoring_active").set_value(key).run()
        nodes = [frame["text"].tolist() for frame in frames(page) if "ink" in frame]
        numbers, units, (score,) = nodes
        assert (len(numbers), len(units)) == (4, 8)
        assert float(score.replace("−", "-")) == pytest.approx(additive[key], abs=0.01)
    press(open_question(page, "all"), "preset_Right angles")
    assert scene(page)["scores"][0][:2] == [0, 0]
    assert min(scene(page)["weights"][0][:2]) > 0


def try_it(page):
    page.button(key="scoring_try").click().run()
    page.get("button_group")[0].set_value(0).run()


@pytest.mark.parametrize("end", [lambda page: press(page, "preset_Mixed"), try_it])
def test_own_weights_change_no_conclusion_and_end_with_another_example(app, end):
    def all_agree():
        return [text for text in text_of(open_question(app, "all")).split("\n") if "Largest weight" in text]

    app.query_params["edits"] = _format([ListedEdit(SetWeights(0, ((1, 0.0),)), "k₂ is cut", "dot")])
    open_page(app, PAGE)
    assert scene(app)["changed"] == [0]
    with_own = all_agree()
    end(open_question(app, ""))
    assert scene(app)["changed"] == []
    press(app, "preset_Mixed")
    assert all_agree() == with_own != []


@pytest.mark.parametrize("name", ["Mixed", "Equal lengths", "One long key", "Right angles"])
def test_every_preset_arranges_the_arrows_and_explains_itself(page, name):
    start = "Mixed" if name == "Right angles" else "Right angles"
    before, after = press(page, f"preset_{start}"), press(page, f"preset_{name}")
    assert after["arrows"] != before["arrows"]
    assert after["revision"] > before["revision"]
    explains = any("k₁" in caption.value or "keys" in caption.value for caption in page.caption)
    assert explains == (name != "Mixed"), "of the first one the sentence above does"


@pytest.mark.parametrize("d", [3, 4, 8])
def test_a_link_to_wider_vectors_lists_all_functions_without_a_plane(app, d):
    app.query_params["vectors"] = ";".join([",".join(["1"] * d)] * 3)
    open_page(app, PAGE)
    data = component_data(app, "score_plane")
    assert data["bare"]
    assert data["names"] == ["q", "k₁", "k₂"]
    assert np.shape(data["scene"]["weights"]) == (3, 2)
    assert np.shape(scene(open_question(app, "all"))["weights"]) == (8, 2)
    assert "A field needs vectors of two numbers." in text(open_question(app, "field"))


def test_the_arrangement_survives_leaving_the_page(page):
    keys = press(page, "preset_One long key")["arrows"][1:]
    page.session_state["scoring_vectors"] = Vectors([-1.25, 0.5], keys)
    weights = scene(page.run())["weights"]
    page.switch_page("pages/start/page.py").run()
    open_page(page, PAGE)
    assert component_data(page, "score_plane")["arrows"][0] == [-1.25, 0.5]
    assert scene(page)["weights"] == weights


def test_a_link_reopens_an_arrangement(app):
    app.query_params["vectors"] = "1,2;0.5,0.5;-3,1.25"
    open_page(app, PAGE)
    assert component_data(app, "score_plane")["arrows"] == [[1, 2], [0.5, 0.5], [-3, 1.25]]
    unturned = scene(app)["weights"]
    set_fields(app, vectors=Vectors.parse("1,2;0.5,0.5;-3,1.25@-90"))
    turned = scene(app)["weights"]
    set_fields(app, vectors=Vectors.parse("2,-1;0.5,0.5;-3,1.25"))
    np.testing.assert_allclose(scene(app)["weights"], turned, atol=1e-12)
    assert not np.allclose(turned, unturned, atol=0.1)
    press(app, "preset_Mixed")
    assert app.query_params["vectors"] == "2,1.5;0.5,2.25;3.9,-0.25;-1.75,-1.5;0.5,0.6"


@pytest.mark.parametrize(
    "link", ["hello", "1,2", "1,2;3", "9,9;1,1;2,2", "nan,1;1,1;2,2", "1,2;1,1;2,2@181", ";" * 5000]
)
def test_a_link_that_is_none_is_passed_over(app, link):
    app.query_params["vectors"] = link
    open_page(app, PAGE)
    assert component_data(app, "score_plane")["arrows"][0] == [2.0, 1.5]


def test_missing_weights_are_reported_without_a_traceback(app, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))

    from ui import computed

    computed._load.clear()
    app.switch_page(PAGE).run()
    assert "python -m attention_core.train scoring-functions" in app.error[0].value
    computed._load.clear()


@pytest.fixture
def short(monkeypatch):
    """Trainings of two points."""
    from attention_core.live_training import score_comparison as training
    from ui.computed import result_cache

    monkeypatch.setattr(training, "N_STEPS", 20)
    result_cache.clear()
    yield
    result_cache.clear()


@pytest.mark.parametrize(("slug", "rows"), [("scale", 4), ("projections", 3)])
def test_scores_are_trained_on_demand_and_cached_for_everybody(page, short, slug, rows):
    before = len(open_question(page, slug).get("vega_lite_chart"))
    page.button(key="scoring_train").click().run()
    assert len(page.get("vega_lite_chart")) == before + 2
    assert html_with(page, "figures").count("<tr><td>") == rows
    page.run()
    assert len(page.get("vega_lite_chart")) == before + 2
    assert not [button for button in page.button if button.key == "scoring_train"]


@pytest.mark.parametrize(
    ("plain", "scaled", "rate", "words"),
    [
        ((0.7, 0.98), (0.7, 0.97), 0.01, f"{ALIKE} Try a higher learning rate."),
        ((0.17, 0.18), (0.18, 0.17), 0.3, ALIKE),
        ((0.69, 0.89), (0.69, 0.98), 0.1, "**Divided, it finds more at d = 256.** At the other widths about as much."),
        ((0.2, 0.2), (0.6, 0.9), 0.3, "**Divided, it finds more at d = 4, 256.**"),
        ((0.9, 0.2), (0.8, 0.98), 0.3, "**Divided, it finds more at d = 256 and less at d = 4.**"),
    ],
)
def test_the_worth_of_dividing_is_about_every_width(plain, scaled, rate, words):
    accuracy_by_width = (dict(zip((4, 256), accuracies, strict=True)) for accuracies in (plain, scaled))
    assert worth_of_dividing(*accuracy_by_width, rate) == words


def test_learned_scores_saw_keys_in_the_upper_half_only():
    _, key, _ = draw_nearest(500, 2, torch.Generator().manual_seed(0))
    right, up = key.flatten(0, 1).T
    assert right.min() < 0 < up.min()
    assert up.max() > EXTENT / 2


def test_another_rate_is_trained_anew_and_waits_for_its_turn_in_the_queue(page, short, monkeypatch):
    open_question(page, "scale").button(key="scoring_train").click().run()
    set_fields(page, rate=0.01)
    assert page.button(key="scoring_train")
    assert len(page.get("vega_lite_chart")) == 3
    from attention_core.device import choose_device
    from ui import job_queue

    monkeypatch.setattr(job_queue, "SECONDS_TO_NOTICE", 0.0)
    queue = job_queue.queue_of(choose_device())
    assert queue.join(1)
    try:
        monkeypatch.setattr(queue, "max_waiting", 0)
        open_question(page, "scale").button(key="scoring_train").click().run()
        assert "Many visitors" in text_of(page)
    finally:
        queue.leave(1)
