"""Sentences to words and back. A word that follows a space begins with the mark ▁, so that joining loses nothing."""

import re
import unicodedata

SPACE = "▁"
MOST_WORDS = 40
"""Words of a sentence that are read; what lies beyond stays in the person's box."""

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "—": "-"})
_ENGLISH = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|m|re|ve|ll|d)\b|-?\w+|[^\w\s]")
_FRENCH = re.compile(r"aujourd'hui|-?\w+'?|[^\w\s]", re.IGNORECASE)
_BEFORE_FRENCH_MARKS = re.compile(r"\s*([?!;:])")


def normalise(text: str) -> str:
    """Return the text with straight quotes, plain spaces, composed letters (Unicode NFKC) and nothing invisible."""
    straight = unicodedata.normalize("NFKC", text).translate(_STRAIGHT)
    visible = "".join(" " if sign.isspace() else sign for sign in straight if sign.isspace() or not _is_hidden(sign))
    return " ".join(visible.split())


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs")


def english_words(sentence: str) -> list[str]:
    """Return the words of an English sentence as it was typed: "Don't go!" -> ["▁Do", "n't", "▁go", "!"]."""
    return _cut(normalise(sentence), _ENGLISH)


def french_words(sentence: str) -> list[str]:
    """Return the words of a French sentence: "Je l'aime !" -> ["▁Je", "▁l'", "aime", "▁!"]."""
    return _cut(_BEFORE_FRENCH_MARKS.sub(r" \1", normalise(sentence)), _FRENCH)


def french_spans(text: str) -> list[tuple[int, int]]:
    """Return where the words of a French text begin and end, counted in characters from 0."""
    return [match.span() for match in _FRENCH.finditer(text)]


def join_words(words: list[str]) -> str:
    """Return the sentence that the words were cut from; its first letter becomes a capital."""
    sentence = "".join(words).replace(SPACE, " ").strip()
    return sentence[:1].upper() + sentence[1:]


def bare(word: str) -> str:
    """Return a word without the mark of the space before it, for people to read."""
    return word.removeprefix(SPACE)


def _cut(text: str, pattern: re.Pattern[str]) -> list[str]:
    return [
        (SPACE if match.start() == 0 or text[match.start() - 1] == " " else "") + match.group()
        for match in pattern.finditer(text)
    ]
