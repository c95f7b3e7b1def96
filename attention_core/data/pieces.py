"""English and French sentences: pairs of them, their words, and the subword pieces that all translators share.

A word that follows a space begins with the mark ▁, so that joining loses nothing. Pieces are byte pairs over English
and French words together.

Source: sentence pairs of tatoeba.org, selected by manythings.org/anki, CC-BY 2.0.
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from tokenizers import Tokenizer

from attention_core.data.mnist import DataError, read_text
from attention_core.files import note_missing
from attention_core.weights import WeightsError, read_beside

SPACE = "▁"
MAX_WORDS = 40
"""Words of a sentence that are read; what lies beyond stays in the person's box."""

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "—": "-"})
_ENGLISH = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|m|re|ve|ll|d)\b|-?\w+|[^\w\s]")
_FRENCH = re.compile(r"aujourd'hui|-?\w+'?|[^\w\s]", re.IGNORECASE)
_BEFORE_FRENCH_MARKS = re.compile(r"\s*([?!;:])")


def normalise(text: str) -> str:
    """Return the text with straight quotes, plain spaces, composed letters (Unicode NFKC) and nothing invisible."""
    straight = unicodedata.normalize("NFKC", text).translate(_STRAIGHT)
    visible = (sign for sign in straight if sign.isspace() or unicodedata.category(sign) not in ("Cc", "Cf", "Cs"))
    return " ".join("".join(visible).split())


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


def strip_space_mark(word: str) -> str:
    """Return a word without the mark of the space before it, for people to read."""
    return word.removeprefix(SPACE)


def _cut(text: str, pattern: re.Pattern[str]) -> list[str]:
    return [
        (SPACE if match.start() == 0 or text[match.start() - 1] == " " else "") + match.group()
        for match in pattern.finditer(text)
    ]


VOCABULARY_SIZE = 8000
PAD, UNKNOWN, START, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
NAME = "translator-pieces.json"


class Tokenization(NamedTuple):
    """Words cut into pieces."""

    ids: list[int]  # one number per piece
    texts: list[str]  # the pieces themselves; for a piece that the vocabulary does not have, what was typed
    word_of: list[int]  # which word each piece belongs to, from 0


class Pieces:
    """Cuts words into pieces and joins pieces to words. Source: byte pair encoding, Sennrich et al. 2016."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def cut(self, words: Sequence[str]) -> Tokenization:
        cut = [(*piece, number) for number, word in enumerate(words) for piece in self._cut_word(word)]
        return Tokenization([piece for piece, _, _ in cut], [text for _, text, _ in cut], [word for _, _, word in cut])

    @lru_cache(maxsize=100_000)  # noqa: B019  one vocabulary lives as long as the process
    def _cut_word(self, word: str) -> tuple[tuple[int, str], ...]:
        encoding = self._tokenizer.encode(word)
        return tuple(
            (piece, word[first:last] if piece == UNKNOWN else token)
            for piece, token, (first, last) in zip(encoding.ids, encoding.tokens, encoding.offsets, strict=True)
        )

    def text(self, piece: int) -> str:
        """Return a piece as text, such as "▁rou" or "</s>"."""
        return self._tokenizer.id_to_token(piece) or SPECIAL[UNKNOWN]


@lru_cache(maxsize=1)
def load_vocabulary() -> Pieces:
    """Return the committed vocabulary, read once."""
    return Pieces(read_tokenizer(NAME))


def read_tokenizer(name: str) -> Tokenizer:
    """Return a vocabulary that lies beside the weights; WeightsError where it is missing or damaged."""
    with note_missing(name):
        text = read_beside("vocabulary", name)
        try:
            return Tokenizer.from_str(text)
        except Exception as error:  # the library raises a bare Exception for a damaged file
            raise WeightsError(f"The vocabulary {name} is damaged ({error}).") from None


RELATIVE_PATH = Path("tatoeba") / "eng-fra.tsv.gz"
SHORTEST, LONGEST = 3, 20  # words of the English sentences in the development and test parts
HELD_OUT_PER_LENGTH = 30
HELD_OUT_SHARE = 0.12
"""Of each length, this many English sentences go to each part, but never more than this share of what there is."""

Pair = tuple[str, str]
Item = TypeVar("Item")


class PairSplit(NamedTuple, Generic[Item]):
    """Pairs, or sentences, in three parts; no English sentence is in two of them."""

    train: list[Item]
    development: list[Item]
    test: list[Item]


def read_pairs(data: str | Path | None = None) -> list[Pair]:
    """Return (English, French) pairs, the first two columns of a tab-separated file; for `data` see read_text.

    DataError where it cannot be read, or a line has no tab.
    """
    path, text = read_text(
        data,
        RELATIVE_PATH,
        "No sentence pairs at {}. Download fra-eng.zip from manythings.org/anki, unpack it, and give the file with "
        "--data; every line is English, tab, French.",
    )
    return [_pair(line, number, path) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _pair(line: str, number: int, path: Path) -> Pair:
    columns = line.split("\t")
    if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
        raise DataError(f"{path}, line {number}: expected English, tab, French, got {line[:60]!r}")
    return columns[0].strip(), columns[1].strip()


def split_pairs(pairs: list[Pair]) -> PairSplit[Pair]:
    """Split pairs by their English sentence, the held-out parts with as many of each length as there are.

    Which part a sentence belongs to depends on the sentence alone (its SHA-256), not on its place in the file.
    """
    by_length: dict[int, list[str]] = defaultdict(list)
    for sentence in sorted(
        {english.lower() for english, _ in pairs}, key=lambda sentence: hashlib.sha256(sentence.encode()).digest()
    ):
        by_length[len(sentence.split())].append(sentence)
    development: set[str] = set()
    test: set[str] = set()
    for length in range(SHORTEST, LONGEST + 1):
        n = min(HELD_OUT_PER_LENGTH, int(HELD_OUT_SHARE * len(by_length[length])))
        development.update(by_length[length][:n])
        test.update(by_length[length][n : 2 * n])
    return PairSplit(
        [pair for pair in pairs if pair[0].lower() not in development and pair[0].lower() not in test],
        [pair for pair in pairs if pair[0].lower() in development],
        [pair for pair in pairs if pair[0].lower() in test],
    )


def pair_words(pairs: list[Pair]) -> list[tuple[list[str], list[str]]]:
    """Return (English words in lower case, French words with capitals only where a word always has one)."""
    english = [[word.lower() for word in english_words(pair[0])] for pair in pairs]
    french = [french_words(pair[1]) for pair in pairs]
    inside: dict[str, Counter[str]] = defaultdict(Counter)
    for words in french:
        for word in words[1:]:
            inside[strip_space_mark(word).lower()][word] += 1
    usual = {lower: strip_space_mark(forms.most_common(1)[0][0]) for lower, forms in inside.items()}
    for words in french:
        if words:
            first = strip_space_mark(words[0]).lower()
            words[0] = words[0][: len(words[0]) - len(first)] + usual.get(first, first)
    return [(source, target) for source, target in zip(english, french, strict=True) if source and target]


def english_sentences(data: str | Path | None = None) -> PairSplit[str]:
    """Return the English sides of the pairs, as typed, in the order of the file; for `data` see read_text."""
    return PairSplit(
        *(
            list(dict.fromkeys(english for english, _ in pairs_of_split))
            for pairs_of_split in split_pairs(read_pairs(data))
        )
    )
