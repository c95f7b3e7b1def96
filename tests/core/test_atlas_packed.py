"""Tiles as they are sent, what is hidden in them, the made-up text, places to find, how long a text may be."""

import math
import zlib

import numpy as np
import pytest
import torch

from attention_core import AttentionTrace, Axis, Story
from attention_core.atlas import Atlas, search
from attention_core.atlas.landmarks import landmarks, strongest
from attention_core.atlas.packed import ERROR, FIRST, MASKED, UNKNOWN, ZERO, hidden_cells, pack
from attention_core.atlas.synthetic import passage, synthetic_trace
from attention_core.attention.capture.trace_builder import from_weights
from attention_core.attention.recording import Recording
from attention_core.bounds import LONG_TOKENS
from attention_core.hub.run import ModelRun, affordable_tokens

N, D = 700, 8


def trace_of(n_queries=N, n_keys=N, **more):
    chance = torch.Generator().manual_seed(4)
    query, key = torch.randn(1, n_queries, D, generator=chance), torch.randn(1, n_keys, D, generator=chance)
    axes = {"query_axis": Axis.numbered("queries", n_queries), "key_axis": Axis.numbered("keys", n_keys)}
    return AttentionTrace(query=2 * query, key=key, value=key, **more, story=Story(mechanism="test", **axes))


def unpack(packed):
    """Return (codes, values), values float64 with 0 where the code is no value: what the browser reads."""
    planes = np.frombuffer(zlib.decompress(packed.content), np.uint8).reshape(packed.n_bytes, -1)
    codes = sum(plane.astype(np.uint32) << 8 * place for place, plane in enumerate(planes))
    codes = codes.reshape(packed.height, packed.width)
    values = np.exp2(packed.low + packed.step * (codes.astype(np.float64) - FIRST))
    return codes, np.where(codes >= FIRST, values, 0.0)


@pytest.mark.parametrize("lowest", [-3, -20, -37])
def test_three_digits_of_every_weight_arrive_however_far_apart_they_are(lowest):
    values = (10.0 ** np.random.default_rng(1).uniform(lowest, 0, (256, 200))).astype(np.float32)
    packed = pack(values)
    _, arrived = unpack(packed)
    assert np.abs(arrived / values - 1).max() <= 1.01 * ERROR
    assert len(packed.content) < 200_000
    assert packed.n_bytes == (3 if lowest < -28 else 2)


def test_masked_zero_and_unknown_cells_are_told_apart():
    values = np.array([[0, 0, np.nan], [0.5, 1e-30, 0.25]], np.float32)
    codes, arrived = unpack(pack(values, np.array([[True, False, False], [False, False, False]])))
    assert codes[0].tolist() == [MASKED, ZERO, UNKNOWN]
    assert (codes[1] >= FIRST).all()
    assert arrived[1] == pytest.approx([0.5, 1e-30, 0.25], rel=5e-4)
    assert (arrived[0] == 0).all()


@pytest.mark.parametrize("values", [np.zeros((3, 4)), np.full((2, 2), np.nan), np.full((5, 1), 0.125)])
def test_tiles_without_two_different_weights_survive(values):
    _, arrived = unpack(pack(values.astype(np.float32)))
    assert arrived == pytest.approx(np.nan_to_num(values))


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("kind", ["causal", "window", "padding"])
def test_hidden_blocks_are_those_that_see_nothing(level, kind):
    place = torch.arange(N)
    window = (place[:, None] - place).abs() < 90
    padding = (place < 500)[None, None]
    mask = {"causal": None, "window": window[None], "padding": padding}[kind]
    trace = trace_of(mask=mask, is_causal=kind == "causal")
    atlas, block = Atlas(trace, 0), 2**level
    wanted = {"causal": place[:, None] >= place, "window": window, "padding": padding[0].expand(N, N)}[kind].numpy()
    starts = np.arange(0, N, block)
    seen = np.logical_or.reduceat(np.logical_or.reduceat(wanted, starts, axis=0), starts, axis=1)
    for row, col in np.ndindex(atlas.n_tiles(level)):
        hidden = hidden_cells(atlas, level, row, col, atlas.tile(level, row, col).largest)
        part = seen[256 * row : 256 * (row + 1), 256 * col : 256 * (col + 1)]
        assert np.array_equal(np.zeros_like(part) if hidden is None else hidden, ~part)


def test_causality_is_told_even_where_no_mask_is_looked_at(monkeypatch):
    monkeypatch.setattr("attention_core.atlas.packed.MOST_PAIRS", 10)
    atlas = Atlas(trace_of(530, 610, is_causal=True), 0)
    hidden = hidden_cells(atlas, 2, 0, 0, atlas.tile(2, 0, 0).largest)
    assert hidden is not None
    blocks = np.arange(math.ceil(610 / 4)) * 4
    last = np.minimum(np.arange(math.ceil(530 / 4)) * 4 + 4, 530) - 1
    assert np.array_equal(hidden, blocks > last[:, None])


@pytest.mark.parametrize("more", [{}, {"is_causal": True}, {"sinks": torch.ones(1, 1)}], ids=str)
def test_glimpse_is_the_middle_row_of_every_block(more, monkeypatch):
    monkeypatch.setattr("attention_core.atlas.matrix.GLIMPSED", 64)
    trace = trace_of(530, 610, **more)
    atlas, block = Atlas(trace, 0), 4
    seen = atlas.glimpse()
    assert seen.mean.shape == atlas.shape(2)
    weights = trace.weights().numpy()
    for place in (0, 60, 132):
        row = weights[min(block * place + 2, 529)]
        parts = [row[start : start + block] for start in range(0, 610, block)]
        assert seen.mean[place] == pytest.approx([part.mean() for part in parts], abs=1e-7)
        assert seen.largest[place] == pytest.approx([part.max() for part in parts], abs=1e-7)


def test_preparing_a_row_of_tiles_goes_band_by_band_and_changes_no_tile():
    atlas, other = Atlas(trace_of(1500, 1400), 0), Atlas(trace_of(1500, 1400), 0)
    assert len(list(atlas.prepare(1, 1))) == 2
    assert len(list(atlas.prepare(0, 5))) == 1  # the last band, of 220 rows
    assert list(atlas.prepare(0, 5)) == []
    assert list(atlas.prepare(atlas.base_level, 0)) == []
    assert np.array_equal(atlas.tile(1, 1, 0).mean, other.tile(1, 1, 0).mean)


@pytest.mark.parametrize("away", [0, 60, 300])
def test_strongest_cell_is_that_of_the_whole_matrix(away):
    trace = trace_of()
    weights = trace.weights().numpy()
    place = np.arange(N)
    far = np.where((abs(place[:, None] - place) >= away) & ((place > 0) | (away == 0)), weights, 0)
    row, col, weight = strongest(Atlas(trace, 0), away)
    assert weight >= far.max() / 1.001
    assert far[row, col] == pytest.approx(weight, rel=1e-5)


def test_landmarks_need_a_survey():
    with pytest.raises(ValueError, match="survey"):
        landmarks(Atlas(trace_of(), 0))


def test_passage_that_returns_is_the_strongest_place_far_away():
    n = 2048
    trace = synthetic_trace(n)
    first, again, length = passage(n)
    atlas = Atlas(trace, 0)
    list(atlas.survey())
    far = next(one for one in landmarks(atlas) if one.name == "Largest far away")
    assert again <= far.row < again + length
    assert far.column == far.row - again + first + 1  # the word that followed last time
    assert search(trace.story.key_axis.labels, trace.story.key_axis.labels[far.row])


def test_the_made_up_head_looks_back_only_and_is_the_same_every_time():
    weights = synthetic_trace(300).weights()
    assert (weights.triu(1) == 0).all()
    assert torch.equal(weights, synthetic_trace(300).weights())
    assert weights.sum(1) == pytest.approx(np.ones(300), rel=1e-5)


def test_memory_is_that_of_queries_keys_and_one_number_per_row():
    atlas = Atlas(trace_of(300, 500), 0)
    assert atlas.matrix_bytes == 4 * 300 * 500
    assert atlas.kept_bytes == 4 * D * (300 + 500) + 8 * 300


def run_with(*traces):
    return ModelRun("test", None, Recording(list(traces)), tuple(map(str, range(N))))


def test_text_may_be_as_long_as_its_traces_fit():
    per_token = 3 * 4 * D
    assert affordable_tokens(run_with(trace_of()), 5_000 * per_token) == 5_000
    assert affordable_tokens(run_with(trace_of()), 50_000 * per_token) == LONG_TOKENS.most
    biased = trace_of(bias=torch.ones(1, N, N))
    most = affordable_tokens(run_with(biased, biased), 20_000_000)
    assert 4 * most**2 + 2 * 3 * 4 * D * most == pytest.approx(20_000_000, rel=0.01)


def test_model_that_hands_out_weights_only_gets_no_longer_text():
    weights = from_weights(torch.full((1, N, N), 1 / N), name="", note="", mechanism="")
    assert affordable_tokens(run_with(weights)) == N


WORDPIECES = ["[CLS]", "the", "play", "##ing", "field", "Play", "s", "[SEP]"]
BYTE_PIECES = ["The", "Ġplay", "ing", "Ġfield", "Ċ", "▁play"]


@pytest.mark.parametrize(
    ("labels", "text", "positions"),
    [
        (WORDPIECES, "play", [2, 5]),
        (WORDPIECES, "PLAYING", [2]),
        (WORDPIECES, "playing field", [2]),
        (WORDPIECES, "field plays", [4]),
        (WORDPIECES, "ing", [3]),
        (WORDPIECES, "[sep]", [7]),
        (WORDPIECES, "pitch", []),
        (WORDPIECES, "", []),
        (WORDPIECES, "  ", []),
        (BYTE_PIECES, "the playing", [0]),
        (BYTE_PIECES, "field\nplay", [3]),
        (BYTE_PIECES, "Ġplay", [1, 5]),
        (["aa", "a"], "a", [0, 1]),
        (["straße"], "STRASSE", [0]),
        ([], "a", []),
    ],
)
def test_a_text_is_found_across_pieces_and_whatever_its_case(labels, text, positions):
    assert search(labels, text) == positions


def test_numbered_positions_are_found_by_their_number():
    labels = [str(position) for position in range(1000)]
    assert search(labels, "12") == [12]
    assert search(labels, "1000") == []


def test_a_long_text_is_searched_from_end_to_end():
    labels = [f"Ġword{position % 1000}" for position in range(131_072)]
    assert search(labels, "word999 word0")[:2] == [999, 1999]
