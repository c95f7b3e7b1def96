"""Twenty free photographs: which classes are in each, where that is, who made it, and under which licence."""

from pathlib import Path
from typing import NamedTuple

from attention_core.files import read_toml_beside

FOLDER = Path(__file__).with_suffix("")
Box = tuple[float, float, float, float]  # left, top, right, bottom in shares of the photograph's width and height


class Photograph(NamedTuple):
    name: str
    text: str  # what is to be seen on it
    classes: dict[str, list[Box]]  # by the name of a class: around each such thing that is there
    author: str
    licence: str
    source: str

    @property
    def content(self) -> bytes:
        """Its JPEG."""
        return (FOLDER / f"{self.name}.jpg").read_bytes()


def load_photographs() -> dict[str, Photograph]:
    """Return the photographs by their names, in the order in which they are shown."""
    tables = read_toml_beside(__file__)
    return {
        name: Photograph(name, table["text"], table["classes"], **table["credit"]) for name, table in tables.items()
    }
