"""The hero: words as tiles that change places, and the French of both orders, without positions and with them."""

from attention_core.inference import word_orders as orders
from attention_core.inference.translation import SourceSentence, read_source
from pages.transformer.reading import NAME, Reading, translate_sources
from ui.component import component
from ui.state import Field, component_message, whole_number
from ui.try_this import TRY_STAGE, is_guessing

TILES = f"{NAME}_tiles"
_tiles = component("word_tiles", folder="pages/transformer")


def _parse_order(text: str) -> list[int]:
    if "-" in text:
        return []  # "reversed-0" in links of before
    order = [whole_number(number) for number in text.split(".")]
    if sorted(order) != [*range(len(order))]:
        raise ValueError(f"order must have each word once, got {text!r}")
    return order


ORDER = Field(
    NAME, "order", list[int], address="words", parse=_parse_order, text=lambda order: ".".join(map(str, order))
)
"""The second order, as the numbers of the words in the first; reversed where it does not fit the sentence."""


def second_order(source: SourceSentence) -> list[int]:
    """Return the second order of the words that may move; it is the first where that changes nothing."""
    n = orders.movable_words(source)
    order = ORDER.value if len(ORDER.value) == n else orders.word_order(n, "reversed")
    return [*range(n)] if [source.words[index] for index in order] == source.words[:n] else order


def french_by_order(reading: Reading, *, with_positions: bool) -> list[str]:
    """Return the French of the typed order and of the second one."""
    source = read_source(reading.text)
    reordered, positions = orders.reordered(source, second_order(source))
    edits = orders.reordered_edits(reading.edits, positions)
    return [
        french
        for edited, sentence in ((reading, source), (reading._replace(edits=edits), reordered))
        for french in translate_sources(edited, sentence, with_positions=with_positions)
    ]


def draw_tiles(reading: Reading) -> None:
    """Draw the words as tiles in both orders, and what becomes of them."""
    source = read_source(reading.text)

    def on_order() -> None:
        order = (component_message(TILES, "chosen") or {}).get("order")
        if isinstance(order, list) and sorted(map(str, order)) == sorted(map(str, range(orders.movable_words(source)))):
            ORDER.value = order

    data = {
        "typed": reading.text,
        "words": source.words,
        "order": second_order(source),
        "french": [french_by_order(reading, with_positions=has_positions) for has_positions in (False, True)],
        "tried": "ask" if is_guessing(NAME) else TRY_STAGE[NAME].value and "answered",
    }
    _tiles(key=TILES, data=data, default={"chosen": None}, on_chosen_change=on_order)
