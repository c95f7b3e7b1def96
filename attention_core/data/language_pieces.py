"""The language model's vocabulary: byte pairs of English sentences, so that any text can be read.

To make it again: python -m attention_core.data.language_pieces
"""

import sys
from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from attention_core.files import needed
from attention_core.weights import WeightsError, recovery_hint, weights_folder

NAME = "tatoeba-llama"
VOCABULARY_SIZE = 4000
WINDOW = 128
"""Pieces that the model was trained on at once, and the most that it reads."""
START = "<start>"


@lru_cache(maxsize=1)
@needed(f"{NAME}-pieces")
def pieces() -> Tokenizer:
    """Return the committed vocabulary; WeightsError where its file is missing or damaged."""
    path = weights_folder() / f"{NAME}-pieces.json"
    try:
        return Tokenizer.from_str(path.read_text())
    except FileNotFoundError:
        raise WeightsError(f"No vocabulary {path}. {recovery_hint()}") from None
    except Exception as error:  # the library raises a bare Exception for a damaged file
        raise WeightsError(f"The vocabulary {path} is damaged ({error}).") from None


def tokenizer() -> Any:
    """Return the vocabulary as a tokenizer of the transformers library; every text begins with START."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=pieces(), bos_token=START, model_max_length=WINDOW)


def learn_pieces(sentences: list[str]) -> Tokenizer:
    """Return a vocabulary of VOCABULARY_SIZE byte pairs learned from sentences (Sennrich et al. 2016)."""
    learned = Tokenizer(models.BPE())
    learned.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    learned.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[START],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learned.train_from_iterator(sentences, trainer)
    learned.post_processor = processors.TemplateProcessing(single=f"{START} $A", special_tokens=[(START, 0)])
    return learned


def main() -> int:
    from attention_core.data.pieces import english_sentences

    path = weights_folder() / f"{NAME}-pieces.json"
    learn_pieces(english_sentences().train).save(str(path), pretty=False)
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
