"""Why a network misreads one's own handwriting: a photograph of paper, and what becomes of it before it is read."""

from collections.abc import Callable
from io import BytesIO
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import Image

from attention_core.attention.wording import percent
from attention_core.charts.overlay import image_png
from attention_core.data.drawing import crop_to_ink, draw_strokes, flattened
from attention_core.data.handwriting import Handwriting, HandwritingRemark, find_handwriting, shrink, write_on_canvas
from attention_core.data.paper import PAPERS, photograph_ink
from attention_core.data.presets import number_strokes
from ui.chart import draw_layers
from ui.computed import cached_computation, card_or_empty
from ui.digits import inked
from ui.picture_upload import UPLOADED, PictureUpload
from ui.state import Field, one_of, single_choice

PICTURE_SIZE = 168  # screen pixels of each step's picture
REMARKS = {
    HandwritingRemark.EMPTY: "There is too little ink in this photograph. Write larger, or come closer.",
    HandwritingRemark.OTHER: "This does not look like ink on paper. Put the sheet so that it fills the picture.",
}
SEEDS = dict(zip(PAPERS, (4, 9, 4), strict=True))
_find = cached_computation()(find_handwriting)


class PaperReading(NamedTuple):
    """What is read in a photograph, and what was if it was only shrunk."""

    pixels: np.ndarray  # uint8 (rows, columns, 3), the photograph
    found: Handwriting
    picture: np.ndarray | None  # what the model sees, float (rows, columns); None = there is nothing to read
    text: str
    shrunk_text: str


class PaperExperiment:
    """The experiment of one page: how its model reads photographs.

    Args:
        page: the page's name.
        model: whose card says how many made photographs it reads.
        example: what is written on the ready photographs.
        canvas_size: the canvas, rows and columns, on which ink is written.
        picture_size: rows and columns of what the model sees.
        picture_of: returns what the model sees of a canvas, float (rows, columns).
        read: returns what the model reads in such a picture.
        is_single_digit: whether the model takes all ink for one digit.
    """

    def __init__(
        self,
        page: str,
        model: str,
        example: str,
        canvas_size: tuple[int, int],
        picture_size: tuple[int, int],
        picture_of: Callable[[np.ndarray], np.ndarray],
        read: Callable[[np.ndarray], str],
        *,
        is_single_digit: bool = False,
    ) -> None:
        self._page, self._model, self._example, self._canvas_size = page, model, example, canvas_size
        self._picture_size, self._is_single_digit = picture_size, is_single_digit
        self._picture_of, self._read = picture_of, read
        self._sheet = Field(page, "sheet", PAPERS[-1], address="sheet", parse=one_of((*PAPERS, UPLOADED)))
        self._content = Field[bytes | None](page, "handwriting", None)
        self._upload = PictureUpload(page, f"{page}_handwriting", self._sheet, self._content)

    def draw_input(self) -> PaperReading:
        """Draw the choice of the photograph; return what is read in it."""
        with st.container(horizontal=True, vertical_alignment="bottom"):
            is_uploaded = self._sheet.value == UPLOADED or self._content.value
            papers = {paper: paper for paper in PAPERS} | ({UPLOADED: "your own"} if is_uploaded else {})
            paper = single_choice("Paper", self._sheet, papers)
            self._upload.draw()
        if paper == UPLOADED and self._content.value:
            pixels = _decode(self._content.value)
        else:
            paper = PAPERS[-1] if paper == UPLOADED else paper
            pixels = example_photograph(self._example, paper, self._canvas_size)
        found = _find(pixels)
        shrunk_text = self._read(shrink(pixels, self._picture_size))
        if found.remark is not None:
            return PaperReading(pixels, found, None, "", shrunk_text)
        picture = self._picture_of(write_on_canvas(found, self._canvas_size))
        return PaperReading(pixels, found, picture, self._read(picture), shrunk_text)

    def answer(self, reading: PaperReading) -> str:
        """Say what is read with and without the steps."""
        if reading.found.remark is not None:
            return REMARKS[reading.found.remark]
        few = ""
        if self._is_single_digit and (n := len(reading.found.pieces)) > 1:
            few = f" It takes the {n} pieces of ink for one digit."
        return (
            f"It reads **{reading.text}**. Were the photograph only shrunk, it would read {reading.shrunk_text}.{few}"
        )

    def draw(self, reading: PaperReading) -> None:
        """Draw the photograph and the steps to what the network sees."""
        found = reading.found
        steps: list[tuple[str, np.ndarray]] = [
            ("The photograph", reading.pixels),
            ("Without shadows", _grey(found.density)),
            ("Without lines", _grey(found.unlined)),
            ("Ink", _grey(found.ink)),
        ]
        if reading.picture is not None:
            steps.append(("What it sees", inked(reading.picture)))
        with st.container(horizontal=True, key=f"{self._page}_paper_steps"):
            for index, (title, picture) in enumerate(steps):
                with st.container(width=PICTURE_SIZE, gap=None):
                    st.caption(title)
                    _draw_picture(picture, f"{self._page}_paper_{index}", title)
        st.caption(self._describe_figures())

    def _describe_figures(self) -> str:
        figures = card_or_empty(self._model).get("handwriting", {})
        if not figures:
            return ""
        read, shrunk = (percent(figures[group]) for group in ("all", "only shrunk"))
        return (
            f"Of {figures['n']} photographs that a computer made, it reads {read}; only shrunk, {shrunk}. Real "
            "handwriting was not measured."
        )


@cached_computation()
def example_photograph(text: str, paper: str, canvas_size: tuple[int, int]) -> np.ndarray:
    """Return a made photograph of digits on a paper, uint8 (rows, columns, 3)."""
    strokes = number_strokes(text, canvas_size, np.random.default_rng(SEEDS[paper]))
    written = draw_strokes(strokes, canvas_size, "#ffffff", "#000000")[..., 0]
    ink = Image.fromarray(crop_to_ink(written))
    return photograph_ink(ink, np.random.default_rng(SEEDS[paper]), paper).pixels


def _decode(content: bytes) -> np.ndarray:
    return flattened(np.asarray(Image.open(BytesIO(content)).convert("RGBA")))


def _grey(density: np.ndarray) -> np.ndarray:
    """Return densities, or ink, dark on white, uint8 (rows, columns, 3)."""
    dark = density / max(float(density.max()), 1e-6)
    return np.repeat(np.rint(255 * (1 - dark)).astype(np.uint8)[..., None], 3, 2)


def _draw_picture(pixels: np.ndarray, key: str, alt: str) -> None:
    draw_layers([image_png(pixels)], np.zeros(pixels.shape[:2]), key, alt, size=PICTURE_SIZE)
