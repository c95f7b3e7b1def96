"""Texts of strangers, made harmless for the place where they are shown; nothing else knows how."""

import re
import unicodedata

from attention_core.bounds.limits import is_hosted

SIGNS = {chr(code): chr(0x2400 + code) for code in range(32)} | {"\n": "\u21b5", "\t": "\u21e5", "\x7f": "\u2421"}
"""Signs for control characters, which would break a line or take no room."""
JOINERS = "\u200c\u200d"  # hidden signs that letters of Persian and parts of emoji need between them
MAX_MARKS = 8  # accents on one letter: the most that any script takes are fewer
MARKDOWN = "\\`*_{}[]()<>#+-.!|~:$&"
IN_SENTENCES = "\\`*[]<>$"  # of these, what makes a link, a picture, a formula or bold type in the middle of a sentence
FOLDERS = re.compile(r"(?<![\w.:/<~-])~?(/[^\s/'\"<>|:;,()]+)+/(?=[^\s/])")  # those before the name of a file
ADDRESS, UNBREAKABLE = re.compile(r"https?(?=:)|www(?=\.)|(?<=[\w.+-])@(?=\w)", re.IGNORECASE), "\u2060"
"""How a bare address begins, or goes on, and an invisible sign with which it is none."""
FORMULA = re.compile(r"[=+\-@\t\r].")


def strip_folders(text: str) -> str:
    """Return a text in which files have their names but not their places; on an own machine it stays as it is."""
    return FOLDERS.sub("", text) if is_hosted() else text


def escape_hidden(text: str) -> str:
    """Return a text with all characters visible: controls as signs, those that reverse or hide letters as numbers.

    Of accents piled on one letter, so many are kept that they stay in their line.
    """
    if text.isascii() and text.isprintable():
        return text
    signs, n_marks = [], 0
    for sign in text:
        category = unicodedata.category(sign)
        n_marks = n_marks + 1 if category in ("Mn", "Me") else 0
        is_hidden = category in ("Cc", "Cf", "Cs", "Zl", "Zp") and sign not in JOINERS
        if n_marks <= MAX_MARKS:
            signs.append(SIGNS.get(sign, f"\u27e8{ord(sign):04X}\u27e9" if is_hidden else sign))
    return "".join(signs)


def as_markdown(text: str, signs: str = MARKDOWN) -> str:
    """Return Markdown that shows a text as it is: no link, picture, formula, list or heading comes of these signs.

    Nor comes a link of a bare address, which browsers' Markdown makes also of escaped signs.
    """
    text = ADDRESS.sub(rf"\g<0>{UNBREAKABLE}", escape_hidden(text))
    return "".join(f"\\{sign}" if sign in signs else sign for sign in text)


def as_cell(text: str) -> str:
    """Return a text for a table that a spreadsheet may open: what it would take for a formula begins with '."""
    try:
        float(text)
    except ValueError:
        return f"'{text}" if FORMULA.match(text) else text
    return text
