"""Digits as pixels and patches: the layer of the notes, its controls, parts of a score, a Jacobian, a transformer."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core import UNIFORM, BlockKeys, Temperature, load
from attention_core.attention.steps import steps_of
from attention_core.explain.heads import rollout
from attention_core.inference.digits import jacobian, jacobian_map, partial_correlation, read_patches
from attention_core.inference.pixel_readout import (
    INK,
    POSITION,
    RIDGE,
    compute_readouts,
    figure_range,
    mean_errors,
    product_means,
    quantise_queries_and_keys,
    split_scores,
    term_shares,
)
from attention_core.models import attention_at_snapshot
from attention_core.models.pixel_notes import VARIANTS
from tests.support import own_models
from tests.support.shown_code import check, drawing

SOFTMAX = ("pixel-notes", "pixel-notes-ink")
PICTURE = drawing(28, 28) * torch.linspace(0.4, 1, 28)
BLANK = torch.zeros(28, 28)


untrained = partial(own_models.untrained, seed=3)


def traced(model):
    return model.trace(PICTURE), model.trace(BLANK)


@pytest.mark.parametrize("name", SOFTMAX)
def test_the_layer_is_the_one_of_the_notes_written_out_with_their_averages(name):
    model = untrained(name)
    x = PICTURE.flatten()[:, None] * model.ink
    if model.position is not None:
        x = x + model.position
    q, k, v = x @ model.query.weight.T, x @ model.key.weight.T, x @ model.value.weight.T
    weights = (q @ k.T / 16**0.5).softmax(-1)
    trace = model.trace(PICTURE)
    assert_close(trace.weights(), weights)
    assert_close(trace.context(), weights @ v)
    assert_close(model(PICTURE[None]).logits, model.classify((weights @ v).reshape(1, -1)))
    drawn, _ = traced(untrained(name))
    product, (of_columns, of_rows) = drawn.query[0] @ drawn.key[0].T, product_means(drawn)
    assert_close(of_columns, product.mean(0), atol=1e-5, rtol=1e-4)
    assert_close(of_rows, product.mean(1), atol=1e-5, rtol=1e-4)


def test_without_softmax_or_positions_scores_are_products_of_the_drawing():
    model = untrained("pixel-notes-product")
    query, key, value = (part[0, 0] for part in model.project(PICTURE[None]))
    context = (query @ key.T / 784) @ value
    assert_close(model(PICTURE[None]).logits, model.classify(context.reshape(1, -1)))
    model = untrained("pixel-notes-ink")
    trace, pixels = model.trace(PICTURE), PICTURE.flatten()
    assert_close(trace.query[0] @ trace.key[0].T, ink_number(model) * torch.outer(pixels, pixels))
    assert torch.linalg.matrix_rank(trace.scores(), rtol=1e-5) == 1


def ink_number(model):
    """The one number c of a model whose tokens are ink alone: Q K^T = c p p^T, p the drawing's 784 pixels."""
    return float(model.query(model.ink) @ model.key(model.ink))


def test_controls_look_at_themselves_or_at_all_alike_with_the_same_network():
    own, alike = untrained("pixel-notes-self"), untrained("pixel-notes-uniform")
    notes = untrained("pixel-notes")
    for control in (own, alike):
        control.load_state_dict({name: notes.state_dict()[name] for name in control.state_dict()})
    value = own.value(own.tokens(PICTURE[None]))
    assert_close(own(PICTURE[None]).logits, own.classify(value.flatten(1)))
    assert_close(alike(PICTURE[None]).logits, notes(PICTURE[None], edits=UNIFORM).logits)
    for name in VARIANTS:
        first = untrained(name).classify[0]
        assert (first.in_features, first.out_features) == (784 if name == "pixel-notes-alone" else 3136, 256)


def test_looking_only_at_oneself_is_no_more_than_the_network_alone():
    """A = I is linear in the pixels up to the first hidden layer: other weights of the network alone do the same."""
    own, alone = untrained("pixel-notes-self"), untrained("pixel-notes-alone")
    first = own.classify[0].weight.view(256, 784, 4)
    state = own.classify.state_dict()
    state["0.weight"] = first @ own.value(own.ink)
    state["0.bias"] = state["0.bias"] + torch.einsum("hnv,nv->h", first, own.value(own.position))
    alone.classify.load_state_dict(state)
    assert_close(alone(PICTURE[None]).logits, own(PICTURE[None]).logits)


@pytest.mark.parametrize("name", SOFTMAX)
def test_lines_of_a_snapshot_name_its_parameters(name):
    model = untrained(name)
    then = {f"0.{name}": one + 0.05 * torch.randn_like(one) for name, one in model.named_parameters()}
    for trace in attention_at_snapshot(model, then, 0, PICTURE):
        check(trace)


@pytest.mark.parametrize(("name", "side"), [("pixel-classifier", 28), ("pixel-classifier", 14), ("pixel-notes", 28)])
def test_steps_count_the_pixels_of_this_picture(name, side):
    trace = untrained(name).trace(torch.zeros(side, side))
    steps = {step.name: step for step in steps_of(trace)}
    for step in steps.values():
        assert all((step.title, step.symbol, step.formula, step.code, step.explanation))
        assert tuple(step.value().shape) == step.shape
    assert f" {side * side} numbers" in steps["pixels"].explanation
    assert f"^{{{side * side}}}" in steps["pixels"].formula
    assert name == "pixel-classifier" or f"c_{{{side * side}}}" in steps["class"].formula


@pytest.mark.parametrize("shape", [(28, 28), (1, 27, 28), (1, 20, 20), (1, 1, 28, 28)])
def test_pictures_of_another_size_are_refused(shape):
    with pytest.raises(ValueError, match="28, 28"):
        untrained("pixel-classifier")(torch.zeros(shape))


@pytest.mark.parametrize(
    "model", [untrained("pixel-notes"), untrained("pixel-notes-ink"), load("pixel-classifier", "cpu")]
)
def test_four_parts_sum_to_the_score(model):
    drawn, blank = traced(model)
    parts = split_scores(drawn, blank)
    assert_close(sum(parts.values()), drawn.scores(), atol=1e-4, rtol=1e-4)
    assert_close(parts[POSITION, POSITION], blank.scores())
    paper = PICTURE.flatten() == 0
    assert parts[INK, POSITION][paper].abs().max() < 1e-5  # paper has no ink to ask with
    assert parts[POSITION, INK][:, paper].abs().max() < 1e-4  # nor to be asked for


def test_shares_of_the_variation_sum_to_one_and_the_trained_model_asks_by_place():
    drawn, blank = traced(untrained("pixel-notes"))
    shares = term_shares(split_scores(drawn, blank))
    assert sum(shares.values()) == pytest.approx(1, abs=1e-4)
    assert shares[POSITION, POSITION] > shares[INK, INK]  # most of the picture is paper
    alone = term_shares(split_scores(*traced(untrained("pixel-notes-ink"))))
    assert alone[INK, INK] == pytest.approx(1)
    assert set(term_shares(split_scores(blank, blank)).values()) > {0.0}
    nothing = untrained("pixel-notes-ink").trace(BLANK)
    assert set(term_shares(split_scores(nothing, nothing)).values()) == {0.0}
    drawn, blank = traced(load("pixel-classifier", "cpu"))
    shares = term_shares(split_scores(drawn, blank))
    assert shares[POSITION, POSITION] > 0.7
    assert abs(shares[INK, POSITION] + shares[INK, INK]) < 0.1


@pytest.mark.parametrize("name", ["pixel-notes", "pixel-notes-product", "pixel-notes-alone"])
def test_jacobian_foretells_small_changes(name):
    model = untrained(name)
    with torch.inference_mode():
        slope = jacobian(model, PICTURE)
    step = 1e-2 * torch.randn(28, 28, generator=torch.Generator().manual_seed(1))
    change = model((PICTURE + step)[None]).logits - model((PICTURE - step)[None]).logits
    assert slope.shape == (10, 28, 28)
    assert_close((slope * 2 * step).sum((1, 2)), change[0], atol=1e-4, rtol=2e-2)


def test_jacobian_map_ignores_what_moves_all_logits_alike():
    slope = torch.randn(10, 5, 5, generator=torch.Generator().manual_seed(0))
    assert_close(jacobian_map(slope + 3), jacobian_map(slope))
    assert jacobian_map(torch.ones(10, 5, 5)).max() == 0


@pytest.mark.parametrize("name", ["pixel-notes", "pixel-notes-product", "pixel-classifier"])
def test_packed_looks_give_any_row_of_the_weights(name):
    trace = load(name, "cpu").trace(PICTURE)
    numbers, unit = quantise_queries_and_keys(trace)
    largest = float(trace.weights().abs().max())
    query, key = np.frombuffer(numbers, "<i2").astype(float).reshape(2, 784, -1)
    for row in (0, 200, 400):
        scores = torch.from_numpy(unit * key @ query[row])
        weights = scores.softmax(-1) if trace.has_softmax else scores
        expected = trace.weights(0, [row])[0].double()
        assert_close(weights, expected, atol=1e-4 * largest, rtol=2e-3)


def test_edits_reach_the_answer():
    model = untrained("pixel-notes")
    before = model(PICTURE[None]).logits
    for edit in (UNIFORM, (BlockKeys((400, 401)),), (Temperature(0.3333333333333333),)):
        after = model(PICTURE[None], edits=edit).logits
        assert not torch.allclose(before, after)
        assert_close(after[0], model.read(model.trace(PICTURE, edit).context()[None]).logits[0], atol=1e-5, rtol=1e-4)


@pytest.fixture(scope="module")
def model():
    return untrained("digit-vit", seed=5)


def test_rollout_and_maps_of_a_class_token_are_those_of_its_traces_over_49_patches(model):
    traces = model.traces(drawing(28, 28))
    assert [(trace.n_heads, trace.n_queries, trace.n_keys) for trace in traces] == [(6, 50, 50)] * 4
    assert traces[0].story.key_axis.labels[:2] == ["class", "row 1, column 1"]
    for head in range(6):
        assert_close(traces[0].weights(head).sum(-1), torch.ones(50))
    rolled = rollout(traces).rolled
    by_hand = torch.eye(50)
    for trace in traces:
        mean = torch.stack([trace.weights(head) for head in range(6)]).mean(0)
        by_hand = (0.5 * mean + 0.5 * torch.eye(50)) @ by_hand
    assert_close(torch.as_tensor(rolled), by_hand, atol=1e-5, rtol=1e-4)
    own = torch.from_numpy(read_patches(model, drawing(28, 28)).rolled)
    assert own.shape == (7, 7)
    assert_close(own.flatten(), by_hand[0, 1:], atol=1e-5, rtol=1e-4)
    assert_close(own.sum() + by_hand[0, 0], torch.tensor(1.0))
    maps = torch.from_numpy(read_patches(model, drawing(28, 28)).maps)
    assert maps.shape == (4, 6, 7, 7)
    assert maps[2, 1, 3, 5] == traces[2].weights(1)[0, 1 + 3 * 7 + 5]
    assert_close(
        maps.sum((2, 3)),
        torch.stack([1 - trace.weights(head)[0, 0] for trace in traces for head in range(6)]).view(4, 6),
    )


def test_ink_and_edits_of_one_layer_change_the_answer_and_the_layers_after_it(model):
    blank = torch.zeros(1, 28, 28)
    one = blank.clone()
    one[0, 8:12, 8:12] = 1
    library = model.vit(pixel_values=torch.ones(1, 1, 28, 28)).logits
    assert_close(model(blank).logits, library)
    assert not torch.allclose(model(one).logits, library)
    one = torch.zeros(1, 28, 28)
    one[0, 8:20, 13:15] = 1
    plain, edited = model(one, trace=True), model(one, edits={1: UNIFORM}, trace=True)
    assert_close(edited.traces[1].weights(3), torch.full((50, 50), 1 / 50))
    assert_close(edited.traces[0].weights(3), plain.traces[0].weights(3))
    assert not torch.allclose(edited.traces[2].query, plain.traces[2].query, rtol=0, atol=1e-4)
    assert not torch.allclose(edited.logits, plain.logits, rtol=0, atol=1e-6)


OTHERS = [PICTURE.flip(0), PICTURE.T, PICTURE.roll(5, 1)]


def vectors_of(model, picture):
    """X, Q, K, V of a picture, written out."""
    tokens = model.tokens(picture[None])[0].double()
    return [tokens, *(tokens @ one.weight.double().T for one in (model.query, model.key, model.value))]


def test_what_is_read_back_is_ridge_regression_and_shares_of_ink_are_covariances():
    model = untrained("pixel-notes")
    kept = compute_readouts(model, PICTURE, OTHERS)
    known = [torch.cat(parts).numpy() for parts in zip(*(vectors_of(model, one) for one in OTHERS), strict=True)]
    wanted, *asked = (one.numpy() for one in vectors_of(model, PICTURE))
    spread = ((wanted - wanted.mean(0)) ** 2).sum()
    for letter, inputs, own in zip("QKV", known[1:], asked, strict=True):
        design = np.c_[inputs, np.ones(len(inputs))]
        shrink = np.sqrt(RIDGE * (design**2).sum() / design.shape[1]) * np.eye(design.shape[1])
        weights = np.linalg.lstsq(np.r_[design, shrink], np.r_[known[0], np.zeros((len(shrink), 32))], rcond=None)[0]
        error = ((np.c_[own, np.ones(len(own))] @ weights - wanted) ** 2).sum()
        assert kept[letter].token == pytest.approx(1 - error / spread, abs=1e-4)
        assert kept[letter].width == inputs.shape[1]
    centred = known[0] - known[0].mean(0)
    along = np.linalg.eigh(centred.T @ centred)[1][:, -4:]
    rest = (wanted - known[0].mean(0)) @ (np.eye(32) - along @ along.T)
    assert kept["V"].best == pytest.approx(1 - (rest**2).sum() / spread, abs=1e-4)
    kept, blank = compute_readouts(model, PICTURE, OTHERS), vectors_of(model, BLANK)
    for letter, whole, place in zip("QKV", vectors_of(model, PICTURE)[1:], blank[1:], strict=True):
        ink = whole - place
        covariance = sum(np.cov(a, b)[0, 1] for a, b in zip(ink.T.numpy(), whole.T.numpy(), strict=True))
        assert kept[letter].ink == pytest.approx(covariance / float(whole.var(0).sum()), abs=1e-4)


def test_ink_alone_can_be_read_back_whole_and_values_that_tell_positions_hold_none():
    for one in compute_readouts(untrained("pixel-notes-ink"), PICTURE, OTHERS).values():
        assert one[1:] == pytest.approx((1, 1, 1), abs=1e-3)
    kept = compute_readouts(load("pixel-classifier", "cpu"), PICTURE, OTHERS)
    assert kept["V"].ink == pytest.approx(0, abs=1e-6)
    assert kept["V"].token < 0.3 < kept["K"].token


def test_figures_of_seeds_are_a_range_and_likeness_is_a_partial_correlation():
    card = {"test_accuracy": 0.98, "other_seeds": {"command": "again", "1": {"test_accuracy": 0.985}}}
    assert figure_range(card, "test_accuracy") == "98.0% to 98.5%"
    assert mean_errors(card, "test_accuracy", 1000) == pytest.approx(17.5)
    assert figure_range({"test_accuracy": 0.98}, "test_accuracy") == "98.0%"
    rng = np.random.default_rng(0)
    ink, one, other = rng.normal(size=(3, 28, 28))
    one, other = one + 2 * ink, other + 3 * ink + 0.5 * one
    r = np.corrcoef([one.ravel(), other.ravel(), ink.ravel()])
    expected = (r[0, 1] - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    assert partial_correlation(one, other, ink) == pytest.approx(expected)
    assert partial_correlation(2 * ink + 1, other, ink) == 0
