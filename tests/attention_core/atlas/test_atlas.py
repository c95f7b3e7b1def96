import math
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from attention_core.atlas import TILE, Atlas, cells, matrix, survey
from attention_core.attention.edits import BlockKeys
from tests.support.dense_weights import (
    BLIND,
    HEADS,
    N_QUERIES,
    SCORES,
    TRACES,
    assert_blocks,
    assert_survey,
    assert_within,
    blocks,
    dense,
    surveyed,
    trace_of,
    whole,
)
from tests.support.traces import of_weights


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("head", [1, 3])
def test_every_cell_is_within_a_ten_thousandth_of_float64(name, head):
    assert_within(whole(Atlas(TRACES[name], head), 0), dense(TRACES[name], head))


@pytest.mark.parametrize("name", SCORES)
def test_every_scoring_function_has_a_map(name):
    score, precise = SCORES[name]
    atlas = Atlas(trace_of(score=score), 2)
    expected = dense(atlas.trace, 2, precise)
    assert_within(whole(atlas, 0), expected)
    assert_blocks(atlas, 2, expected)


@pytest.mark.parametrize("name", TRACES)
def test_levels_are_the_maxima_of_blocks_before_and_after_a_survey(name):
    atlas, weights = Atlas(TRACES[name], 1), dense(TRACES[name], 1)
    for level in range(atlas.n_levels):
        assert_blocks(atlas, level, weights)
    assert not atlas.is_surveyed
    assert_survey(surveyed(TRACES[name]), dense(TRACES[name], 0))


@pytest.mark.parametrize("shape", [(16_500, 300), (300, 16_500)])
@pytest.mark.parametrize("more", [{}, {"is_causal": True}, {"mask": torch.arange(300)[None, None] < 150}])
def test_coarse_levels_are_the_maxima_of_blocks(shape, more):
    if "mask" in more and shape[1] != 300:
        more = {"mask": more["mask"].mT}
    trace = trace_of(*shape, heads=1, **more)
    atlas, weights = surveyed(trace), dense(trace, 0)
    assert atlas.n_levels == 8
    assert atlas.shape(7) == tuple(math.ceil(n / 128) for n in shape)
    for level in range(atlas.base_level, atlas.n_levels):
        assert_blocks(atlas, level, weights)


def test_a_survey_can_be_left_and_gone_on_with(monkeypatch):
    monkeypatch.setattr(survey, "PORTION", 0)
    trace = trace_of(16_500, 300, heads=1)
    atlas, expected = Atlas(trace), blocks(dense(trace, 0), 32)
    assert np.isnan(whole(atlas, 5)).all()
    shares = []
    for share in atlas.survey():
        shares.append(share)
        if share > 0.5:
            break
    half = whole(atlas, 5)
    known = ~np.isnan(half).any(1)
    assert known[:256].all()
    assert not known[-200:].any()
    np.testing.assert_allclose(half[known], expected[known], rtol=1e-4)
    assert np.isnan(whole(atlas, 7)[-1]).all()
    assert not np.isnan(whole(atlas, 4)).any()
    assert not atlas.is_surveyed
    assert atlas.surveyed == shares[-1]
    shares += list(atlas.survey())
    assert shares == sorted(shares)
    assert shares[-1] == 1
    np.testing.assert_allclose(whole(atlas, 5), expected, rtol=1e-4)
    assert list(atlas.survey()) == [1.0]


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of a process")
def test_a_survey_takes_memory_for_what_it_has_seen_alone():
    atlas = Atlas(trace_of(2**18, 2**18, heads=1))
    before = resident_bytes()
    next(atlas.survey())
    assert 4 * math.prod(atlas.shape(atlas.base_level)) == 2**26
    assert resident_bytes() - before < 2**25


def test_a_survey_that_a_fault_ended_begins_its_band_anew(monkeypatch):
    monkeypatch.setattr(survey, "PORTION", 0)
    trace = trace_of(600, 1300, heads=1)
    atlas, bits = Atlas(trace), cells.Cells.log2_weights
    shares = [share for share, _ in zip(atlas.survey(), range(6), strict=False)]
    monkeypatch.setattr(cells.Cells, "log2_weights", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(atlas.survey())
    assert shares[0] < 1 / 3 < atlas.surveyed < 1
    monkeypatch.setattr(cells.Cells, "log2_weights", bits)
    assert list(atlas.survey())[-1] == 1
    assert_survey(atlas, dense(trace, 0))


def test_surveys_go_on_evenly_and_several_visitors_can_survey_at_once(monkeypatch):
    monkeypatch.setattr(survey, "PORTION", 0)
    shares = list(Atlas(trace_of(4096, 4096, heads=1, is_causal=True)).survey())
    assert np.diff(shares).max() < 2.5 / len(shares)
    monkeypatch.setattr(survey, "PORTION", 0)
    in_blocks = survey.in_blocks
    monkeypatch.setattr(survey, "in_blocks", lambda *args: (time.sleep(0.002), in_blocks(*args))[1])
    trace = trace_of(4000, 300, heads=1)
    atlas = Atlas(trace)
    with ThreadPoolExecutor(3) as visitors:
        list(visitors.map(lambda _: list(atlas.survey()), range(3)))
    assert_survey(atlas, dense(trace, 0))


def test_a_map_can_be_opened_in_inference_mode_and_looked_at_outside():
    trace = trace_of()
    with torch.inference_mode():
        atlas = Atlas(trace)
        next(atlas.survey())
        atlas.tile(1, 0, 0)
    atlas.tile(1, 1, 1)
    assert list(atlas.survey())[-1] == 1


def test_a_trace_of_weights_alone_keeps_them():
    weights = torch.rand(2, 300, 280) + 1e-6
    weights[:, :, 9] = 1e-33
    weights = weights / weights.sum(-1, keepdim=True) * 0.7
    weights[0, 5] = 0
    trace = of_weights(weights)
    assert_within(whole(Atlas(trace, 0), 0), weights[0].double().numpy())
    assert_survey(surveyed(trace, 1), weights[1].double().numpy())


@pytest.mark.parametrize("size", [1.0, 60.0])
@pytest.mark.parametrize("sink", [None, 59.0, 400.0, -400.0])
def test_powers_stay_within_range_whatever_scores_sinks_and_masks_there_are(size, sink):
    blocked = (BlockKeys((0, 3, 300, 609)),)
    sinks = None if sink is None else torch.full((HEADS, 1), sink)
    trace = trace_of(size=size, mask=BLIND, edits=blocked, sinks=sinks, is_causal=True)
    trace.query[:, 256:290] *= -40  # scores up to some 400 in one band, and more still with the size
    trace.query[:, 10] = -8 * trace.key[:, :200].mean(1)  # a row whose powers are all small
    atlas, weights = surveyed(trace), dense(trace, 0)
    assert_within(whole(atlas, 0), weights)
    assert_survey(atlas, weights)
    assert (whole(atlas, 0)[[0, 250]] == 0).all()


def test_normalisers_are_the_same_in_surveys_and_tiles_and_used_where_they_are_there():
    trace = trace_of(is_causal=True)
    asked, atlas = Atlas(trace), surveyed(trace)
    rows = slice(0, N_QUERIES)
    assert atlas._cells.is_computed(rows)
    assert not asked._cells.is_computed(rows)
    with torch.inference_mode():
        expected = asked._cells.normaliser(rows)
    torch.testing.assert_close(atlas._cells.normaliser(rows), expected, rtol=1e-6, atol=1e-6)
    trace = trace_of()
    wrong = replace(trace, normaliser=trace.log_normaliser + math.log(2))
    assert_survey(surveyed(wrong), dense(trace, 0) / 2)


class _Largest(TorchFunctionMode):
    """Notes how many numbers the largest memory holds that any operation hands out."""

    numbers = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for one in result if isinstance(result, tuple | list) else [result]:
            if isinstance(one, torch.Tensor):
                self.numbers = max(self.numbers, one.untyped_storage().nbytes() // one.element_size())
        return result


def test_neither_all_pairs_nor_a_band_of_them_is_ever_in_memory(monkeypatch):
    monkeypatch.setattr(survey, "PORTION", 0)
    n = 12_000
    trace = trace_of(n, n, heads=3, key_heads=1)
    with _Largest() as largest:
        atlas = Atlas(trace, 1)
        for level in (0, 1, atlas.n_levels - 1):
            atlas.tile(level, 0, 0)
        for share in atlas.survey():
            if share > 0.05:
                break
    assert cells.BAND * cells.COLUMNS <= largest.numbers <= trace.query.numel() < cells.BAND * n / 10
    assert "log_normaliser" not in trace.__dict__


def test_what_a_mask_hides_is_not_computed(monkeypatch):
    looked_at = []

    def counted(original):
        def count(self, rows, cols, *more):
            looked_at.append((rows.stop - rows.start) * (cols.stop - cols.start))
            return original(self, rows, cols, *more)

        return count

    for name in ("log2_weights", "log_weights"):
        monkeypatch.setattr(cells.Cells, name, counted(getattr(cells.Cells, name)))
    monkeypatch.setattr(cells, "COLUMNS", 256)
    n = 4096
    causal = trace_of(n, n, heads=1, is_causal=True)
    surveyed(causal)
    assert 0.5 * n * n < sum(looked_at) < 0.54 * n * n
    looked_at.clear()
    distance = (torch.arange(n)[:, None] - torch.arange(n)).abs()
    surveyed(trace_of(n, n, heads=1, mask=(distance < 100)[None]))
    assert sum(looked_at) < 0.2 * n * n
    looked_at.clear()
    Atlas(causal).tile(0, 0, 10)
    assert not looked_at


def test_tiles_are_kept_within_a_bound_and_coarse_ones_only_when_they_are_final(monkeypatch):
    monkeypatch.setattr(matrix, "MAX_TILES", 2)
    atlas = Atlas(trace_of(1000, 1000, heads=1))
    first = atlas.tile(0, 0, 0)
    assert atlas.tile(0, 0, 0) is first
    whole(atlas, 0)
    assert atlas.tile(0, 0, 0) is not first
    assert atlas._cached_tile.cache_info().currsize == 2
    atlas = Atlas(trace_of(9000, 300, heads=1))
    assert np.isnan(atlas.tile(5, 0, 0)).all()
    list(atlas.survey())
    assert not np.isnan(atlas.tile(5, 0, 0)).any()
    assert atlas.tile(5, 0, 0) is atlas.tile(5, 0, 0)


@pytest.mark.parametrize(
    ("n", "n_levels", "base_level"),
    [(1, 1, 5), (256, 1, 5), (257, 2, 5), (4096, 5, 5), (4097, 6, 5), (131_072, 10, 5), (131_073, 11, 6)],
)
def test_levels_reach_from_single_cells_to_one_tile(n, n_levels, base_level):
    atlas = Atlas(trace_of(n, n, heads=1))
    assert (atlas.n_levels, atlas.base_level) == (n_levels, base_level)
    assert atlas.n_tiles(n_levels - 1) == (1, 1)
    assert n_levels == 1 or atlas.n_tiles(n_levels - 2) == (2, 2)
    assert (atlas.n_queries, atlas.n_keys) == (n, n)


def test_a_single_query_and_key_have_a_map_and_what_is_not_there_is_told():
    atlas = surveyed(trace_of(1, 1, heads=1))
    assert atlas.tile(0, 0, 0).item() == pytest.approx(1)
    atlas = Atlas(trace_of())
    with pytest.raises(IndexError, match=r"head must be from 0 to 3, got 4"):
        Atlas(trace_of(), 4)
    with pytest.raises(IndexError, match=r"level must be from 0 to 2, got 3"):
        atlas.tile(3, 0, 0)
    with pytest.raises(IndexError, match=r"level 0 has 3 x 3 tiles, got row 0, column 3"):
        atlas.tile(0, 0, 3)
    with pytest.raises(ValueError, match="0 queries and 610 keys has no weights"):
        Atlas(trace_of(0))
    assert TILE == 256
