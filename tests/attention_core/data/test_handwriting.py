"""Digits on paper: ink is found under shadows, between lines and beside the table, and nothing else is read."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageDraw

from attention_core.data.handwriting import HandwritingRemark, find_handwriting, shrink, write_on_canvas
from attention_core.data.paper import PAPERS, photograph_ink
from attention_core.data.photographs import load_photographs
from attention_core.evaluate.__main__ import main as evaluate
from attention_core.weights import read_card
from ui.handwriting import example_photograph


def sheet(*lines: tuple[float, ...], width: int = 9) -> np.ndarray:
    """Return a white sheet of 300 x 400 pixels with black lines."""
    image = Image.new("RGB", (400, 300), (235, 235, 230))
    pen = ImageDraw.Draw(image)
    for line in lines:
        pen.line(line, (30, 30, 40), width)
    return np.asarray(image)


@pytest.mark.parametrize("paper", PAPERS)
def test_ink_is_found_on_every_paper(paper):
    found = find_handwriting(example_photograph("305", paper, (144, 576)))
    assert found.remark is None
    assert len(found.pieces) == 3
    lefts = [left for _, left, _, _ in found.pieces]
    assert lefts == sorted(lefts)


def test_a_shadow_leaves_ink_as_dark_as_before():
    light = np.linspace(1, 0.35, 400)[:, None]
    lit = find_handwriting(sheet((200, 80, 200, 220)))
    shaded = find_handwriting((sheet((200, 80, 200, 220)) * light).astype(np.uint8))
    assert (lit.ink == shaded.ink).mean() > 0.99


def test_lines_of_a_sheet_are_subtracted_and_turned_level():
    ink = Image.fromarray(np.pad(np.full((120, 14), 255, np.uint8), ((0, 0), (60, 60))))
    found = find_handwriting(photograph_ink(ink, np.random.default_rng(3), "squared").pixels)
    assert len(found.pieces) == 1
    away = np.ones(found.ink.shape, bool)
    away[:20], away[-20:], away[:, :20], away[:, -20:] = False, False, False, False
    away &= ~found.ink
    assert np.quantile(found.unlined[away], 0.95) < 0.3 * np.quantile(found.unlined[found.ink], 0.5)


def test_what_touches_an_edge_is_no_ink_and_a_bar_above_belongs_to_its_digit():
    pixels = sheet((150, 100, 150, 200), (150, 84, 190, 84), (0, 290, 400, 290), (395, 0, 395, 300))
    (top, left, bottom, right), *others = find_handwriting(pixels).pieces
    assert not others
    scale = 320 / 400
    assert np.allclose((top, left, bottom, right), np.array((80, 145, 201, 191)) * scale, atol=4)


def test_strokes_become_as_thick_as_a_pads():
    areas = []
    for width in (3, 20):
        canvas = write_on_canvas(find_handwriting(sheet((200, 60, 200, 240), width=width)), (200, 200))
        assert canvas.shape == (200, 200, 4)
        areas.append((canvas[100, :, 0] == 0).sum())
    assert 9 <= areas[0] <= 14
    assert areas[1] >= areas[0]


@pytest.mark.parametrize("lines", [(), [(200, 150, 204, 150)]], ids=["blank", "a dot"])
def test_too_little_ink_is_a_remark(lines):
    found = find_handwriting(sheet(*lines))
    assert found.remark is HandwritingRemark.EMPTY


@pytest.mark.parametrize("shape", [(1, 1), (1, 4000), (15, 15), (15, 400), (16, 16), (16, 4000), (300, 400)])
def test_pictures_of_any_size_have_a_remark(shape):
    noise = np.random.default_rng(0).integers(0, 255, (*shape, 3), dtype=np.uint8)
    for pixels in (noise, noise // 255, noise % 2 * 255):
        assert find_handwriting(pixels).remark is not None


def test_nothing_to_write_is_an_error():
    with pytest.raises(ValueError, match="no ink"):
        write_on_canvas(find_handwriting(sheet()), (200, 200))


def test_photographs_of_something_else_are_seen_as_that():
    photographs = load_photographs().values()
    remarks = [
        find_handwriting(np.asarray(Image.open(BytesIO(one.content)).convert("RGB"))).remark for one in photographs
    ]
    assert sum(remark is HandwritingRemark.OTHER for remark in remarks) >= len(remarks) - 1


def test_a_photograph_that_is_only_shrunk_is_its_middle_in_the_models_size():
    picture = shrink(sheet((200, 0, 200, 300), width=30), (28, 28))
    assert picture.shape == (28, 28)
    assert picture[:, 13:15].min() > 0.8
    assert picture[:, :8].max() < 0.1


@pytest.mark.data
def test_figures_are_those_of_a_command(data_folder, capsys):
    assert evaluate(["handwriting", "pixel-notes", "--n", "12", "--data", str(data_folder), "--json"]) == 0
    assert '"n": 12' in capsys.readouterr().out


@pytest.mark.parametrize("name", ["pixel-notes", "digit-reader"])
def test_most_made_photographs_are_read(name):
    figures = read_card(name)["handwriting"]
    assert figures["n"] == 200
    assert figures["all"] > figures["only shrunk"] + 0.5
