import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_core.topics.vectors import PRESETS, trace_of
from attention_core.topics.vectors.charts import convex_hull

POINTS = arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.integers(-9, 9).map(float))


def outside(corners, point):
    """How far a point lies outside a counter-clockwise hull, 0 or less = inside."""
    following = np.roll(corners, -1, axis=0)
    edges, to_point = following - corners, point - corners
    return float((edges[:, 1] * to_point[:, 0] - edges[:, 0] * to_point[:, 1]).max())


@given(POINTS)
def test_every_point_lies_inside_the_hull_and_corners_are_points(points):
    corners = convex_hull(points)
    assert {tuple(corner) for corner in corners} <= {tuple(point) for point in points}
    if len(corners) > 2:
        assert max(outside(corners, point) for point in points) <= 1e-9


def test_contexts_lie_inside_the_hull_of_the_values():
    trace = trace_of(PRESETS["pairs"].problem())
    corners = convex_hull(trace.value[0].numpy())
    assert max(outside(corners, one) for one in trace.context().numpy()) <= 1e-9


def test_points_outside_a_plane_are_refused():
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        convex_hull(np.ones((3, 3)))
