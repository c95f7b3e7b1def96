"""Labels of choices: Streamlit tells options apart by their text, so equal texts must differ invisibly."""

from collections import Counter
from collections.abc import Sequence

from attention_core.bounds import IN_SENTENCES, as_markdown, escape_hidden, strip_folders

INVISIBLE = "\u200b"


def distinct(labels: Sequence[str]) -> list[str]:
    """Return the labels, the second and later ones of equal text with invisible characters at their end."""
    seen: Counter[str] = Counter()
    result = []
    for label in labels:
        result.append(label + INVISIBLE * seen[label])
        seen[label] += 1
    return result


def error_markdown(error: object) -> str:
    """Return Markdown for a sentence in which a stranger's words may stand, or places of this server."""
    return as_markdown(strip_folders(str(error)), IN_SENTENCES)


def literal(text: str, longest: int = 60) -> str:
    """Return Markdown that shows a person's text as it is."""
    text = escape_hidden(text)
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "`" + cut.replace("`", "'") + "`"


def number(value: float, form: str = ".2f") -> str:
    """Return a number for people, with a true minus sign."""
    return f"{value:{form}}".replace("-", "−")


def as_percent(share: float) -> str:
    """Return a probability for people: a percentage with one or two figures, or “less than” the smallest one."""
    if share >= 0.0995:
        return f"{share:.0%}"
    if share >= 1e-6:
        return f"{float(f'{100 * share:.{1 if share < 0.0095 else 2}g}'):f}".rstrip("0").rstrip(".") + "%"
    return "0%" if share == 0 else "less than 0.0001%"
