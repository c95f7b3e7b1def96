"""The page's surprise: what comes where words stay and their positions alone are exchanged."""

from attention_core.data.sentence_presets import LAYERED
from pages.transformer.orders import ORDER, french_by_order
from pages.transformer.reading import EDITS, NAME, Reading
from ui.try_this import TryThis
from ui.words import text_field

SENTENCE = next(iter(LAYERED.values()))
OPTIONS = ("Tom a aidé Mary", "Mary a aidé Tom", "Something else")


def exchange_positions() -> TryThis:
    """Return the page's surprise: *Tom helped Mary*, with the position 3 for *Tom* and 1 for *Mary*."""

    def act() -> None:
        text_field(NAME).value = SENTENCE
        ORDER.reset()
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        french = french_by_order(Reading(SENTENCE, {}), with_positions=True)[1].removesuffix(".")
        right = OPTIONS.index(french) if french in OPTIONS else len(OPTIONS) - 1
        return right, "A word stands where its number says, not where it is drawn."

    return TryThis(
        "move only the numbers",
        "The words stay, and their numbers alone are exchanged: *Tom* 3, *helped* 2, *Mary* 1. What is the French?",
        OPTIONS,
        act,
        outcome,
        f"{NAME}_place",
        hides=".st-key-numbers",
    )
