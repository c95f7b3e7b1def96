"""What French words mean, and what of an English sentence none of them stands for, by a table of words.

Where the table is missing, nothing is told.
"""

from collections.abc import Sequence

from attention_core.data.word_translations import SHORT, Table, expanded_english_words, gloss, load_table, lost_words
from attention_core.weights import WeightsError

CONTRACTED = {"du": ("of the", "from the"), "des": ("of the", "from the"), "au": ("to the", "at the", "in the")}
CONTRACTED |= {"aux": CONTRACTED["au"], "devant": ("in front of",)}
"""French words that are several English ones, where the sentence has these one after the other."""
FIXED = {"fonctionne": "functions", "a": "has"}  # in the table "works", which a person does in another sense, and "he"


def english_below(french_words: Sequence[str], sentence: str) -> list[str]:
    """Return what stands below each French word of a sentence's translation: what it means in English.

    That is "" below a name or a mark, and below all where the table of words is missing.
    """
    table, padded = _table(), f" {sentence.lower()}"
    meanings = gloss(french_words, sentence, table)
    for at, french in enumerate(french_words if table else ()):
        phrases = (phrase for phrase in CONTRACTED.get(french.lower(), ()) if f" {phrase} " in padded)
        meanings[at] = next(phrases, FIXED.get(french.lower(), meanings[at]))
        if at and french_words[at - 1].lower() == "parce":
            meanings[at] = "that"

    def is_read(french: str, english: str) -> bool:
        return english.lower() != french.lower() or (french.lower() in table and french.isalpha())

    pairs = zip(french_words, meanings, strict=True)
    return [_as_large(english, french) if is_read(french, english) else "" for french, english in pairs]


def _table() -> Table:
    """Return the table of words; {} where it is missing."""
    try:
        return load_table()
    except WeightsError:
        return {}


def _as_large(word: str, other: str) -> str:
    """Return a word with a capital where another one has one."""
    return word[:1].upper() + word[1:] if other[:1].isupper() else word


def english_lost(french_words: Sequence[str], sentence: str) -> list[str]:
    """Return the words of an English sentence that no French word stands for; none where the table is missing."""
    words, table = expanded_english_words(sentence), _table()
    return [words[index] for index in lost_words(french_words, sentence, table)] if table else []


def french_unfounded(french_words: Sequence[str], sentence: str) -> list[int]:
    """Return which French words, from 0, mean nothing that stands in the English sentence; no short or unknown ones."""
    words, table = {word.lower() for word in expanded_english_words(sentence)}, _table()
    meanings = (table.get(word.lower(), {}) if len(word) > SHORT else {} for word in french_words)
    return [index for index, of in enumerate(meanings) if of and not words & {english.lower() for english in of}]


def is_french_word(text: str) -> bool:
    """Return whether a text is no mere piece of a French word: the table has it, or it has no letters."""
    table = _table()
    return not table or not any(map(str.isalpha, text)) or text in table or text.lower() in table
