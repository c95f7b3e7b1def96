"""The query and the keys: what a visitor arranged, and the plane in which they are arrows to drag.

The drag is drawn in the browser, Python follows.
"""

from dataclasses import replace

from attention_core.topics.scoring.charts import vector_plane as plane
from attention_core.topics.scoring.presets import EXTENT, VECTOR_PRESETS, Vectors, random_vectors
from ui.chart import note_picture
from ui.component import component
from ui.state import PLAYING, Field, component_message, whole_number

NAME = "scoring"
PAUSE = 90
"""Milliseconds between two messages to Python while an arrow is dragged."""
_component = component("vector_plane")
RANDOM = "Random vectors, drawn as in the training of the parameters."
FIRST = VECTOR_PRESETS[0]
VECTORS = Field(NAME, "vectors", FIRST, address="vectors", parse=lambda text: _arranged(text), text=Vectors.text)
SHOWN = Field(NAME, "shown", FIRST)
"""The vectors that the plane and the tables know."""
OTHER_WIDTHS = Field(NAME, "other_widths", lambda: {2: FIRST})
WIDTH = Field(NAME, "d", 2)
ACTIVE = Field(NAME, "active", 0, address="active", parse=whole_number)
"""The key at full strength, whose angle is drawn."""
TYPING = Field(NAME, "typing", False, address="typing")
"""Whether the table of the vectors in the plane is open."""
REVISION = Field(NAME, "revision", 0)
"""Counts the changes that Python made; the plane takes over the vectors only when it has changed."""
VERSION = Field(NAME, "version", 0)
"""Counts the changes that no table made; the tables are drawn anew when it has changed."""
ANSWERED = Field(NAME, "answered", 0)
"""The number of the plane's last message that was taken."""


def arranged_vectors() -> Vectors:
    """Return what is arranged, after the plane and the tables were told of what Back or a link brought."""
    if VECTORS.value is not SHOWN.value:
        arrange(VECTORS.value)
    if WIDTH.value != VECTORS.value.d:
        WIDTH.value = VECTORS.value.d
    ACTIVE.within(0, len(VECTORS.value.keys) - 1)
    return VECTORS.value


def _arranged(text: str) -> Vectors:
    vectors = Vectors.parse(text)
    return next((replace(preset) for preset in VECTOR_PRESETS if preset.text() == vectors.text()), vectors)


def arrange(vectors: Vectors, *, typed: bool = False) -> None:
    """Replace query and keys from outside the plane; a table that was typed into stays as it is."""
    VECTORS.value = SHOWN.value = vectors
    ACTIVE.value = min(ACTIVE.value, len(vectors.keys) - 1)
    REVISION.value += 1
    VERSION.value += not typed


def choose_width() -> None:
    others, d = OTHER_WIDTHS.value, WIDTH.value
    others[VECTORS.value.d] = VECTORS.value
    arrange(others.get(d) or Vectors(*random_vectors(d, 4, seed=d), RANDOM))


def take_move() -> None:
    """Take over what was dragged; a message from before Python's own last change comes too late and is dropped."""
    moved = component_message("scoring_plane", "moved")
    if moved is None:
        return
    ANSWERED.value = moved["sequence"]
    PLAYING.value = "scoring_plane" if moved["moving"] else ""  # the address waits for the end of the drag
    if moved["revision"] != REVISION.value:
        return
    VECTORS.value = SHOWN.value = Vectors(moved["query"], moved["keys"])
    ACTIVE.value = moved["active"]
    VERSION.value += not moved["moving"]


def vector_plane(vectors: Vectors) -> None:
    """Draw the plane. Call it last in its fragment: it counts a message as answered when it is drawn again."""
    query, keys = list(vectors.query), [list(key) for key in vectors.keys]
    note_picture(lambda: plane(query, keys, EXTENT), "The query and the keys as arrows")
    counted = {"revision": REVISION.value, "answered": ANSWERED.value, "active": ACTIVE.value}
    data = {"query": query, "keys": keys, "scale": 2**-0.5, "extent": EXTENT, "pause": PAUSE, **counted}
    _component(key="scoring_plane", data=data, default={"moved": None}, on_moved_change=take_move)


def key_name(place: int) -> str:
    """Return k₁ for 0, k₂ for 1 and so on."""
    return f"k{place + 1}".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
