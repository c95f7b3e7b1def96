"""Scripts that compute, in a browser: their shares, digits, colours and weights are those of Python."""

import base64
import json
import math

import numpy as np
import pytest
import torch

from attention_core.atlas.matrix import pack
from attention_core.attention.scores import SCORES, ScaledDot
from attention_core.attention.view.assets import VIEW_FOLDER, bundle, modules_of
from attention_core.attention.view.colours import ABOVE_ZERO, BLUE_ORANGE, PINKS
from attention_core.attention.wording import percent
from attention_core.charts.heads import head_ramp
from attention_core.charts.ramps import INK_COLOURS, VIRIDIS, Ramp

PRELUDE, MATRIX = f"{VIEW_FOLDER}/prelude.js", f"{VIEW_FOLDER}/matrix_view.js"
FORMULAS = "pages/scoring/score_formulas.js"
PLANE, PAINT, TILES = "ui/components/vector_plane.js", "pages/atlas/atlas_paint.js", "pages/atlas/atlas_tiles.js"
COMPUTED_BY_PYTHON = {*SCORES} - {"dot", "general", "cosine", "additive", "concat", "L2 distance"}
SHARES = (0, 1e-9, 1e-6, 4e-5, 0.004, 0.0094, 0.0104, 0.038, 0.04, 0.0996, 0.83, 0.994, 0.995, 0.9996, 1 - 1e-7, 1)


@pytest.fixture
def compute(context):
    """A function that applies an expression over `m`, what a module exports, to each of some values."""
    page = context.new_page()

    def apply(module: str, expression: str, values) -> list:
        script = f"{bundle(modules_of(module))}\nconst m = modules.at(-1);"
        return page.evaluate(f"(values) => {{ {script}\nreturn Promise.all(values.map({expression})); }}", [*values])

    yield apply
    page.close()


def channels(pixels) -> np.ndarray:
    """Red, green, blue and opacity of pixels of 32 bits, (n, 4)."""
    return np.array(pixels, np.uint32).view(np.uint8).reshape(-1, 4).astype(int)


def softmax(scores: list[float]) -> np.ndarray:
    powers = np.exp(np.array(scores) - max(scores, default=0)) if max(scores) > -math.inf else np.zeros(len(scores))
    return powers / (powers.sum() or 1)


def test_scores_over_a_plane_are_those_of_python(compute):
    arrows = np.random.default_rng(0).uniform(-4, 4, (5, 4, 2))
    query, key = torch.from_numpy(arrows[:, :1]), torch.from_numpy(arrows[:, 1:])
    for name, Score in {**SCORES, "scaled dot": ScaledDot}.items():
        learned = {
            parameter: torch.from_numpy(np.random.default_rng(1).uniform(-1, 1, plain.shape))
            for parameter, plain in Score.plain_parameters(2, 2, 3).items()
        }
        numbers = json.dumps({parameter: tensor.tolist() for parameter, tensor in learned.items()})
        of_keys = f"([q, ...keys]) => {{ const f = m.scoreOf('{name}', q, {numbers}); return f && keys.map(f); }}"
        scores = compute(FORMULAS, of_keys, arrows.tolist())
        if name in COMPUTED_BY_PYTHON:
            assert scores == [None] * len(arrows)
        else:
            torch.testing.assert_close(torch.tensor(scores, dtype=torch.float64), Score(**learned)(query, key)[:, 0])


TEXTS = {
    "shares": (PRELUDE, "(share) => m.asPercent(share)", SHARES, percent),
    "two digits": (PLANE, "(x) => m.twoDecimals(x)", (-12.344, -3, -0.004, 0, 0.006, 1), lambda x: f"{x:z.2f}"),
    "weights": (PAINT, "(w) => m.exactPercent(w)", (0.1234567, 0.05, 0.5), lambda w: f"{100 * w:#.3g}%"),
    "counts": (PAINT, "(n) => m.count(n)", (0, 999.6, 131072), lambda n: f"{round(n):,}"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_numbers_are_written_as_in_python(compute, name):
    module, expression, values, write = TEXTS[name]
    assert compute(module, expression, values) == [write(value).replace("-", "−") for value in values]


@pytest.mark.parametrize(
    "scores", [[0, 1, 2.5], [-math.inf, 3, -math.inf], [-math.inf] * 3, [1e4, 1e4 - 1], [-900, -901]]
)
def test_scores_become_the_same_shares(compute, scores):
    (shares,) = compute(PRELUDE, "(scores) => m.softmax(scores)", [scores])
    assert shares == pytest.approx(softmax(scores), abs=1e-15)


@pytest.mark.parametrize("colours", [PINKS, ABOVE_ZERO, BLUE_ORANGE, VIRIDIS, INK_COLOURS])
def test_ramps_run_through_the_same_colours(compute, colours):
    shares = np.linspace(0, 1, 256).tolist()
    painted = compute(PRELUDE, f"(share) => m.pixelOf(m.rampOf({json.dumps(colours)})(share))", shares)
    assert np.abs(channels(painted) - Ramp(tuple(colours), 0, 1).lookup()).max() <= 1


def test_matrices_have_the_ramps_of_charts(compute):
    painted = compute(MATRIX, "(name) => [...m.RAMPS[name]]", ("weights", "rising", "signed"))
    for pixels, colours in zip(painted, (PINKS, ABOVE_ZERO, BLUE_ORANGE), strict=True):
        seen = slice(3, 4) if colours is BLUE_ORANGE else slice(0, 4)  # where nothing is seen any colour will do
        assert np.abs((channels(pixels) - Ramp(colours, 0, 1).lookup())[:, seen]).max() <= 1


@pytest.mark.parametrize(("largest", "n_keys"), [(1.0, 2), (0.4, 9), (0.02, 300), (1e-3, 131_072)])
def test_a_weight_has_the_colour_that_it_has_in_thumbnails(compute, largest, n_keys):
    weights = (largest * np.linspace(0, 1, 50)).tolist()
    ramp = head_ramp(1 / n_keys, largest)
    expected = ramp.lookup()[np.rint(255 * ramp.position(np.array(weights))).astype(int)]
    painted = compute(MATRIX, f"(weight) => m.weightColouring({largest}, {n_keys})(weight)", weights)
    assert np.abs(channels(painted) - expected).max() <= 2


@pytest.mark.parametrize("smallest", [1e-3, 1e-38])
def test_tiles_come_out_of_their_message_as_they_were(compute, smallest):
    values = np.array([[0.5, smallest, 0], [1, np.nan, 0.25]], np.float32)
    packed = pack(values, hidden=np.array([[0, 0, 1], [0, 0, 0]], bool))._asdict()
    packed["content"] = base64.b64encode(packed["content"]).decode()
    expression = """async ({ content, ...header }) => {
      const tile = await m.unpack({ ...header, packed: Uint8Array.from(atob(content), (one) => one.charCodeAt(0)) });
      return [[...tile.codes].slice(0, 6), [...tile.codes].map((code) => m.weightOf(tile, code))];
    }"""
    ((codes, weights),) = compute(TILES, expression, [packed])
    assert (codes[2], codes[4]) == (0, 2), "hidden, and not surveyed yet"
    assert weights == pytest.approx(np.nan_to_num(values).ravel(), rel=5e-4)


@pytest.mark.parametrize(
    ("between", "n_pixels", "ticks"),
    [((0, 10), 40, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), ((3, 42), 2, [20, 40]), ((0, 2048), 0.05, [0, 1000, 2000])],
)
def test_numbers_along_an_edge_are_whole_and_apart(compute, between, n_pixels, ticks):
    assert compute(PAINT, f"([from, to]) => m.ticks(from, to, {n_pixels}, 40)", [between]) == [ticks]
