"""Labels of choices: Streamlit tells options apart by their text, so equal texts must differ invisibly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

INVISIBLE = "\u200b"


def distinct(labels: Sequence[str]) -> list[str]:
    """Return the labels, the second and later ones of equal text with invisible characters at their end."""
    seen: Counter[str] = Counter()
    result = []
    for label in labels:
        result.append(label + INVISIBLE * seen[label])
        seen[label] += 1
    return result


def literal(text: str, longest: int = 60) -> str:
    """Return Markdown that shows a person's text as it is."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "`" + cut.replace("`", "'") + "`"
