"""Tiles as they are sent, what is hidden in them, the made-up text, places to find, how long a text may be."""

import zlib

import numpy as np
import pytest
import torch

from attention_core.atlas import Atlas, search
from attention_core.atlas.matrix import FIRST, MASKED, MAX_RELATIVE_ERROR, UNKNOWN, ZERO, hidden_cells, pack
from attention_core.atlas.synthetic import synthetic_trace
from tests.support.traces import random_trace

N, D = 700, 8


def trace_of(n_queries=N, n_keys=N, **more):
    trace = random_trace((1, n_queries, D), (1, n_keys, D), (1, n_keys, D), seed=4, **more)
    trace.query.mul_(2)
    return trace


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
    assert np.abs(arrived / values - 1).max() <= 1.01 * MAX_RELATIVE_ERROR
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


def in_blocks(seen, block):
    """Whether anything is seen in each block of so many rows and columns."""
    rows, cols = (np.arange(0, n, block) for n in seen.shape)
    return np.logical_or.reduceat(np.logical_or.reduceat(seen, rows, axis=0), cols, axis=1)


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("kind", ["causal", "window", "last", "padding"])
def test_hidden_blocks_are_those_that_see_nothing(level, kind):
    place = torch.arange(N)
    window = (place[:, None] - place).abs() < 90
    padding = (place < 500)[None, None]
    mask = {"window": window[None], "padding": padding}.get(kind)
    trace = trace_of(mask=mask, is_causal=kind in ("causal", "last"), window=90 if kind == "last" else None)
    atlas, block = Atlas(trace, 0), 2**level
    past = place[:, None] >= place
    wanted = {"causal": past, "window": window, "last": past & window, "padding": padding[0].expand(N, N)}[kind].numpy()
    seen = in_blocks(wanted, block)
    for row, col in np.ndindex(atlas.n_tiles(level)):
        hidden = hidden_cells(atlas, level, row, col, atlas.tile(level, row, col))
        part = seen[256 * row : 256 * (row + 1), 256 * col : 256 * (col + 1)]
        assert np.array_equal(np.zeros_like(part) if hidden is None else hidden, ~part)


@pytest.mark.parametrize(("n_keys", "level", "window"), [(610, 2, None), (600, 1, 90)])
def test_causality_and_a_window_are_told_even_where_no_mask_is_looked_at(monkeypatch, n_keys, level, window):
    monkeypatch.setattr("attention_core.atlas.matrix.MAX_PAIRS", 10)
    atlas = Atlas(trace_of(530, n_keys, is_causal=True, window=window), 0)
    back = np.arange(530)[:, None] - np.arange(n_keys)
    seen = in_blocks((back >= 0) & (back < (window or 530)), 2**level)
    assert np.array_equal(hidden_cells(atlas, level, 0, 0, atlas.tile(level, 0, 0)), ~seen[:256, :256])


def test_a_windows_survey_and_tiles_are_those_of_its_mask():
    back = torch.arange(N)[:, None] - torch.arange(N)
    other = trace_of(mask=((back >= 0) & (back < 90))[None])
    atlas, same = Atlas(trace_of(is_causal=True, window=90), 0), Atlas(other, 0)
    assert list(atlas.survey())[-1] == list(same.survey())[-1] == 1
    for level in range(atlas.n_levels):
        assert atlas.tile(level, 0, 0) == pytest.approx(same.tile(level, 0, 0), abs=1e-6)


def test_preparing_a_row_of_tiles_goes_band_by_band_and_changes_no_tile():
    atlas, other = Atlas(trace_of(1500, 1400), 0), Atlas(trace_of(1500, 1400), 0)
    assert len(list(atlas.prepare(1, 1))) == 2
    assert len(list(atlas.prepare(0, 5))) == 1  # the last band, of 220 rows
    assert list(atlas.prepare(0, 5)) == []
    assert list(atlas.prepare(atlas.base_level, 0)) == []
    assert np.array_equal(atlas.tile(1, 1, 0), other.tile(1, 1, 0))


def test_the_made_up_head_looks_back_only_and_memory_is_that_of_vectors():
    weights = synthetic_trace(300).weights()
    assert (weights.triu(1) == 0).all()
    assert torch.equal(weights, synthetic_trace(300).weights())
    assert weights.sum(1) == pytest.approx(np.ones(300), rel=1e-5)
    atlas = Atlas(trace_of(300, 500), 0)
    assert atlas.matrix_bytes == 4 * 300 * 500
    assert atlas.stored_bytes == 4 * D * (300 + 500) + 8 * 300


WORDPIECES = ["[CLS]", "the", "play", "##ing", "field", "Play", "s", "[SEP]"]
BYTE_PIECES = ["The", "Ġplay", "ing", "Ġfield", "Ċ", "▁play"]


@pytest.mark.parametrize(
    ("labels", "text", "positions"),
    [
        (WORDPIECES, "play", [2, 5]),
        (WORDPIECES, "PLAYING", [2]),
        (WORDPIECES, "playing field", [2]),
        (WORDPIECES, "field play", [4]),
        (WORDPIECES, "ing", []),
        (WORDPIECES, "play fie", []),
        (WORDPIECES, "playing fie", [2]),
        (["a", " delic", "ate", " c", "ate", "g", "ory", ".", " Cat", "'s"], "cat", [3, 8]),
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


def test_whole_words_end_where_the_text_does_and_numbers_and_long_texts_are_searched():
    labels = ["a", " delic", "ate", " c", "ate", "g", "ory", ".", " Cat", "'s", " c", "at", "."]
    assert search(labels, "cat") == [3, 8, 10]
    assert search(labels, "cat", full_words=True) == [8, 10]
    assert search(labels, "cat.", full_words=True) == [10]
    labels = [str(position) for position in range(1000)]
    assert search(labels, "12") == [12]
    assert search(labels, "1000") == []
    labels = [f"Ġword{position % 1000}" for position in range(131_072)]
    assert search(labels, "word999 word0")[:2] == [999, 1999]
