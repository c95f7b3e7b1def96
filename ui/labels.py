"""Labels of choices, of which equal ones differ invisibly, numbers for people, and the terms that pages explain."""

import re
from collections import Counter
from collections.abc import Sequence

import streamlit as st

from attention_core.bounds.harmless import IN_SENTENCES, as_markdown, escape_hidden, strip_folders

INVISIBLE = "\u200b"


def distinct(labels: Sequence[str]) -> list[str]:
    """Return the labels, the second and later ones of equal text with invisible characters at their end."""
    n_earlier: Counter[str] = Counter()
    result = []
    for label in labels:
        result.append(label + INVISIBLE * n_earlier[label])
        n_earlier[label] += 1
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


TERMS = {
    "softmax": "turns scores into positive shares that sum to 1.",
    "log-odds": "the logarithm of p / (1 − p). 0 is fifty-fifty; adding 0.7 doubles the odds.",
    "BLEU": "short runs of words shared with a person's translation, from 0 to 100.",
    "entropy": "how spread out shares are. 0 bits: all on one place. Each further bit doubles the number of places.",
    "gate": "numbers from 0 to 1 by which others are multiplied: 0 shuts them out, 1 lets them through.",
    "gradient": "how far a nudged input moves a result.",
    "GRU": "gated recurrent unit: it learns how much of its memory to keep.",
    "residual": "a layer's input is added to its output, so that the layer only has to learn the difference.",
    "logit": "a score from which a softmax makes a probability.",
    "rollout": "attention multiplied through all layers, back to the input.",
    "cosine": "how alike two directions are: 1 the same, 0 at right angles, −1 opposite.",
    "modulo": "the remainder of a division: 33 modulo 31 is 2.",
    "convolution": "the same small filter, slid over the whole picture.",
    "beam search": "the model keeps a few of the best beginnings at each word, not only the single best one.",
}


def terms_in(*texts: str) -> list[str]:
    """Return which of the terms some texts use."""
    text = " ".join(texts).replace("gated recurrent unit", "GRU")
    return [
        term
        for term in TERMS
        if re.search(rf"\b{term}(?:s|al)?\b(?! and sines)", text, 0 if term.isupper() else re.IGNORECASE)
    ]


def explain(*texts: str) -> str | None:
    """Return the help that explains the terms in some texts, Markdown; None = there are none."""
    return "\n\n".join(f"**{term[0].upper()}{term[1:]}**: {TERMS[term]}" for term in terms_in(*texts)) or None


def paragraph(text: str) -> None:
    """Write Markdown; a question mark behind it explains its terms."""
    st.markdown(text, help=explain(text))


def note(text: str) -> None:
    """Write small Markdown; a question mark behind it explains its terms."""
    st.caption(text, help=explain(text))
