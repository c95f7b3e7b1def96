"""A score is the sum of its table, for each architecture and after each source is opened; and what is said about it."""

import pytest
import torch
import transformers as hf

from attention_core import load
from attention_core.attention.edits import DropHead
from attention_core.attention.rotations import rotary_angles, rotate
from attention_core.data.language_pieces import tokenizer
from attention_core.hub.tracing import UnsupportedError, run_model
from attention_core.study import Study, compare
from tests.support.study_models import CLEAN, MODELS, REFUSED, frozen, inputs_of, model_of, seen
from tests.support.tiny_models import build

TEXT = "Mary has a red car. Mary has a red"


@pytest.fixture(scope="module")
def bundled():
    return Study(load("tatoeba-llama"), tokenizer())


def recorded(model, inputs, layer, head):
    """Return a head's scores before a softcap, from its query and key, and where it may look."""
    trace = run_model(model, inputs)[0].traces[layer]
    scores = trace.query[head] @ trace.key_of(head).T * trace.score.factor(8)
    return scores.double(), trace.allowed(head)


@pytest.mark.parametrize("name", [*MODELS])
@pytest.mark.parametrize(("layer", "head"), [(0, 1), (1, 2)])
def test_a_table_adds_up_to_the_recorded_score_however_far_it_is_opened(name, layer, head):
    model, (clean, _) = model_of(name), inputs_of(name)
    study, query, key = Study(model), 6, 5
    scores, allowed = recorded(model, clean, layer, head)
    row = scores[query]
    other_keys = torch.ones(len(row), dtype=torch.bool) if allowed is None else allowed[query].clone()
    other_keys[key] = False
    for against, expected in ((None, row[key]), ("mean", row[key] - row[other_keys].mean()), (4, row[key] - row[4])):
        table = study.why(clean, layer=layer, head=head, query=query, key=key, against=against)
        assert table.score == pytest.approx(float(expected), abs=1e-6)
        largest = float(table.cells.abs().max())
        assert float(table.cells.sum()) == pytest.approx(float(expected), abs=1e-4 * largest)
        assert abs(table.residue) < 1e-4 * largest
    assert {"embedding", "biases"} <= {*table.by_query()}
    assert ("0.3" in table.by_key()) == (layer == 1)
    if layer:
        for side, name_of in (("key", "0.3"), ("query", "0.0")):
            opened = table.open(side, name_of)
            word = next(one for one in getattr(opened, f"by_{side}")() if one.startswith(f"{name_of} of "))
            for table_ in (opened, opened.open(side, word)):
                assert float(table_.cells.sum()) == pytest.approx(float(expected), abs=1e-4 * largest)
            names = getattr(opened.open(side, word), f"by_{side}")()
            assert f"{word}: embedding" in names
            assert word not in names


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_cell_is_the_product_of_what_hooks_say(name):
    model = model_of(name)
    table = Study(model).why(CLEAN, layer=1, head=2, query=9, key=5, against=None)
    with torch.no_grad():
        if name == "gpt2":
            first, layer = model.transformer.h
            norm, embedded = layer.ln_1, seen(model, CLEAN, first)[0]
            weights = layer.attn.c_attn.weight
            columns = [slice(16, 24), slice(32 + 16, 32 + 24)]
            added = seen(model, CLEAN, first.attn.c_proj)[0, :, 8:16] @ first.attn.c_proj.weight[8:16]
        else:
            first, layer = model.model.layers
            norm, embedded = layer.input_layernorm, seen(model, CLEAN, first)[0]
            weights = torch.cat([layer.self_attn.q_proj.weight, layer.self_attn.k_proj.weight]).T
            columns = [slice(16, 24), slice(32 + 8, 32 + 16)]  # two heads share a key
            added = seen(model, CLEAN, first.self_attn.o_proj)[0, :, 8:16] @ first.self_attn.o_proj.weight[:, 8:16].T
        read = frozen(norm, seen(model, CLEAN, norm)[0])
        query, key = read(embedded) @ weights[:, columns[0]], read(added) @ weights[:, columns[1]]
        if name == "llama":
            query, key = (rotate(one, rotary_angles(11, 8)) for one in (query, key))
        expected = float(query[9] @ key[5]) / 8**0.5
    cells = {(row, column): value for row, column, value in table.largest(10_000)}
    assert cells["embedding", "0.1"] == pytest.approx(expected, abs=1e-5)
    assert table.by_key()["0.1"] == pytest.approx(sum(v for (_, k), v in cells.items() if k == "0.1"), abs=1e-9)
    signs = set()
    for key in range(10):
        table = Study(model).why(CLEAN, layer=1, head=2, query=9, key=key)
        assert [*table.by_key().values()] == sorted(table.by_key().values(), reverse=table.score >= 0)
        signs.add(table.score >= 0)
    assert len(signs) == 2


def test_what_is_unusual_about_a_score_is_said():
    table = Study(model_of("gemma2")).why(CLEAN, layer=1, head=0, query=6, key=5)
    assert "softcap of 0.5" in repr(table)
    assert "QK-norm" in repr(Study(model_of("qwen3")).why(CLEAN, layer=1, head=0, query=6, key=5))
    plain = Study(model_of("llama")).why(CLEAN, layer=1, head=0, query=6, key=5)
    assert plain.note == ""
    half = build(hf.LlamaForCausalLM, model_of("llama").config).to(torch.bfloat16)
    table = Study(half).why(CLEAN, layer=1, head=0, query=6, key=5)
    assert "bfloat16, which changes this score by" in table.note
    assert abs(table.residue) < 1e-4 * float(table.cells.abs().max())


def test_what_cannot_be_taken_apart_is_refused():
    study, place = Study(model_of("llama")), {"layer": 1, "head": 0, "query": 6, "key": 5}
    with pytest.raises(ValueError, match="query 6 may not see key 7"):
        study.why(CLEAN, **place | {"key": 7})
    with pytest.raises(ValueError, match="query 6 may not see key 8"):
        study.why(CLEAN, **place, against=8)
    for argument, n in (("layer", 2), ("head", 4), ("query", 11), ("key", 11)):
        with pytest.raises(IndexError, match=f"{argument} must be from 0 to {n - 1}, got 11"):
            study.why(CLEAN, **place | {argument: 11})
    with pytest.raises(IndexError, match="head must be from 0 to 3, got -1"):
        study.why(CLEAN, **place | {"head": -1})
    table = study.why(CLEAN, **place)
    with pytest.raises(ValueError, match="mlp 0 is no sum"):
        table.open("key", "mlp 0")
    with pytest.raises(ValueError, match="has the sources embedding"):
        table.open("query", "1.0")
    config, settings = REFUSED["OPTForCausalLM"]
    with pytest.raises(UnsupportedError, match="nobody has described where opt keeps"):
        Study(build(hf.OPTForCausalLM, config(**settings))).why(CLEAN, **place)
    crossing = hf.BertConfig(**MODELS["bert"][2], is_decoder=True, add_cross_attention=True)
    beside = {**CLEAN, "encoder_hidden_states": torch.zeros(1, 3, 32)}
    with pytest.raises(UnsupportedError, match="other attentions than its layers"):
        Study(build(hf.BertLMHeadModel, crossing)).why(beside, **place)


def test_the_induction_circuit_is_found_and_broken(bundled):
    """The story of the bundled model: head 3.5 copies, and finds its place by what head 2.0 wrote there."""
    table = bundled.why(TEXT, layer=3, head=5, query=-1, key=5)
    assert next(iter(table.by_key())) == "2.0"
    assert next(iter(table.open("key", "2.0").by_key())) == "2.0 of 4 red"
    assert "the largest part on the key's side is 2.0" in repr(table)
    assert "2.0" in table._repr_html_()
    assert table.to_frame().value.sum() == pytest.approx(table.score, abs=1e-5)
    recording, output = bundled.run(TEXT)
    assert float(recording.traces[3].weights(5, [10], [5])) == pytest.approx(0.79, abs=0.01)
    assert float(output.probability(" car")) == pytest.approx(0.90, abs=0.01)
    recording, output = bundled.run(TEXT, {2: [DropHead(0)]})
    assert float(recording.traces[3].weights(5, [10], [5])) == pytest.approx(0.04, abs=0.01)
    assert float(output.probability(" car")) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(
    ("query", "compared"),
    [
        (0, ""),
        (1, " less the other key that the query sees"),
        (2, " less the mean of the 2 other keys that the query sees"),
    ],
)
def test_a_score_is_compared_with_those_keys_that_the_query_sees(bundled, query, compared):
    table = bundled.why(TEXT, layer=3, head=5, query=query, key=0)
    assert table.title.endswith(f"{bundled.run(TEXT)[0].traces[3].story.key_axis.labels[0]!r}{compared}")
    which = "largest" if table.score >= 0 else "lowest"
    values = [*table.by_key().values()]
    assert values[0] == {"largest": max, "lowest": min}[which](values)
    assert f"the {which} part on the key's side is {next(iter(table.by_key()))}" in repr(table)


def test_what_the_bundled_model_says_is_added_up_from_words(bundled):
    attribution = bundled.attribute(TEXT, metric=lambda out: out.logit(" car") - out.logit(" hat"))
    assert abs(attribution.residue) < 1e-4
    assert int(attribution.heads.argmax()) == 3 * 6 + 5
    assert bundled.lens(TEXT).likeliest[-1][0][0] == "␣car"
    cut = bundled.ablate(TEXT, metric=lambda out: out.probability(" car"))
    assert int(cut.values.argmin()) == 2 * 6
    with pytest.raises(ValueError, match="no single token of this model"):
        bundled.ablate(TEXT, metric=lambda out: out.logit("red car"))


def test_results_colour_the_heads_of_a_page_and_stand_beside_them(bundled):
    corrupt = "John has a red hat. John has a red"

    def gap(out):
        return out.logit(" car") - out.logit(" hat")

    put, cut = bundled.patch(TEXT, corrupt, metric=gap), bundled.ablate(TEXT, metric=gap)
    attribution = bundled.attribute(TEXT, metric=gap)
    shown = bundled.show(TEXT, colour=put, beside=[cut, attribution])
    assert shown.data["open"] == [[3, 5]]
    assert [one["name"] for one in shown.data["measures"]] == [
        "change by patching",
        "change by ablation",
        "direct effect",
    ]
    assert shown.data["measures"][1]["values"][3][5] == pytest.approx(float(cut.change[3, 5]))
    named = bundled.show(TEXT, beside={"logit": attribution}, layer=1, head=2)
    assert (named.data["open"], named.data["measures"][0]["name"]) == ([[1, 2]], "logit")
    assert "measures" in named.page()
    with pytest.raises(ValueError, match="only numbers of every head"):
        bundled.show(TEXT, colour=bundled.ablate(TEXT, metric=gap, at="residual"))


def test_the_heads_that_changed_most_come_first(bundled):
    first, second = (bundled.run(text)[0] for text in (TEXT, "John has a red hat. John has a blue"))
    moved = compare(first, second)
    rows = moved.to_frame()
    assert rows.change.is_monotonic_decreasing
    assert rows.change[0] == pytest.approx(float(moved.change[rows.layer[0], rows["head"][0]]))
    assert float(compare(first, first).change.max()) < 1e-3
    cut = bundled.ablate(TEXT, metric=lambda out: out.probability(" car"))
    assert compare(cut, torch.zeros_like(cut.change)).to_frame().iloc[0].tolist() == [2, 0, -float(cut.change[2, 0])]
    with pytest.raises(ValueError, match="need as many heads"):
        compare(cut, torch.zeros(2, 2))
    with pytest.raises(ValueError, match="both runs need the attention 'encoder self'"):
        compare(first, second, group="encoder self")
