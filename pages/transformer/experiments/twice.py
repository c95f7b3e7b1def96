"""Is the order learned twice? Translators with and without order and attention: their BLEU, and one's own sentence."""

from collections.abc import Mapping

from attention_core.evaluate.translation_figures import committed_costs
from attention_core.evaluate.variants import variants_of
from pages.transformer.inputs import draw_sentence
from pages.transformer.reading import MODEL, reduced
from ui.computed import card_or_empty
from ui.layout import figures_table

ROWS = {
    ("additive", ""): "recurrent with attention",
    ("additive", "recurrence"): "– every piece read alone",
    ("additive", "attention_trained"): "– without attention, trained so",
    ("transformer", ""): "transformer",
    ("transformer", "positions"): "– without positions",
}
TRAINED = {"additive": "translator-additive", "transformer": MODEL, "attention_trained": "translator-none"}
"""Whose card says for how many passes a row was trained."""
FAIRLY, LEARNED_WITHOUT = "– stopped early", "– without positions, trained on so"
ALMOST = 1.0  # BLEU that is hardly worth a word
draw_input = draw_sentence


def _measured() -> dict[tuple[str, str], Mapping[str, float]]:
    """Return the figures of each model, by (model, what is left out)."""
    costs = committed_costs()
    return {(row["model"], row["without"]): row for row in costs["rows"]} if costs else {}


def answer(_: str | None) -> str:
    """Say how much of the BLEU that it lost without positions a transformer learns to win back."""
    measured, card = _measured(), variants_of("translator").get("unordered")
    if not measured:
        return "Nothing was measured beforehand."
    states = "A recurrent network's states know the order, too."
    if not card:
        return states
    before, without = (measured["transformer", left_out]["bleu"] for left_out in ("", "positions"))
    learned = card["test"]["bleu"]
    verdict = ": positions were redundant" if before - learned < ALMOST else ", not the rest"
    return (
        f"{states} A transformer loses {before - without:.0f} BLEU without positions; one pass more wins back "
        f"{learned - without:.0f}{verdict}."
    )


def draw(text: str | None) -> None:
    """Draw a table of the translators."""
    measured = _measured()
    if not measured:
        return

    def row(name: str, passes: str, figures: Mapping[str, float], french: str = "") -> tuple[str, ...]:
        return name, passes, f"{figures['bleu']:.1f}", f"{figures['bleu_long']:.1f}", french

    french, rows = reduced(text) if text else {}, []
    for variant, name in ROWS.items():
        epochs = card_or_empty(TRAINED.get(variant[1]) or TRAINED[variant[0]]).get("epochs")
        rows.append(row(name, f"{epochs:g}" if epochs else "unknown", measured[variant], french.get(variant, "")))
    if card := variants_of("translator").get("unordered"):
        rows.append(row(LEARNED_WITHOUT, f"{rows[-1][1]} + 1", card["test"]))
    if fair := card_or_empty("translator-additive").get("after_five_epochs"):
        rows.insert(1, row(FAIRLY, "5", fair["test"]))
    header = "", "passes", "BLEU", "12 words and more", "your sentence"
    figures_table(header, *rows, ends_in_french=True)
