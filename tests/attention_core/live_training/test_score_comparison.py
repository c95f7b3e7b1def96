"""Eight functions on the same vectors, fields, cosines, the printed formula taken apart; why scores are divided."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.scores import Cosine, Dot, Location, all_scores, parameter_names, printed_concat
from attention_core.live_training.score_comparison import (
    DIMENSIONS,
    VECTOR_PRESETS,
    compare,
    comparison_frame,
    favourites,
    measure_scale,
    nearest_key,
    random_scores,
    score_field,
    softmax_jacobian_norm,
)

SCORE_NAMES = ("dot", "scaled dot", "general", "cosine", "additive", "concat", "location", "L2 distance")


def random_parameters(d, d_a=5, n_positions=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = {
        "general.W": (d, d),
        "additive.W_q": (d_a, d),
        "additive.W_k": (d_a, d),
        "additive.v": (d_a,),
        "concat.W": (d_a, 2 * d),
        "concat.v": (d_a,),
        "location.W": (n_positions, d),
    }
    assert tuple(shapes) == parameter_names()
    return {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}


@pytest.mark.parametrize("d", [2, 3])
def test_every_function_gets_the_same_vectors_and_rows_sum_to_one(d):
    query, key = torch.randn(1, d, dtype=torch.float64), torch.randn(4, d, dtype=torch.float64)
    traces = compare(all_scores(random_parameters(d)), query, key)
    assert tuple(traces) == SCORE_NAMES
    for name, trace in traces.items():
        assert torch.equal(trace.key[0], key), name
        assert trace.weights(0).sum(-1).item() == pytest.approx(1, abs=1e-12), name


def test_parameters_that_are_missing_or_do_not_fit_are_named():
    parameters = random_parameters(2)
    del parameters["concat.v"]
    with pytest.raises(ValueError, match=r"missing: concat\.v"):
        all_scores(parameters)
    parameters = random_parameters(2) | {"additive.W_k": torch.zeros(3, 2)}
    with pytest.raises(ValueError, match=r"additive\.W_k \(3, 2\) needs as many rows as v \(5,\)"):
        all_scores(parameters)


def test_a_field_begins_at_the_top_the_cosine_s_is_a_cone_and_location_s_is_flat():
    field = score_field(Dot(), torch.tensor([0.5, 2.0]), extent=4, n=9)
    assert field[0, 0] == pytest.approx(0.5 * -4 + 2 * 4)
    assert field[8, 8] == pytest.approx(0.5 * 4 + 2 * -4)
    assert field[4, 4] == 0
    query = torch.tensor([1.0, 1.0], dtype=torch.float64)
    cone = score_field(Cosine(), query, extent=4, n=9)
    assert cone[0, 8] == pytest.approx(cone[3, 5].item())  # the same direction, far and near
    flat = score_field(Location(torch.tensor([[1.0, 2.0]], dtype=torch.float64)), query, extent=4, n=9)
    assert flat.shape == (9, 9)
    assert flat.unique().tolist() == [3.0]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 8), st.integers(0, 1000))
def test_the_printed_formula_is_a_part_of_the_query_plus_a_part_of_the_key(n_queries, n_keys, d, seed):
    generator = torch.Generator().manual_seed(seed)
    query, key, vector = (
        torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((n_queries, d), (n_keys, d), 2 * d)
    )
    scores = printed_concat(vector)(query, key)
    torch.testing.assert_close(scores, (query.tanh() @ vector[:d])[:, None] + (key.tanh() @ vector[d:])[None])
    weights = scores.softmax(-1)
    assert (weights - weights[:1]).abs().max() < 1e-12


def test_comparisons_name_a_favourite_if_any_and_have_a_row_per_function_and_key():
    preset = next(one for one in VECTOR_PRESETS if one.name == "One long key")
    query, key = torch.tensor(preset.query), torch.tensor(preset.keys)
    liked = favourites(compare({"dot": Dot(), "cosine": Cosine()}, query[None], key))
    assert (liked["dot"].key, liked["cosine"].key) == (1, 0)
    assert nearest_key(query, key) == 0
    query, key = torch.tensor([[1.0, 1.0]]), torch.randn(3, 2)
    assert favourites(compare({"location": Location(torch.ones(3, 2))}, query, key))["location"].key is None
    frame = comparison_frame(compare({"dot": Dot(), "cosine": Cosine()}, torch.ones(1, 2), torch.ones(3, 2)))
    assert frame["function"].tolist() == ["dot"] * 3 + ["cosine"] * 3
    assert frame["score"].tolist() == pytest.approx([2] * 3 + [1] * 3)


@pytest.mark.parametrize("preset", VECTOR_PRESETS, ids=lambda preset: preset.name)
def test_presets_lie_in_the_plane(preset):
    numbers = torch.tensor([preset.query, *preset.keys])
    assert numbers.shape == (5, 2)
    assert numbers.abs().max() <= 4


def test_equal_lengths_are_equal_and_right_angles_are_right():
    presets = {preset.name: preset for preset in VECTOR_PRESETS}
    lengths = torch.tensor(presets["Equal lengths"].keys).norm(dim=1)
    assert lengths.max() - lengths.min() < 0.02
    right = presets["Right angles"]
    query, keys = torch.tensor(right.query), torch.tensor(right.keys)
    assert (keys[:2] @ query).tolist() == [0, 0]
    assert [f"gives each {weight:.1%}" in right.note for weight in (keys @ query).softmax(0)[:2]] == [True, True]


@pytest.fixture(scope="module")
def rows():
    return measure_scale()


def test_every_width_is_measured_both_ways_and_only_division_keeps_variance_and_gradient(rows):
    assert [row.d_k for row in rows if row.scaled] == list(DIMENSIONS)
    assert (DIMENSIONS[0], DIMENSIONS[-1]) == (1, 1024)
    assert len(rows) == 2 * len(DIMENSIONS)
    for row in rows:
        # 4,096 products that share 256 queries: a standard error of about 9 % at d_k = 1, less above
        assert row.variance == pytest.approx(1 if row.scaled else row.d_k, rel=0.3), row
    first, last = [[row for row in rows if row.d_k == d] for d in (1, 1024)]
    raw, scaled = last
    assert raw.gradient < 0.1 < 0.2 < scaled.gradient
    assert first[0].variance == first[1].variance  # sqrt(1) divides nothing


def test_the_gradient_is_the_jacobian_s_norm_and_a_seed_draws_the_same_vectors():
    scores = torch.randn(7, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    assert softmax_jacobian_norm(scores.softmax(-1)).item() == pytest.approx(jacobian.norm().item(), abs=1e-12)
    assert torch.equal(random_scores(8, n_queries=3, n_keys=5), random_scores(8, n_queries=3, n_keys=5))
    assert not torch.equal(random_scores(8, n_queries=3, n_keys=5), random_scores(8, n_queries=3, n_keys=5, seed=1))
