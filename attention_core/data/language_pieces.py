"""The language models' vocabulary: byte pairs of English sentences, so that any text can be read."""

from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer

from attention_core.data.pieces import read_tokenizer

NAME = "tatoeba-llama"
PIECES_NAME = f"{NAME}-pieces.json"
VOCABULARY_SIZE = 4000
WINDOW = 128
"""Pieces that the model was trained on at once, and the most that it reads."""
START = "<start>"


@lru_cache(maxsize=1)
def pieces() -> Tokenizer:
    """Return the committed vocabulary; WeightsError where its file is missing or damaged."""
    return read_tokenizer(PIECES_NAME)


def tokenizer() -> Any:
    """Return the vocabulary as a tokenizer of the transformers library; every text begins with START."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=pieces(), bos_token=START, model_max_length=WINDOW)
