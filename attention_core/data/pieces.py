"""The subword vocabulary that all translators share: byte pair encoding over English and French words together.

To make it again: python -m attention_core.data.pieces [--data FOLDER_OR_FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers

from attention_core.files import needed
from attention_core.weights import WeightsError, how_to_get, weights_folder

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

    @classmethod
    def learn(cls, sentences: Iterable[Sequence[str]], size: int = VOCABULARY_SIZE) -> Pieces:
        tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL[UNKNOWN]))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=[AddedToken(token, normalized=False, special=True) for token in SPECIAL],
            limit_alphabet=120,
            show_progress=False,
        )
        tokenizer.train_from_iterator((" ".join(words) for words in sentences), trainer)
        return cls(tokenizer)

    @classmethod
    def load(cls, path: Path | None = None) -> Pieces:
        """Return the committed vocabulary, or that of a file; WeightsError where it is missing or damaged."""
        path = path or weights_folder() / NAME
        with needed(path.name):
            try:
                return cls(Tokenizer.from_str(path.read_text()))
            except FileNotFoundError:
                raise WeightsError(f"No vocabulary {path}. {how_to_get('attention_core.data.pieces')}") from None
            except Exception as error:  # the library raises a bare Exception for a damaged file
                raise WeightsError(f"The vocabulary {path} is damaged ({error}).") from None

    def save(self, path: Path) -> None:
        self._tokenizer.save(str(path), pretty=False)

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def cut(self, words: Sequence[str]) -> Tokenization:
        ids: list[int] = []
        texts: list[str] = []
        word_of: list[int] = []
        for number, word in enumerate(words):
            cut = self._cut_word(word)
            ids += [piece for piece, _ in cut]
            texts += [text for _, text in cut]
            word_of += [number] * len(cut)
        return Tokenization(ids, texts, word_of)

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
def pieces() -> Pieces:
    """Return the committed vocabulary, read once."""
    return Pieces.load()


def main(arguments: list[str] | None = None) -> int:
    """Learn the vocabulary from the training part of the pairs and write it beside the weights."""
    from attention_core.data.mnist import DataError
    from attention_core.data.tatoeba import read_pairs, split_pairs, words_of

    parser = argparse.ArgumentParser(prog="python -m attention_core.data.pieces", description=main.__doc__)
    parser.add_argument("--data", help="folder of the data sets, or a tab-separated file")
    parsed = parser.parse_args(arguments)
    try:
        learned = Pieces.learn(side for pair in words_of(split_pairs(read_pairs(parsed.data)).train) for side in pair)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    learned.save(weights_folder() / NAME)
    print(f"wrote {weights_folder() / NAME}: {len(learned)} pieces")
    return 0


if __name__ == "__main__":
    sys.exit(main())
