"""Edits as values, and their effect on a trace: weights, context, summary, tiles, atlas, page, files, code, texts."""

import io
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core import attend
from attention_core.atlas import Atlas
from attention_core.attention.edits import (
    EDITS,
    BlockEdge,
    BlockKeys,
    DropHead,
    Edit,
    EditError,
    NoScale,
    OutputFrom,
    PatternFrom,
    PermuteKeys,
    SetScore,
    SetWeights,
    Temperature,
    Uniform,
    edits_from_json,
    with_runs,
)
from attention_core.attention.export import trace_to_frame, trace_to_npz
from attention_core.attention.recording import Recording
from attention_core.attention.scores import Dot, ScaledDot
from attention_core.attention.steps import cell_formula, step_of
from attention_core.attention.view.pack import TOLERANCE
from attention_core.bounds.limits import EDIT_CELLS
from attention_core.bounds.limits import EDITS as MAX_EDITS
from tests.support.edit_cases import EDIT_CASES, LAYER_OPTIONS, MASK, PADDING, RUN, plain_weights, trace_of_layer
from tests.support.exported_code import check as check_script
from tests.support.own_edits import OwnEdit
from tests.support.shown_code import check as check_code
from tests.support.traces import N_HEADS, make_trace, random_trace


def cases():
    return [pytest.param(layer, case, id=f"{layer}, {case}") for layer in LAYER_OPTIONS for case in EDIT_CASES]


def edited_trace(layer, case):
    """Return the trace of a layer with the edits of a case, or None if it must refuse them and does."""
    trace = trace_of_layer(layer)
    edits = with_runs(EDIT_CASES[case], lambda run: trace.replace((Temperature(2.0),)))  # the other run is similar
    if case == "permuted" and layer in ("masked", "causal", "sinks and a mask"):
        with pytest.raises(EditError, match="do not all see the same keys, as in causal attention"):
            trace.replace(edits)
        return None
    return trace.replace(edits)


@pytest.mark.parametrize(("layer", "case"), cases())
def test_weights_context_summary_and_lines_of_code_are_those_of_a_plain_recomputation(layer, case):
    trace = edited_trace(layer, case)
    if trace is not None:
        check_code(trace)
    if trace is None:
        return
    for head in range(N_HEADS):
        weights = plain_weights(trace, head)
        if case == "pattern from" and head == 1 and trace.has_softmax:  # the case blocks key 5 too
            weights[:, 5] = 0
            if trace.sinks is None:
                weights = weights / weights.sum(1, keepdim=True).clip(min=1e-30)
            else:
                return
        actual = trace.weights(head)
        assert_close(actual.double(), weights, rtol=0, atol=1e-5 * float(weights.abs().max()))
        assert_close(trace.weights(head, [9, 0], torch.tensor([2, 7, 5])), actual[[9, 0]][:, [2, 7, 5]])
        context = weights @ trace.value[head].double()
        for edit in trace.edits:
            if isinstance(edit, DropHead) and edit.head == head:
                context[slice(None) if edit.query is None else edit.query] = 0
            if isinstance(edit, OwnEdit) and edit.head in (None, head):
                edit.plain_context(context)
        if head == 1 and isinstance(trace.edits[0], OutputFrom):
            context = trace.edits[0].output.double()
        assert_close(trace.context(head).double(), context, rtol=0, atol=1e-5 * max(float(context.abs().max()), 1e-9))
        assert_close(trace.summary(head).received.double(), weights.mean(0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("case", EDIT_CASES)
def test_scripts_files_tables_pages_and_the_atlas_obey(case):
    for layer in ("plain", "masked"):
        trace = edited_trace(layer, case)
        if trace is None:
            continue
        check_script(trace)
        with np.load(io.BytesIO(trace_to_npz(trace))) as file:
            for head in range(N_HEADS):
                assert_close(torch.from_numpy(file["weights"][head]), trace.weights(head))
                assert_close(torch.from_numpy(file["context"][head]), trace.context(head))
        assert_close(
            torch.tensor(trace_to_frame(trace, 1)["weight"].to_numpy()).view(11, 13),
            trace.weights(1),
            check_dtype=False,
        )
        assert Recording([trace]).show().data["error"] <= TOLERANCE
        for head in range(N_HEADS):
            atlas, weights = Atlas(trace, head), trace.weights(head)
            assert_close(torch.from_numpy(atlas.tile(0, 0, 0)), weights, rtol=1e-4, atol=1e-7)
            assert list(atlas.survey())[-1] == 1
            with torch.inference_mode():
                largest = atlas._survey.pooled(slice(0, 11), slice(0, 13), 2**atlas.base_level)
            assert float(largest) == pytest.approx(float(weights.max()), rel=1e-4, abs=1e-7)


@given(p=st.floats(1e-6, 1 - 1e-6), seed=st.integers(0, 10_000), n=st.integers(2, 30), size=st.floats(0.1, 30))
@settings(deadline=None)
def test_a_weight_is_the_score_log_p_by_1_minus_p_plus_the_log_sum_exp_of_the_others(p, seed, n, size):
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (size * torch.randn(1, 1, m, 4, generator=generator).double() for m in (3, n, n))
    attended = attend(query, key, value, edits=(SetWeights(1, ((n - 1, p),)),), with_weights=True)
    before = ScaledDot()(query, key)[0, 0]
    weights = before.softmax(-1)
    weights[1, :-1] *= (1 - p) / weights[1, :-1].sum()
    weights[1, -1] = p
    assert_close(attended.weights[0, 0], weights, rtol=1e-9, atol=1e-12)
    assert_close(attended.context[0, 0], weights @ value[0, 0], rtol=1e-9, atol=1e-9)


def test_rows_that_no_edit_changes_stay_as_the_fused_kernel_has_them():
    query, key, value = torch.randn(3, 2, 4, 300, 16).unbind(0)
    plain = attend(query, key, value, with_normaliser=True)
    edits = (SetScore(7, 9, 4.0, head=1), BlockEdge(20, 2), SetWeights(280, ((5, 0.5),), head=3), DropHead(2))
    attended = attend(query, key, value, edits=edits, with_normaliser=True)
    changed = (attended.context != plain.context).any(-1)
    rows = {(1, 7), (3, 280), *((head, 20) for head in range(4)), *((2, row) for row in range(300))}
    assert {tuple(row) for row in changed[0].nonzero().tolist()} == rows
    assert torch.equal(changed[0], changed[1])
    expected = ScaledDot()(query, key)
    expected[:, 1, 7, 9], expected[:, :, 20, 2] = 4.0, -torch.inf
    assert_close(attended.log_normaliser[:, :3], expected.logsumexp(-1)[:, :3], rtol=1e-5, atol=1e-5)


def test_edits_come_in_any_order_and_can_be_taken_away_again():
    trace = make_trace()
    edits = EDIT_CASES["several"]
    assert_close(trace.replace(edits).weights(1), trace.replace(edits[::-1]).weights(1), rtol=0, atol=0)
    first, second = SetWeights(9, ((2, 0.5),)), SetWeights(9, ((3, 0.2),))
    with_two = trace.replace((first, second))
    assert with_two.weights(0)[9, [2, 3]].tolist() == pytest.approx([0.5, 0.2])
    without_second = trace.replace(tuple(edit for edit in with_two.edits if edit != second))
    assert torch.equal(without_second.weights(0), trace.replace((first,)).weights(0))
    assert torch.equal(without_second.replace(()).weights(0), trace.weights(0))


def test_permutations_are_one_for_all_queries_among_the_keys_they_see_and_shown_in_their_order():
    trace = make_trace(mask=PADDING)
    orders = [PermuteKeys(1).key_order(trace, head).tolist() for head in range(2)]
    assert orders[0] != orders[1]
    assert orders[0] != PermuteKeys(2).key_order(trace, 0).tolist()
    for head, order in enumerate(orders):
        assert sorted(order) == list(range(13))
        assert order[9:] == [9, 10, 11, 12]
        assert_close(trace.replace((PermuteKeys(1),)).weights(head), trace.weights(head)[:, order])
    trace = make_trace()
    twice = trace.replace((PermuteKeys(1), PermuteKeys(2)))
    order = step_of(twice, "scaled").names(0)["order"]
    assert_close(twice.scores(0), trace.scores(0)[:, order])


IMPOSSIBLE_EDITS = {
    "query must be from 0 to 10, got 11": SetScore(11, 0, 1.0),
    "key must be from 0 to 12, got 13": BlockEdge(0, 13),
    "blocked keys must be from 0 to 12, got 40": BlockKeys((40,)),
    "head must be from 0 to 1, got 2": DropHead(2),
    "key must be from 0 to 12, got 99": SetWeights(0, ((99, 0.5),)),
    "sum to 1 at most, got 1.1": SetWeights(0, ((1, 0.6), (2, 0.5))),
    "cannot be negative": SetWeights(0, ((1, -0.1),)),
    "must be a finite number": SetWeights(0, ((1, float("nan")),)),
    "are not here yet": PatternFrom(0, RUN),
    r"weights for \(2, 3\) queries and keys": PatternFrom(0, RUN, torch.rand(2, 3)),
}


@pytest.mark.parametrize("reason", IMPOSSIBLE_EDITS)
def test_what_cannot_be_is_refused_alike_everywhere(reason):
    trace = make_trace()
    edits, vectors = (IMPOSSIBLE_EDITS[reason],), (trace.query[None], trace.key[None], trace.value[None])
    for call in (
        lambda: trace.replace(edits),
        lambda: attend(*vectors, edits=edits),
        lambda: attend(*vectors, edits=[*edits], score=Dot()),
    ):
        with pytest.raises(EditError, match=reason):
            call()


def test_a_row_with_nothing_left_says_so():
    trace = make_trace(mask=MASK)
    with pytest.raises(EditError, match="may not look at"):
        trace.replace((SetWeights(4, ((0, 0.5),)),))
    all_but_3 = tuple(key for key in range(13) if key != 3)
    with pytest.raises(EditError, match="nothing is left in the row of query 5"):
        make_trace().replace((SetWeights(5, ((3, 0.4),)), BlockKeys(all_but_3)))
    with pytest.raises(EditError, match=r"sum to 1 at most, got 1\.2"):
        make_trace().replace((SetWeights(5, ((3, 0.6),)), SetWeights(5, ((4, 0.6),), head=1)))
    trace = make_trace().replace((*(BlockEdge(5, key) for key in range(13)),))
    assert trace.blind_queries == [5]
    assert not trace.context(0)[5].any()
    with pytest.raises(EditError, match="no scale"):
        make_trace(score=Dot()).replace((NoScale(),))
    with pytest.raises(EditError, match="above 0"):
        Temperature(0.0)
    with pytest.raises(EditError, match=r"hands over \(11, 4\), here it is \(11, 5\)"):
        make_trace().replace((OutputFrom(0, RUN, torch.zeros(11, 4)),)).context(0)


@pytest.mark.parametrize("case", [case for case, edits in EDIT_CASES.items() if not isinstance(edits[0], OwnEdit)])
def test_a_link_holds_them_as_plain_values(case):
    plain = json.loads(json.dumps([edit.to_json_value() for edit in EDIT_CASES[case]]))
    assert edits_from_json(plain) == EDIT_CASES[case]
    assert {value["edit"] for value in plain} <= set(EDITS)


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        ({}, "a link holds a list"),
        ([{"edit": "drop head", "head": 0}] * (MAX_EDITS.maximum + 1), "a link holds a list of 64"),
        ([7], "an edit must be one of"),
        ([{"edit": ["drop head"]}], "an edit must be one of"),
        ([{"edit": "drop head", "head": -1}], "whole number from 0 to"),
        ([{"edit": "drop head", "head": True}], "whole number from 0 to"),
        ([{"edit": "drop head", "head": 1, "more": 2}], "drop head has head, query, got"),
        ([{"edit": "drop head"}], "drop head cannot be read"),
        ([{"edit": "set score", "query": 0, "key": 1, "score": float("inf")}], "must be finite"),
        ([{"edit": "set weights", "query": 0, "weights": [[1]]}], "its key and a number"),
        ([{"edit": "block keys", "keys": list(range(EDIT_CELLS.maximum + 1))}], "at most 4,096 positions"),
        ([{"edit": "temperature", "temperature": -1}], "above 0"),
        ([{"edit": "pattern from", "head": 0, "run": "bert"}], "named by its model and input"),
        ([{"edit": "pattern from", "head": 0, "run": {"model": "m" * 999, "input": ""}}], "named by its model"),
        ([{"edit": "pattern from", "head": 0, "run": {"model": 3, "input": ""}}], "a text has at most"),
        ([{"edit": "pattern from", "head": 0, "run": {"model": "m", "input": "", "pattern": 1}}], "another run has"),
    ],
)
def test_a_link_that_holds_anything_else_is_refused_with_the_reason(plain, reason):
    with pytest.raises(EditError, match=reason):
        edits_from_json(plain)


def test_they_say_what_they_do():
    queries, keys = ["it", "slept"], ["the", "animal", "was", "tired"]
    edits = (
        BlockKeys((1,), head=2),
        BlockEdge(0, 1),
        SetScore(0, 3, 2.5),
        SetWeights(1, ((1, 0.5), (3, 0.25)), head=0),
        SetWeights(9, ((9, 1.5),), renormalised=False),
        Uniform(),
        PermuteKeys(4, head=1),
        Temperature(0.5),
        NoScale(),
        DropHead(2),
        PatternFrom(0, RUN),
        OutputFrom(0, RUN),
    )
    assert {type(edit) for edit in edits} == set(EDITS.values())
    assert [edit.describe(queries, keys) for edit in edits] == [
        "it no longer looks at animal (head 3)",
        "it no longer looks at animal",
        "it scores tired 2.5",
        "slept gives animal a weight of 0.5, tired a weight of 0.25; the others share the rest (head 1)",
        "query 10 gives key 10 a weight of 1.5, and the other weights stay",
        "it looks at everything alike",
        "its keys change places at random, seed 4 (head 2)",
        "its scores are divided by 0.5",
        "its scores are not scaled",
        "head 3 hands over nothing",
        "head 1 looks as head 2 of attention 3 of bert-tiny on “the cat sat”",
        "head 1 hands over what head 2 of attention 3 of bert-tiny on “the cat sat” did",
    ]


@pytest.mark.parametrize(
    ("edit", "description"),
    [
        (SetWeights(0, ((0, 0.0),)), "it gives a a weight of 0; the others share the rest"),
        (
            SetWeights(0, ((0, 0.25), (1, 0.75))),
            "it gives a a weight of 0.25, b a weight of 0.75; the others get nothing",
        ),
        (
            SetWeights(0, ((0, 0.5), (1, 0.3), (2, 0.2))),
            "it gives a a weight of 0.5, b a weight of 0.3, c a weight of 0.2",
        ),
        (SetWeights(0, ((0, 0.5), (0, 1.0))), "it gives a a weight of 1; the others get nothing"),
        (SetWeights(0, ((0, 1.0),), renormalised=False), "it gives a a weight of 1, and the other weights stay"),
        (SetWeights(0, ()), "it looks as before"),
        (BlockKeys((1, 1)), "it no longer looks at b"),
        (BlockKeys(()), "it looks as before"),
    ],
)
def test_they_say_what_becomes_of_the_other_keys(edit, description):
    assert edit.describe(["it"], ["a", "b", "c"]) == description


@pytest.mark.parametrize(
    ("edit", "has_softmax", "description"),
    [
        (SetWeights(1, ((0, 0.5),)), True, "it gives a a weight of 0.5; the others share the rest"),
        (SetWeights(1, ((0, 0.5),)), False, "it gives a a weight of 0.5, and the other weights stay"),
        (SetWeights(0, ((0, 0.0),)), True, "the gives a a weight of 0"),
        (SetWeights(0, ((0, 0.5),)), False, "the gives a a weight of 0.5"),
        (Uniform(head=0), True, "it looks at everything alike (head 1)"),
        (Uniform(), False, "all its scores are 0, and so are its weights"),
    ],
)
def test_they_say_what_they_do_in_this_attention(edit, has_softmax, description):
    """In causal attention, where the first query sees one key."""
    shape = (1, 2, 3)
    attention = random_trace(shape, shape, shape, is_causal=True, has_softmax=has_softmax, edits=(edit,))
    assert edit.describe(["the", "it"], ["a", "b"], attention) == description
    row = attention.weights(0, [1])[0]
    if isinstance(edit, Uniform):
        assert (row == 0).all() == ("are its weights" in description)
    elif "stay" in description:
        assert row[1] == attention.replace(()).weights(0, [1])[0, 1]


def test_a_formula_of_a_cell_is_the_number_that_an_edit_set():
    trace = make_trace().replace((SetScore(9, 2, 1.5), SetWeights(8, ((2, 0.75),), renormalised=False)))
    scaled, weights = (step_of(trace, name) for name in ("scaled", "weights"))
    assert cell_formula(trace, scaled, 1, 9, 2) == "S'_{10,3} = 1.5"
    assert "frac" in cell_formula(trace, scaled, 1, 9, 3)
    assert cell_formula(trace, weights, 1, 8, 2) == "A_{9,3} = 0.75"
    assert "frac" in cell_formula(trace, weights, 1, 8, 3)


@pytest.mark.parametrize(("field", "base"), [("head", "HeadEdit"), ("query", "QueryEdit")])
def test_a_kind_of_edit_whose_field_its_base_class_does_not_know_is_refused(field, base):
    with pytest.raises(TypeError, match=f"Mine has the field {field}: derive it from {base}"):
        type("Mine", (Edit,), {"__annotations__": {field: int}})
