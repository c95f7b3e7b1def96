"""Figures of variants of our models that were trained once, see benchmarks/README.md; their weights were not kept."""

from typing import Any

from attention_core.files import find_file, read_figures

COMMITTED = find_file("benchmarks/results/variants.json")


def variants_of(name: str) -> dict[str, dict[str, Any]]:
    """Return the cards of those variants of a model that were trained, by what is varied: {"256": ..., "384": ...}."""
    cards = read_figures(COMMITTED).get("cards", [])
    return {card["name"].removeprefix(f"{name}-"): card for card in cards if card["name"].startswith(f"{name}-")}
