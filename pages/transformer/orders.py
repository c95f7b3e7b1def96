"""The hero: words as tiles that change places, and the French of both orders, without positions and with them."""

from attention_core.inference import word_orders as orders
from attention_core.inference.translation import SourceSentence, read_source
from pages.transformer.reading import NAME, Reading, aligned, translate_sources
from ui.component import component
from ui.state import Field, component_message, whole_number
from ui.try_this import TRY_STAGE, is_guessing

TILES = f"{NAME}_tiles"
LEAST_WEIGHT = 0.3  # of what a French word is drawn to look at, besides what it looks at most
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


def _both_orders(reading: Reading) -> list[tuple[Reading, SourceSentence]]:
    """Return the reading of the typed order and that of the second one, each with its source."""
    source = read_source(reading.text)
    reordered, positions = orders.reordered(source, second_order(source))
    edits = orders.reordered_edits(reading.edits, positions)
    return [(reading, source), (reading._replace(edits=edits), reordered)]


def french_by_order(reading: Reading, *, with_positions: bool) -> list[str]:
    """Return the French of the typed order and of the second one."""
    return [
        french
        for edited, source in _both_orders(reading)
        for french in translate_sources(edited, source, with_positions=with_positions)
    ]


def _looks_by_order(reading: Reading, *, with_positions: bool) -> list[list[tuple[str, list[tuple[int, float]]]]]:
    """Return what each French word of both orders looks at: the numbers of typed words, each with its weight."""
    looks, source = [], read_source(reading.text)
    n = len(source.words)
    for (edited, ordered), order in zip(_both_orders(reading), ([*range(n)], second_order(source)), strict=True):
        view = aligned(edited, ordered, with_positions=with_positions)
        numbers = [*order, *range(len(order), n)]
        rows = (sorted(zip(numbers, row, strict=False)) for row in view.weights[:-1].round(decimals=3).tolist())
        strong_keys = [[pair for pair in row if pair[1] >= min(LEAST_WEIGHT, max(dict(row).values()))] for row in rows]
        looks.append([*zip(view.target, strong_keys, strict=False)])
    return looks


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
        "looks": [_looks_by_order(reading, with_positions=has_positions) for has_positions in (False, True)],
        "french": [french_by_order(reading, with_positions=has_positions) for has_positions in (False, True)],
        "tried": "ask" if is_guessing(NAME) else TRY_STAGE[NAME].value and "answered",
    }
    _tiles(key=TILES, data=data, default={"chosen": None}, on_chosen_change=on_order)
