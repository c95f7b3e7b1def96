"""The sections about language and about ablated heads, without a browser, on tiny models."""

import math
import re
from types import SimpleNamespace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core.attention.edits import DropHead
from attention_core.attention.wording import fine_percent
from attention_core.hub.generation import KeyValueCache
from attention_core.hub.outputs import NextTokens, log_probabilities, token_text
from attention_core.inference.pretrained import load_model
from attention_core.links import pack
from attention_core.study import Study
from tests.support import tiny_hub
from tests.support.app import charts, data_of, frames, html_of, rerun, set_value, text_of

SCRIPT = """
from importlib import import_module

import streamlit as st
from pages.model.effects import drop_heads, patch_heads, take_logit_apart
from pages.model.input import choose_input
from pages.model.runs import runs_of
from ui.model_runs import RunRequest, pretrained_of, run_of

key = st.query_params["model"]
given = choose_input("model", pretrained_of(key))
if given is not None:
    runs = runs_of(run_of(key, given), RunRequest(key, given))
    part = st.query_params["part"]
    experiment = import_module("pages.model.experiments." + part)
    take = {"logit": take_logit_apart, "patch": patch_heads}.get(part, lambda *_: runs)
    inputs = take(runs.run, runs.request)
    if part == "without":
        inputs = experiment.HeadsOff(runs, drop_heads(runs.run, runs.request))
    st.markdown(experiment.answer(inputs))
    experiment.draw(inputs)
"""
TEXT = "The animal was too tired."


@pytest.fixture
def opened(model_folders, root, monkeypatch):
    """A function that opens a section for a model and a text."""
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    monkeypatch.chdir(root)

    def open_(model, text=TEXT, part="words"):
        page = AppTest.from_string(SCRIPT, default_timeout=60)
        page.query_params.update({"model": model, "part": part})
        for kind in ("encoder", "decoder", "encoder-decoder"):
            page.session_state[f"model_text_{kind}"] = text
        return rerun(page)

    yield open_
    from ui.model_runs import free_models

    free_models()


def pressed(page, key):
    page.button(key=f"model_{key}").click()
    return rerun(page)


def ids_of(page):
    return page.session_state["model_says_writing"]["ids"]


def look_at(page, layer, head):
    """Choose a head as elsewhere on the page."""
    from pages.model.glance import HeadChoice

    page.session_state["model_chosen"] = HeadChoice(group="encoder self", layer=layer, head=head)
    return rerun(page)


def listed(page):
    return [box.label for box in page.checkbox if "_edit_" in (box.key or "")]


def n_charts(page):
    return len(charts(page))


def test_a_text_ends_at_the_length_of_the_model(opened):
    page = opened("decoder", "animal street " * 60)
    assert len(ids_of(page)) == 64
    assert "fills the 64 positions" in text_of(page)
    assert page.button(key="model_says_one").disabled
    pressed(page, "says_back")
    assert not page.button(key="model_says_one").disabled


def test_how_many_tokens_were_written_is_counted_where_the_page_ends_them(opened, monkeypatch):
    monkeypatch.setattr("pages.model.writing.WRITTEN_TOKENS", SimpleNamespace(maximum=3))
    page = pressed(opened("decoder"), "says_more")
    assert "3 tokens were written. This page writes no further." in text_of(page)
    for _ in range(5):
        pressed(page, "says_back")
    assert "were written" not in text_of(page)
    pressed(page, "says_more")
    assert "5 tokens were written. This page writes no further." in text_of(page), "two of the input's are gone"


@pytest.mark.parametrize(
    ("entropy", "rest", "n_rest", "says"),
    [
        (0.0, 0.0, 90, "The other 90 tokens together: 0%. Almost sure (0.0 bits)."),
        (0.19, 0.002, 1, "The other token: <1%. Almost sure (0.2 bits)."),
        (0.93, 0.25, 0, "As unsure as between 1.9 equally likely ones (0.9 bits)."),
        (
            1.58,
            0.25,
            7000,
            "The other 7,000 tokens together: 25%. As unsure as between 3 equally likely ones (1.6 bits).",
        ),
    ],
)
def test_how_sure_it_is_follows_from_the_entropy(entropy, rest, n_rest, says):
    from pages.model.writing import _describe_uncertainty

    assert _describe_uncertainty(NextTokens((), rest, n_rest, entropy)) == says


def test_next_tokens_and_what_is_said_of_them_are_those_of_the_model(opened):
    page = opened("tatoeba-llama", "Tom bought a green umbrella for his old teacher. Tom bought a green")
    pretrained = load_model("tatoeba-llama")
    ids = torch.tensor([pretrained.tokenizer(page.session_state["model_text_decoder"])["input_ids"]])
    with torch.inference_mode():
        shares = pretrained.model(ids).logits[0].softmax(-1)
    top = shares[-1].topk(10).values
    entropy = -float(torch.xlogy(shares[-1], shares[-1]).sum()) / math.log(2)
    rest = re.search(r"The other ([\d,]+) tokens together: ([\d.]+)%", text_of(page))
    assert int(rest[1].replace(",", "")) == shares.shape[1] - 10
    assert float(rest[2]) == pytest.approx(100 * (1 - float(top.sum())), rel=0.05)
    assert f"({entropy:.1f} bits)" in text_of(page)
    notes = [token["note"] for token in data_of(page, "model_says_text_chips")["tokens"]]
    expected = [float(shares[place, token]) for place, token in enumerate(ids[0, 1:])]
    assert notes[1:] == [f"expected with {fine_percent(one)}, {-math.log2(one):.1f} bits" for one in expected]


@pytest.mark.parametrize(
    ("heads", "of", "share"),
    [
        ((1, 4, 1), "1 key head of 1 layer", " 4 query heads share 1 key head: **4 times less**."),
        ((2, 6, 2), "4 key heads of 2 layers", " 6 query heads share 2 key heads: **3 times less**."),
        ((2, 4, 4), "8 key heads of 2 layers", ""),
    ],
)
def test_heads_that_share_keys_are_counted(heads, of, share, monkeypatch):
    from pages.model import writing

    monkeypatch.setattr(writing, "cache_of", lambda made: KeyValueCache(1000, *heads, has_windows=False))
    monkeypatch.setattr(writing, "max_positions", lambda pretrained: 64)
    made = SimpleNamespace(ids=range(5), pretrained=None, recording=SimpleNamespace(traces=[]))
    most = "At the 64 tokens that the model knows: **12.8 kB**."
    assert (
        writing.describe_cache(made)
        == f"The KV cache: **1 kB** of keys and values for 5 tokens, in {of}. {most}{share}"
    )


@pytest.mark.parametrize(
    ("factor", "says"),
    [(1.04, "1"), (1.06, "1.1"), (2.34, "2.3"), (9.96, "10"), (4321.4, "4,321"), (2e6, "over a million")],
)
def test_how_many_times_more_probable_is_a_number_of_plain_digits(factor, says):
    from pages.model.ablation import in_times

    assert in_times(factor) == says


def test_how_much_more_probable_a_text_becomes_is_what_its_tokens_gain(opened):
    page = opened("tatoeba-llama", "Mary has a red car. Mary has a red car.", part="without")
    pressed(page, "out_switch")
    chosen, pretrained = page.session_state["model_chosen"], load_model("tatoeba-llama")
    study = Study(pretrained.model, pretrained.tokenizer)
    ids = pretrained.tokenizer("Mary has a red car. Mary has a red car.")["input_ids"]
    runs = (
        study.run(page.session_state["model_text_decoder"], edits)[1].logits
        for edits in ({}, {chosen.layer: [DropHead(chosen.head)]})
    )
    before, after = (float(log_probabilities(logits, ids).sum()) for logits in runs)
    from pages.model.ablation import in_times

    factor = 2 ** abs(after - before)
    assert factor > 1.1
    assert f"The text becomes {in_times(factor)} times {'more' if after > before else 'less'} probable" in text_of(page)


def test_differences_of_probabilities_are_points_without_a_minus_zero():
    from pages.model.effects import _in_units

    assert [_in_units(one, "car", "house") for one in (-0.001, -0.74, 0.5)] == ["0 points", "−74 points", "50 points"]
    assert [_in_units(one, "car") for one in (0.9999, 0.00001, 1.0)] == ["99.99%", "0.001%", "100%"]


def test_heads_without_names_are_said_to_have_none(opened, monkeypatch):
    from pages.model.heads import N_SENTENCES, corpus

    assert len(corpus()) == N_SENTENCES
    monkeypatch.setattr("pages.model.heads.heads_of", lambda asked: SimpleNamespace(means={}))
    assert "its heads have no names" in text_of(opened("decoder", part="named"))


def test_a_decoder_writes_on_goes_back_begins_anew_and_tells_what_it_keeps(opened):
    page = opened("decoder", part="keeps")
    n = len(ids_of(page))
    assert f"**{n * 512 / 1000:.3g} kB** of keys and values for {n} tokens" in text_of(page)
    assert "At the 64 tokens that the model knows: **32.8 kB**" in text_of(page)
    assert n_charts(page) == 1
    model = load_model("decoder").model
    tables = torch.nn.Embedding, torch.nn.LayerNorm
    weights = sum(
        layer.weight.numel() for layer in model.modules() if hasattr(layer, "weight") and not isinstance(layer, tables)
    )
    pairs = 2 * model.config.n_layer * model.config.n_embd
    for n_new in (1, n):
        assert f"<td>{n_new * (weights + n * pairs):,}</td>" in html_of(page)
    assert f"<td>{(n - 1) * 512 / 1000:.3g} kB</td><td>none</td>" in html_of(page)
    prompt = list(ids_of(page))
    pressed(page, "says_one")
    assert ids_of(page)[:-1] == prompt
    first = list(ids_of(page))
    pressed(page, "says_more")
    assert ids_of(page)[: len(first)] == first
    assert len(prompt) < len(ids_of(page)) <= len(first) + 10
    pressed(page, "says_back")
    pressed(page, "says_restart")
    assert ids_of(page) == prompt
    pressed(page, "says_one")
    set_value(page.text_area[0], "The street")
    assert page.session_state["model_says_writing"]["n_input"] == len(ids_of(page))


def test_a_decoder_behind_an_encoder_begins_with_nothing(opened):
    page = opened("both", part="keeps")
    assert "of keys and values" in text_of(page)
    pressed(page, "says_restart")
    assert ids_of(page) == [0]
    pressed(page, "says_one")
    assert len(ids_of(page)) == 2
    assert "decoder cross, head 1." in text_of(page)


def test_a_masked_word_is_what_parts_of_a_masked_model_are_asked_about(opened):
    page = opened("masked", "the animal [MASK] tired", part="patch")
    assert page.text_input(key="model_effect_word").label == "Masked word"
    page = set_value(page.text_input(key="model_effect_second"), "the street [MASK] tired")
    words = text_of(page)
    assert "here, with" in words
    assert "comes next" not in words
    assert "from there alone" in words
    for part in ("patch", "logit"):
        page = opened("masked", "the animal was tired", part=part)
        assert "in your text, where the word is asked for" in text_of(page)


@pytest.mark.parametrize(
    ("model", "told"),
    [("decoder", "The text stays as probable"), ("masked", "The sentence's vector turns by"), ("vision", "The answer")],
)
def test_without_a_head_the_output_changes(opened, model, told):
    page = opened(model, part="without")
    assert "Nothing is changed." in text_of(page)
    pressed(page, "out_switch")
    assert told in text_of(page)
    chosen = page.session_state["model_chosen"]
    name = f"{chosen.group}, head {chosen.layer}.{chosen.head}"
    assert listed(page) == [f"{name[0].upper()}{name[1:]}: switched off"]


def test_several_heads_are_switched_off_and_on_again(opened):
    page = opened("masked", part="without")
    for head in (2, 3):
        pressed(look_at(page, 1, head), "out_switch")
    assert listed(page) == [f"Encoder self, head 1.{head}: switched off" for head in (2, 3)]
    assert "The sentence's vector turns by" in text_of(page)
    pressed(page, "edits_restart_alt")
    assert "Nothing is changed." in text_of(page)


def test_an_older_link_switches_heads_off(visit):
    page = visit("model", model="tatoeba-llama", question="without", off=pack([["decoder self", 1, 2]]))
    assert listed(page) == ["Decoder self, head 1.2: switched off"]
    assert "The text becomes" in text_of(page)
    assert look_at(page, 1, 2).button(key="model_out_switch").label == "Switch it on"
    pressed(page, "out_switch")
    assert not listed(page)


def test_a_weight_that_is_set_in_a_head_gives_what_a_recomputation_gives(opened):
    from transformers import AttentionInterface

    page = opened(
        "tatoeba-llama", "Tom bought a green umbrella for his old teacher. Tom bought a green", part="without"
    )
    chosen, query = page.session_state["model_chosen"], page.session_state["model_query"]
    (key,) = page.selectbox(key="model_weight_of").value
    set_value(page.number_input(key="model_weight"), 12.5)
    pretrained = load_model("tatoeba-llama")
    ids = torch.tensor([pretrained.tokenizer(page.session_state["model_text_decoder"])["input_ids"]])

    def by_hand(module, asks, keys, values, mask, scaling=None, **_):
        keys, values = (one.repeat_interleave(asks.shape[1] // keys.shape[1], 1) for one in (keys, values))
        future = torch.ones(asks.shape[2], keys.shape[2], dtype=torch.bool).triu(1)
        weights = (asks @ keys.mT * scaling).masked_fill(future, -torch.inf).softmax(-1)
        if module.layer_idx == chosen.layer:
            weights[0, chosen.head, query] *= 0.875 / (1 - weights[0, chosen.head, query, key])
            weights[0, chosen.head, query, key] = 0.125
        return (weights @ values).transpose(1, 2).contiguous(), None

    AttentionInterface.register("by_hand_on_a_page", by_hand)
    pretrained.model.config._attn_implementation = "by_hand_on_a_page"
    with torch.inference_mode():
        wanted = pretrained.model(ids).logits[0, -1].softmax(-1)
    data = next(frame for frame in frames(page) if "when" in frame.columns)
    after = data[data["when"] == "changed"]
    of_label = {token_text(pretrained.tokenizer, token): float(share) for token, share in enumerate(wanted)}
    assert after["probability"].tolist() == pytest.approx([of_label[label] for label in after["label"]], abs=1e-5)
    before = data[data["when"] == "as learned"]["probability"].to_numpy()
    assert abs(before - after["probability"].to_numpy()).max() > 0.01


def test_models_that_bypass_the_interface_are_told_apart(opened, model_folders):
    tokenizer = tiny_hub.byte_level_tokenizer()
    sizes = {"vocab_size": len(tokenizer), "hidden_size": 32, "n_layer": 2, "n_head": 4, "eos_token_id": 0}
    tiny_hub.write(model_folders / "bypassing", "BloomForCausalLM", sizes, tokenizer)
    assert "no head can be changed" in text_of(opened("bypassing", part="without"))
    page = opened("bypassing", part="keeps")
    assert "hands out its weights alone" in text_of(page)
    pressed(page, "says_one")
    assert n_charts(page) == 1
