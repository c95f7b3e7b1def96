"""A text that a stranger wrote, made harmless for the place where it is shown; the only place that knows how."""

import re
import unicodedata

from attention_core.bounds import is_hosted

SHOWN = {chr(code): chr(0x2400 + code) for code in range(32)} | {"\n": "\u21b5", "\t": "\u21e5", "\x7f": "\u2421"}
"""Signs for control characters, which would break a line or take no room."""
JOINERS = "\u200c\u200d"  # hidden signs that letters of Persian and parts of emoji need between them
MOST_MARKS = 8  # accents on one letter: the most that any script takes are fewer
MARKDOWN = "\\`*_{}[]()<>#+-.!|~:$&"
IN_SENTENCES = "\\`*[]<>$"  # of these, what makes a link, a picture, a formula or bold type in the middle of a sentence
FOLDERS = re.compile(r"(?<![\w.:/<~-])~?(/[^\s/'\"<>|:;,()]+)+/(?=[^\s/])")  # those before the name of a file
FORMULA = re.compile(r"[=+\-@\t\r].")


def without_folders(text: str) -> str:
    """Return a text in which files have their names but not their places; on an own machine it stays as it is."""
    return FOLDERS.sub("", text) if is_hosted() else text


def visible(text: str) -> str:
    """Return a text of which nothing is hidden: controls as signs, what turns or hides letters as its number.

    Of accents piled on one letter, so many are kept that they stay in their line.
    """
    if text.isascii() and text.isprintable():
        return text
    parts, n_marks = [], 0
    for sign in text:
        kind = unicodedata.category(sign)
        n_marks = n_marks + 1 if kind in ("Mn", "Me") else 0
        if n_marks <= MOST_MARKS:
            parts.append(_shown(sign, kind))
    return "".join(parts)


def _shown(sign: str, kind: str) -> str:
    if sign in SHOWN:
        return SHOWN[sign]
    is_hidden = kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and sign not in JOINERS
    return f"\u27e8{ord(sign):04X}\u27e9" if is_hidden else sign


def as_markdown(text: str, signs: str = MARKDOWN) -> str:
    """Return Markdown that shows a text as it is: no link, picture, formula, list or heading comes of these signs."""
    return "".join(f"\\{sign}" if sign in signs else sign for sign in visible(text))


def as_cell(text: str) -> str:
    """Return a text for a table that a spreadsheet may open: what it would take for a formula begins with '."""
    return f"'{text}" if FORMULA.match(text) and not _is_number(text) else text


def from_cell(text: str) -> str:
    """Return the text of a cell from as_cell."""
    return text[1:] if text.startswith("'") and FORMULA.match(text, 1) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
