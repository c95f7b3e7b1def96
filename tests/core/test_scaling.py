"""Why scores are divided by sqrt(d_k): the measured figures follow the theory."""

import math

import pytest
import torch

from attention_core.topics.scoring.compare import (
    DIMENSIONS,
    example_weights,
    measure_scale,
    random_scores,
    softmax_jacobian_norm,
)


@pytest.fixture(scope="module")
def rows():
    return measure_scale(n_queries=256, n_keys=16)


def test_every_width_from_1_to_1024_is_measured_both_ways(rows):
    assert [row.d_k for row in rows if row.scaled] == list(DIMENSIONS)
    assert (DIMENSIONS[0], DIMENSIONS[-1]) == (1, 1024)
    assert len(rows) == 2 * len(DIMENSIONS)


def test_the_variance_grows_as_the_width_and_stays_at_1_when_divided(rows):
    for row in rows:
        # 4,096 products that share 256 queries: a standard error of about 9 % at d_k = 1, less above
        assert row.variance == pytest.approx(1 if row.scaled else row.d_k, rel=0.3), row


def test_without_the_division_the_softmax_saturates_and_its_gradient_vanishes(rows):
    first, last = [[row for row in rows if row.d_k == d] for d in (1, 1024)]
    raw, scaled = last
    assert raw.largest > 0.95 > 0.5 > scaled.largest
    assert raw.entropy < 0.15 < 2.5 < scaled.entropy <= math.log2(16)
    assert raw.gradient < 0.1 < 0.2 < scaled.gradient
    assert first[0].variance == first[1].variance  # sqrt(1) divides nothing


def test_the_gradient_is_the_norm_of_the_jacobian_that_autograd_gives():
    scores = torch.randn(7, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    assert softmax_jacobian_norm(scores.softmax(-1)).item() == pytest.approx(jacobian.norm().item(), abs=1e-12)


def test_the_same_seed_draws_the_same_vectors():
    assert torch.equal(random_scores(8, n_queries=3, n_keys=5), random_scores(8, n_queries=3, n_keys=5))
    assert not torch.equal(random_scores(8, n_queries=3, n_keys=5), random_scores(8, n_queries=3, n_keys=5, seed=1))


def test_an_example_is_sorted_and_sharper_without_the_division():
    without, with_scale = example_weights(64, n_keys=9)
    assert torch.equal(without, without.sort(descending=True).values)
    assert without.sum().item() == pytest.approx(1, abs=1e-6)
    assert without[0] > with_scale[0]
