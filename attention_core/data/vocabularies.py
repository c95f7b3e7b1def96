"""Make what lies beside the weights again: python -m attention_core.data.vocabularies NAME [--data FOLDER_OR_FILE]."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from attention_core.data import language_pieces, phrase_book, pieces, review_pieces
from attention_core.data.mnist import DataError
from attention_core.data.pieces import SPACE, SPECIAL, UNKNOWN, english_sentences
from attention_core.weights import weights_folder

RARE = 3
N_FREQUENT = 2000  # words whose weights over all reviews are kept
CHAPTERS, PER_CHAPTER = 42, 51
"""Runs of neighbours in the alphabet, at equal distances, and the sentences of each."""
SHORTEST, LONGEST = 3, 14  # words of a sentence of the phrase book
UNKIND = ("dead", "die", "drunk", "fat", "hate", "idiot", "murder", "naked", "stupid", "ugly")


def learn_pieces(sentences: Iterable[Sequence[str]], size: int) -> Tokenizer:
    """Return a vocabulary of byte pairs learned from sentences of words (Sennrich et al. 2016)."""
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL[UNKNOWN]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[AddedToken(token, normalized=False, special=True) for token in SPECIAL],
        limit_alphabet=120,
        show_progress=False,
    )
    tokenizer.train_from_iterator((" ".join(words) for words in sentences), trainer)
    return tokenizer


def learn_bytes(sentences: list[str], size: int) -> Tokenizer:
    """Return a vocabulary of byte pairs that can read any text, learned from sentences as typed."""
    start = language_pieces.START
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[start],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{start} $A", special_tokens=[(start, 0)])
    return tokenizer


def choose_phrases(sentences: list[str]) -> list[str]:
    """Return CHAPTERS runs of neighbours in the alphabet, of sentences that begin with a letter and are not UNKIND."""
    fitting = {one for one in sentences if one[0].isalpha() and SHORTEST <= len(one.split()) <= LONGEST}
    kind = (one for one in fitting if not any(word in one.casefold() for word in UNKIND))
    ordered = sorted(kind, key=str.casefold)
    starts = range(0, len(ordered) - PER_CHAPTER, len(ordered) // CHAPTERS)
    return [sentence for start in starts for sentence in ordered[start : start + PER_CHAPTER]]


def translators(data: str | None) -> dict[str, str]:
    """Return the file of the pieces that all translators share."""
    train = pieces.split_pairs(pieces.read_pairs(data)).train
    learned = learn_pieces((side for pair in pieces.pair_words(train) for side in pair), pieces.VOCABULARY_SIZE)
    return {pieces.NAME: learned.to_str()}


def language(data: str | None) -> dict[str, str]:
    """Return the file of the language models' byte pairs."""
    learned = learn_bytes(english_sentences(data).train, language_pieces.VOCABULARY_SIZE)
    return {language_pieces.PIECES_NAME: learned.to_str()}


def reviews(data: str | None) -> dict[str, str]:
    """Return the files of the judges of sentences: their pieces, and the commonest words and pairs of words."""
    train = review_pieces.split_reviews(review_pieces.read_reviews(data)).train
    sentences = [review_pieces.review_words(review.sentence) for review in train]
    words = Counter(word for sentence in sentences for word in sentence)
    pairs = Counter(pair for sentence in sentences for pair in {" ".join(two) for two in pairwise(sentence)})
    learned = learn_pieces(([SPACE + word for word in sentence] for sentence in sentences), review_pieces.N_PIECES)
    common = [pair for pair, n in _ranked(pairs)[: review_pieces.N_PAIRS] if n >= RARE]
    lists = {"words": dict(_ranked(words)[:N_FREQUENT]), "pairs": common}
    return {
        review_pieces.PIECES_NAME: learned.to_str(),
        review_pieces.WORDS_NAME: json.dumps(lists, ensure_ascii=False, indent=0) + "\n",
    }


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def phrases(data: str | None) -> dict[str, str]:
    """Return the file of the phrase book."""
    return {phrase_book.NAME: "\n".join(choose_phrases(english_sentences(data).train)) + "\n"}


MAKERS = {make.__name__: make for make in (translators, language, reviews, phrases)}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m attention_core.data.vocabularies", description=__doc__)
    parser.add_argument("name", choices=MAKERS)
    parser.add_argument("--data", help="folder of the data sets, or a tab-separated file")
    parsed = parser.parse_args(arguments)
    try:
        files = MAKERS[parsed.name](parsed.data)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, text in files.items():
        (weights_folder() / name).write_text(text, encoding="utf-8")
        print(f"wrote {weights_folder() / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
