"""Words in colours: one share of each colour everywhere, with a contrast of 4.5 on both pages (WCAG 2.2, AA)."""

import re

import numpy as np
import pytest

from attention_core.charts import ramps
from ui.layout import READABLE

PAGES = {"light": ("#1B1F24", ("#FFFFFF", "#F6F7F9")), "dark": ("#E6EAF0", ("#0F1318", "#181D24"))}
COLOURS = {*ramps.ROLE_COLOURS.values(), ramps.GREY, ramps.TEXT_COLOUR, ramps.LABEL_COLOUR}


def parts(colour: str) -> np.ndarray:
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)], float)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    lights = []
    for colour in (one, other):
        share = colour / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return max(lights) / min(lights)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colour", sorted(COLOURS))
def test_a_word_in_a_colour_can_be_read(page, colour):
    text, papers = PAGES[page]
    mixed = READABLE / 100 * parts(colour) + (1 - READABLE / 100) * parts(text)
    assert min(contrast(mixed, parts(paper)) for paper in papers) >= 4.5


def test_the_pages_rules_know_every_colour_that_words_of_charts_have(root):
    rules = (root / "ui/styles/readable.css").read_text()
    assert {colour.lower() for colour in COLOURS} <= set(re.findall('fill="(#[0-9a-f]{6})" i', rules))
    assert set(re.findall(r"(\d+)%", rules)) == {str(READABLE)}


def test_numbers_can_be_read_on_every_cell():
    for cell in ramps.Ramp(ramps.VIRIDIS, 0, 1).lookup()[:, :3].astype(float):
        ink = parts("#ffffff" if ramps.is_dark(cell) else ramps.DARK_COLOUR)
        assert contrast(ink, cell) >= 4.49


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colours", [ramps.PINKS, ramps.BLUE_ORANGE])
def test_the_pages_letters_can_be_read_where_its_paper_shows(page, colours):
    letters, (paper, *_) = PAGES[page]
    for cell in ramps.Ramp(colours, 0, 1).lookup().astype(float):
        share = cell[3] / 255
        assert contrast(parts(letters), share * cell[:3] + (1 - share) * parts(paper)) >= 4.5
