"""Sections about heads without a browser: what is chosen survives another run, every kind of run is drawn."""

import base64
import gc
import itertools
import json
import re
import weakref
from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core.attention.capture.trace_builder import from_weights
from attention_core.attention.recording import Recording
from attention_core.attention.types import Axis
from attention_core.attention.wording import percent
from attention_core.explain.heads import is_self_attention
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun, special_keys
from pages.model.one_head import packed, pieces
from tests.support.app import charts, step_numbers
from tests.support.toy_runs import toy_recording, toy_run, toy_trace
from ui.labels import error_markdown

RUNS: dict[str, ModelRun] = {}
"""What the script below draws, by name: AppTest runs it in this process."""


@pytest.fixture(scope="module", autouse=True)
def runs():
    words, many = ["[CLS]", "the", "cat", "##s", ",", "sat", "[SEP]"], [f" w{place}" for place in range(1250)]
    special = frozenset({0, 6})
    source, target = Axis("source tokens", words), Axis("target tokens", ["<pad>", " Die", " Katze"])
    longer, read = Axis("target tokens", many[:90]), Axis("source tokens", many[:60])
    beside = {
        name: toy_trace("decoder.0.self", axis, axis, is_causal=True) for name, axis in (("t", target), ("l", longer))
    }
    both = [toy_trace("encoder.0.self", source, source), beside["t"], toy_trace("decoder.0.cross", target, source)]
    crossed = [beside["l"], toy_trace("decoder.0.cross", longer, read)]
    weights = from_weights(torch.rand(2, 4, 4).softmax(-1), name="encoder.0.self", note="", mechanism="toy")
    patches = ["[CLS]", *(f"patch {row}, {column}" for row in range(2) for column in range(3))]
    looks = {"special": frozenset({0}), "patch_grid": (2, 3), "n_prefix": 1, "picture": np.zeros((20, 30, 3), np.uint8)}
    broken = toy_recording(words, 2)
    broken.traces[1] = replace(broken.traces[1], query=broken.traces[1].query * float("nan"))
    RUNS.update(
        {
            "encoder": toy_run(toy_recording(words, 3), words, special=special),
            "smaller": toy_run(toy_recording(["a", "b"], 1, n_heads=1), "ab"),
            "long": toy_run(toy_recording(many, 2, "decoder", is_causal=True), many, ModelKind.DECODER),
            "both": toy_run(
                Recording(both), words, ModelKind.ENCODER_DECODER, target_tokens=tuple(target.labels), special=special
            ),
            "crossed": toy_run(
                Recording(crossed), many[:60], ModelKind.ENCODER_DECODER, target_tokens=tuple(many[:90])
            ),
            "weights only": toy_run(Recording([weights]), "abcd"),
            "vision": toy_run(toy_recording(patches, 2), patches, ModelKind.VISION, **looks),
            "many heads": toy_run(toy_recording(["a", "b", "c"], 2, n_heads=70), "abc"),
            "not finite": toy_run(broken, words),
            "blind": toy_run(
                toy_recording(["a", "b", "c"], 1, mask=torch.tensor([[1, 1, 1], [0, 0, 0], [0, 1, 0]]).bool()), "abc"
            ),
            "wide": toy_run(
                Recording([toy_trace("decoder.0.cross", target, Axis("source tokens", many))]),
                many,
                ModelKind.ENCODER_DECODER,
                target_tokens=tuple(target.labels),
            ),
            "one": toy_run(toy_recording(["word"], 1, n_heads=1), ["word"]),
        }
    )
    yield
    RUNS.clear()


def script() -> None:
    import sys

    import streamlit as st

    from pages.model.glance import chosen_layers
    from pages.model.head_list import choose_named_head
    from pages.model.heads import heads_in_numbers, rolled_out
    from pages.model.one_head import inspect_head, token_view
    from ui.state import read_address, write_address

    runs = next(module.RUNS for name, module in sys.modules.items() if name.endswith("pages.model.test_heads"))
    run = runs[st.session_state["run"]]
    read_address("model")
    choose_named_head(run)
    now, layers = chosen_layers(run)
    st.text(f"now {tuple(now)}")
    token_view(run, layers[now.layer], now.head)
    for part in (inspect_head, heads_in_numbers, rolled_out):
        part(run)
    write_address()


def opened(name: str, **address: str) -> AppTest:
    at = AppTest.from_function(script, default_timeout=60)
    at.session_state["run"], at.query_params["heads"] = name, "all"
    for field, value in address.items():
        at.query_params[field] = value
    at.run()
    assert not at.exception, at.exception
    return at


def now(at: AppTest) -> str:
    return next(one.value for one in at.text if one.value.startswith("now"))


@pytest.mark.parametrize("name", ["encoder", "both", "vision", "weights only", "one", "blind"])
def test_where_a_token_looks_is_its_heaviest_word_and_each_mark_or_itself_that_has_more(name):
    opened(name)
    from pages.model.opening import describe_strongest_keys  # not before there is an app

    run, said = RUNS[name], set()
    for trace in run.recording.traces:
        special, of_itself = special_keys(run, trace), is_self_attention(trace)
        for head, query in itertools.product(range(trace.n_heads), range(trace.n_queries)):
            weights, labels = trace.weights(head, [query])[0].tolist(), trace.story.key_axis.labels
            told = describe_strongest_keys(run, trace, weights, query)
            aside = set() if of_itself and query in run.special else special | ({query} if of_itself else set())
            words = {place: weight for place, weight in enumerate(weights) if weight and place not in aside}
            most = max(words or dict(enumerate(weights)), key=weights.__getitem__)
            names = {place: error_markdown(label.strip()) for place, label in enumerate(labels)}
            names |= {query: "itself"} if of_itself and query != most else {}
            more = [place for place in sorted(aside) if weights[place] > weights[most]]
            parts = [f"*{names[most]}*", *(f"more at {names[place]}" for place in more)]
            shares = [percent(weights[place]) for place in (most, *more)]
            wanted = ", ".join(": ".join(pair) for pair in zip(parts, shares, strict=True))
            assert told == (wanted if any(weights) else "nothing")
            said |= set(re.findall("more at itself|more at|nothing", told))
    assert name not in ("encoder", "both") or said >= {"more at itself", "more at"}
    assert ("nothing" in said) == (name == "blind")


@pytest.mark.parametrize(("name", "is_coarse"), [("wide", True), ("both", False), ("long", True)])
def test_of_many_queries_or_keys_a_pixel_stands_for_several(name, is_coarse):
    at = opened(name, head=RUNS[name].recording.traces[-1].story.name + ":0")
    assert any("stands for several tokens" in one.value for one in at.caption) == is_coarse


def test_besides_the_patches_stands_what_a_token_that_is_none_gets_and_gives():
    at, learned = opened("vision", head="encoder.1.self:0", token="2"), RUNS["vision"].recording.traces[1].weights(0)
    told = [one.value for one in at.caption if one.value.startswith("Besides the patches")]
    shares = [percent(float(learned[cell])) for cell in ((2, 0), (0, 2))]
    assert told[:2] == [f"Besides the patches: [CLS] {share}." for share in shares]


@pytest.mark.parametrize(
    "name", ["encoder", "long", "both", "weights only", "vision", "many heads", "not finite", "one"]
)
def test_every_kind_of_run_is_drawn(name):
    at = opened(name, head="encoder.1.self:0")
    assert len(charts(at)) >= 3
    assert not at.error


def test_the_address_chooses_and_what_the_run_lacks_is_brought_inside():
    assert now(opened("encoder", head="encoder.2.self:1", token="5")) == "now ('encoder self', 2, 1, 5)"
    at = opened("both", head="decoder.0.cross:7", token="99")
    assert now(at) == "now ('decoder cross', 0, 1, 2)"
    assert at.query_params["head"] == "decoder.0.cross:1"
    for nonsense in ("encoder.9.self:1", ":", "encoder.0.self:x", "encoder.0.self:" + "9" * 99):
        assert now(opened("encoder", head=nonsense, token="-1")).endswith("0, 0, 0)")


def test_another_run_keeps_as_much_of_the_choice_as_it_has():
    at = opened("encoder", head="encoder.2.self:1", token="5")
    at.session_state["run"] = "smaller"
    assert now(at.run()) == "now ('encoder self', 0, 0, 1)"
    at.session_state["run"] = "both"
    at.run()
    at.segmented_control(key="model_group").set_value("decoder cross").run()
    assert now(at).startswith("now ('decoder cross', 0, 0")
    assert not at.exception


def uneven() -> None:
    import sys

    from pages.model.glance import Selection, head_map

    runs = next(module.RUNS for name, module in sys.modules.items() if name.endswith("pages.model.test_heads"))
    head_map(runs["encoder"], "map", [[0.5], [0.25, 1.0]], Selection("encoder self", 1, 0, 0), "Share", 1.0)


def test_numbers_of_heads_are_a_map_with_gaps_where_there_is_no_head():
    (shown,) = charts(AppTest.from_function(uneven, default_timeout=60).run())
    assert step_numbers(shown) == pytest.approx([0.5, np.nan, 0.25, 1.0], abs=1e-4, nan_ok=True)


def test_heads_are_chosen_with_the_keyboard_and_from_the_list_of_those_alike():
    at = opened("encoder")
    at.selectbox(key="model_ranked").set_value((2, 1)).run()
    assert now(at) == "now ('encoder self', 2, 1, 0)"
    like = next(one for one in at.button if one.key.startswith("model_like"))
    layer, head = (int(part) for part in like.key.split("_")[-2:])
    like.click().run()
    assert now(at) == f"now ('encoder self', {layer}, {head}, 0)"


def test_without_values_or_special_tokens_there_is_no_choice_of_them():
    at = opened("encoder", shown="length")
    choice = at.segmented_control(key="model_shown")
    assert choice.options == ["Weight", "Weight × |value|", "Without special tokens, rescaled"]
    assert choice.value == "length"
    at.session_state["run"] = "weights only"
    at.run()
    assert not at.exception
    assert at.segmented_control(key="model_shown").value == "weight"


def test_of_very_long_inputs_a_sentence_says_that_words_are_not_drawn():
    at = opened("long", head="decoder.1.self:0", token="1210")
    assert now(at).endswith("1210)")
    assert any("has 1,250 tokens; words are drawn for at most 1,200" in one.value for one in at.info)


def test_what_is_computed_from_a_run_leaves_with_it():
    from pages.model.glance import cached_with_run, summaries_of

    run = toy_run(toy_recording(["a", "b", "c"], 2), "abc")
    assert summaries_of(run, "encoder self") is summaries_of(run, "encoder self")
    what = "weights", run.recording.traces[0]
    assert cached_with_run(run, what, partial(what[1].weights, 0)) is cached_with_run(run, what, int)
    lives = weakref.ref(run)
    del run, what
    gc.collect()
    assert lives() is None


def test_numbers_travel_in_16_bits_and_pieces_are_joined_as_their_tokenizer_cut_them():
    matrix = np.array([[0.9, 0.09, 1e-3, 1e-5, 0.0]], np.float32)
    roots = np.frombuffer(base64.b64decode(packed(matrix, 0.9)), "<u2") / 65535
    np.testing.assert_allclose(roots**2 * 0.9, matrix[0], rtol=5e-3)
    assert len(packed(np.zeros((512, 512), np.float32), 0.0)) < 700_000
    assert pieces(["[CLS]", "cat", "##s", "##"]) == [("[CLS]", False), ("cat", False), ("s", True), ("##", False)]
    words = [("The", True), ("cat", False), ("s", True), ("<eos>", False), ("x", False)]
    assert pieces(["The", " cat", "s", "<eos>", "x"]) == words
    assert pieces(["0", "", "2"]) == [("0", False), ("·", False), ("2", False)]


@pytest.mark.parametrize(("name", "layer"), [("crossed", "decoder.0.self"), ("crossed", "decoder.0.cross")])
def test_of_a_large_matrix_the_rest_is_a_file_where_a_server_answers(name, layer, monkeypatch):
    """What is sent with the tokens is the chosen query's part of what is in the file."""

    def sent() -> dict:
        return json.loads(opened(name, head=f"{layer}:1", token="70").get("bidi_component")[0].proto.json)

    from ui import chart, served

    monkeypatch.setattr(served, "IS_SERVED", Event())
    whole = sent()
    served.IS_SERVED.set()
    part = sent()
    assert whole["file"] is None
    content = chart.FILES.get(part["file"].removeprefix("pictures/"))[0]
    assert content == base64.b64decode(whole["packed"])
    n_keys = len(part["keys"] or part["queries"])
    cells = np.frombuffer(content, "<u2").reshape(-1, n_keys)
    column = [] if part["keys"] else cells[:, part["active"]]
    packed_part = np.frombuffer(base64.b64decode(part["packed"]), "<u2")
    np.testing.assert_array_equal(packed_part, [*cells[part["active"]], *column])
