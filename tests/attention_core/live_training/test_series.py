"""Attention over time steps: what it computes, what it is trained on, what it is worth, curves that are drawn."""

import itertools

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core.live_training import series
from attention_core.live_training.series import (
    ATTENTION,
    BACKWARDS,
    BIDIRECTIONAL,
    FORECAST,
    HIDDEN,
    LAST,
    MEAN,
    PRESET_CURVES,
    N,
    SeriesAttention,
    answers,
    autocorrelation,
    curve_of,
    draw_curves,
    errors_of,
    path_of,
    train_series,
)


def drawn(n=3):
    return draw_curves(n, torch.Generator().manual_seed(7))


@pytest.fixture(scope="module")
def learned():
    *_, last = train_series()
    return last


def test_autocorrelation_is_the_mean_product_of_known_steps_at_each_distance():
    curves, known = drawn(), torch.rand(3, N, generator=torch.Generator().manual_seed(1)) < 0.7
    curves = curves.where(known, 0)
    found = autocorrelation(curves, known)
    for row, lag in itertools.product(range(3), (0, 1, 5, N - 1)):
        pairs = [
            float(curves[row, at] * curves[row, at + lag])
            for at in range(N - lag)
            if known[row, at] and known[row, at + lag]
        ]
        assert float(found[row, lag]) == pytest.approx(np.mean(pairs) if pairs else 0, abs=1e-4)


@torch.no_grad()
def test_what_is_told_is_a_softmax_weighted_average_of_what_is_known():
    model, curves, known = SeriesAttention(), drawn(), HIDDEN[BIDIRECTIONAL].mask().expand(3, -1)
    told, weights = model(curves, known)
    assert_close(weights.sum(-1), torch.ones(3, N))
    assert float(weights[:, :, ~known[0]].abs().max()) == 0
    assert_close(told, (weights @ curves[..., None])[..., 0], atol=1e-4, rtol=1e-4)
    changed = torch.where(known, curves, 99.0)
    assert_close(model(changed, known)[0], told, atol=1e-4, rtol=1e-4)
    model, curves, known = SeriesAttention(), drawn(1), HIDDEN[FORECAST].mask()
    middle, size = curves[0, known].mean(), curves[0, known].std(correction=0)
    seen = torch.where(known, (curves - middle) / size, 0)
    ask = model.curve(autocorrelation(seen, known[None]))[0]
    at = 40
    scores = torch.stack([(ask + model.nearest[at - 35]) @ model.key[abs(at - key)] / 32**0.5 for key in range(36)])
    assert_close(model(curves, known[None])[1][0, at, :36], scores.softmax(0), atol=1e-4, rtol=1e-3)


def test_looking_back_sees_nothing_to_the_right_of_the_gap():
    for name in (FORECAST, BACKWARDS):
        assert int(HIDDEN[name].mask().nonzero().max()) < HIDDEN[name].hidden[0]
    assert HIDDEN[BACKWARDS].hidden == HIDDEN[BIDIRECTIONAL].hidden
    assert not HIDDEN[BIDIRECTIONAL].mask()[list(HIDDEN[BIDIRECTIONAL].hidden)].any()


def test_baselines_and_errors_are_what_they_say():
    curves = drawn()
    told, _ = answers(SeriesAttention(), curves, BACKWARDS)
    assert_close(told[LAST], curves[:, 19:20].expand(-1, 10))
    assert_close(told[MEAN], curves[:, :20].mean(1, keepdim=True).expand(-1, 10))
    wanted = curves[:, 20:30].numpy()
    shares = (told[LAST].numpy() - wanted) / curves.numpy().std(1, ddof=1, keepdims=True)
    assert errors_of(curves, told, BACKWARDS)[LAST] == pytest.approx(np.sqrt((shares**2).mean()), abs=1e-5)


def test_attention_beats_both_baselines_on_curves_it_has_never_seen_and_both_ways_beat_one(learned):
    assert learned.share == 1
    for own in learned.errors.values():
        assert own[ATTENTION] < 0.75 * min(own[LAST], own[MEAN])
    assert learned.errors[BIDIRECTIONAL][ATTENTION] < 0.75 * learned.errors[BACKWARDS][ATTENTION]


@torch.no_grad()
def test_a_wave_is_foretold_from_a_period_ago(learned):
    curve = torch.from_numpy(PRESET_CURVES["Waves"]).float()[None]
    told, weights = answers(learned.model, curve, FORECAST)
    own = errors_of(curve, told, FORECAST)
    assert own[ATTENTION] < 0.3 < own[LAST]
    lags = torch.arange(36, N)[:, None] - torch.arange(N)
    near_periods = (lags % 12 <= 2) | (lags % 12 >= 10)
    assert float((weights[0] * near_periods).sum(-1).mean()) > 0.75  # 5 / 12 by chance


def test_same_seed_gives_the_same_network(monkeypatch):
    monkeypatch.setattr(series, "N_BATCHES", 20)
    one, same, other = (list(train_series(seed))[-1].model.key for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("curve", PRESET_CURVES.values(), ids=PRESET_CURVES)
def test_a_curve_that_is_drawn_is_read_again(curve):
    size, ink = (300, 480), np.zeros((300, 480), bool)
    for x, y in path_of(curve, size):
        ink[round(y) - 1 : round(y) + 1, int(x) - 4 : int(x) + 4] = True
    assert curve_of(ink) == pytest.approx(curve, abs=0.02)


def test_steps_without_ink_lie_between_their_neighbours_and_half_a_curve_is_none():
    ink = np.zeros((10, 96), bool)
    ink[2, :40] = ink[7, 60:] = True
    curve = curve_of(ink)
    assert np.all(np.diff(curve) <= 0)
    assert (curve[0], curve[-1]) == pytest.approx((0.5, -0.5))
    assert curve_of(ink & (np.arange(96) < 40)) is None
    assert curve_of(np.zeros((10, 96), bool)) is None
