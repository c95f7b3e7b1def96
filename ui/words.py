"""Words that a visitor can click: a sentence above its translation with arcs, and the likeliest next words as bars.

Components rather than charts: words keep their type and wrap as text does, and hovering needs no server.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from attention_core.attention.types import Role
from attention_core.charts.bar_table import Bars, bar_table
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.words import word_arcs
from attention_core.data.pieces import pieces
from attention_core.data.words import SPACE
from attention_core.device import to_array
from attention_core.topics.translate.translation import END_LABEL, NextPiece
from attention_core.topics.translate.word_view import WordView
from ui.chart import note_picture
from ui.component import component
from ui.state import component_message

_arcs = component("aligned_words")
_bars = component("next_words")


def chosen_row(name: str) -> int | None:
    """Return the target word that was clicked last, a row of the weights; None before any was."""
    row = (component_message(f"{name}_words", "chosen") or {}).get("row")
    return row if isinstance(row, int) else None


def aligned_words(
    name: str,
    view: WordView,
    *,
    model: str,
    active: int,
    n_forced: int = 0,
    single: str = "one vector",
    note: str = "",
    plain: bool = False,
    on_choose: Callable[..., None] | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """Draw the two lines of words.

    The active target word counts from 0; the first n_forced ones a person chose. A translator without attention has
    what is `single` on its one vector. Plain lower words are not said one after the other, and have no probabilities.
    The note is a line below; on_choose is called after a click on a target word, see chosen_row.
    """
    row = min(active, len(view.target) - 1)
    title = f"{model}: where “{view.target[row]}” looks"
    single = single if view.is_single else ""
    note_picture(lambda: word_arcs(view.source, view.target, to_array(view.weights), row, single=single), title)
    more = {"note": note, "plain": plain, "single": single, "forced": n_forced}
    _arcs(
        key=f"{name}_words",
        data=word_data(view, model) | more | {"active": row},
        default={"chosen": None},
        on_chosen_change=(lambda: on_choose(*args)) if on_choose else (lambda: None),
    )


def word_data(view: WordView, model: str) -> dict[str, Any]:
    """Return what the browser draws of words and weights."""
    return {
        "name": model,
        "source": view.source,
        "target": view.target,
        "weights": [[round(weight, 4) for weight in row] for row in view.weights.tolist()],
        "probabilities": [None if math.isnan(share) else round(share, 4) for share in view.probabilities],
        "uniform": 1 / len(view.keys),
    }


class Bar(NamedTuple):
    """A word that may come."""

    piece: int  # its number
    text: str  # as it is shown
    share: float  # its probability


def chosen_piece(name: str) -> tuple[int, list[int]] | None:
    """Return the piece that was clicked last and the pieces that it was to follow; None before any was."""
    chosen = component_message(f"{name}_choice", "chosen")
    if not chosen:
        return None
    return int(chosen["piece"]), [int(piece) for piece in chosen["after"]]


def next_words(
    name: str, candidates: Sequence[NextPiece], after: Sequence[int], said: int | None, on_choose: Callable[[], None]
) -> None:
    """Draw the candidates, best first, see word_bars; a piece that continues a word begins with a hyphen."""
    after_apostrophe = bool(after) and pieces().text(after[-1]).endswith("'")
    bars = [
        Bar(candidate.piece, piece_label(candidate.text, after_apostrophe), candidate.probability)
        for candidate in candidates
    ]
    word_bars(name, bars, after, said, on_choose)


def word_bars(
    name: str, bars: Sequence[Bar], after: Sequence[int], said: int | None, on_choose: Callable[[], None]
) -> None:
    """Draw bars that are buttons, best first; what is said is marked.

    What a click chose is told by chosen_piece with the pieces before, or whatever it is to be understood with.
    """
    shares = [bar.share for bar in bars]
    column = Bars("probability", shares, 1.0, [f"{share:.1%}" for share in shares], (ROLE_COLOURS[Role.OUTPUT],))
    note_picture(lambda: bar_table([bar.text for bar in bars], [column]), "The likeliest next words")
    _bars(
        key=f"{name}_choice",
        data={"words": [{**bar._asdict(), "said": bar.piece == said} for bar in bars], "after": list(after)},
        default={"chosen": None},
        on_chosen_change=on_choose,
    )


def piece_label(text: str, after_apostrophe: bool = False) -> str:
    """Return a piece for people: words as they are, the rest of a word with a hyphen before it.

    After an apostrophe (l', qu') words follow without a space; a piece that brings one is marked.
    """
    if text.startswith(SPACE):
        return ("␣" if after_apostrophe or text == SPACE else "") + text.removeprefix(SPACE)
    return text if text == END_LABEL or after_apostrophe or not text[:1].isalpha() else f"-{text}"
