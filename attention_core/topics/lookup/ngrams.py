"""Text as a vector without a dictionary: count its runs of letters, and let a hash decide which number each adds to.

Source: hashing, Weinberger et al. 2009, "Feature hashing for large scale multitask learning", eq. 1 and 2; runs of
letters with word boundaries, Bojanowski et al. 2017, "Enriching word vectors with subword information", section 3.2.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

SIZES = (2, 3)
"""Letters in a run."""
WIDTH = 512
"""Numbers in a vector. Two runs that share one by accident add to the same number, with a sign that is also hashed."""


def plain(text: str) -> str:
    """Return the text in lower case, without accents, its words separated by single spaces."""
    bare = (sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    return " ".join("".join(sign if sign.isalnum() else " " for sign in bare).split())


def ngrams(text: str) -> Counter[str]:
    """Return how often each run of letters occurs; "_" stands for the beginning and the end of a word."""
    marked = [f"_{word}_" for word in plain(text).split()]
    return Counter(
        word[start : start + size] for word in marked for size in SIZES for start in range(len(word) - size + 1)
    )


@lru_cache(maxsize=50_000)
def place_of(run: str, width: int = WIDTH) -> tuple[int, int]:
    """Return the number that a run adds to, 0 to width - 1, and its sign, +1 or -1; the same on every machine."""
    digest = hashlib.blake2b(run.encode(), digest_size=8).digest()
    return int.from_bytes(digest[:4], "little") % width, 1 - 2 * (digest[4] & 1)


def embed(texts: Sequence[str], width: int = WIDTH) -> Tensor:
    """Return one vector of length 1 per text, float64 (n, width); zeros for a text without letters or digits.

    A run that occurs c times adds the square root of c, so that a long text is not all "the" and "and".
    """
    vectors = np.zeros((len(texts), width))  # adds one number at a time much faster than torch
    for row, text in enumerate(texts):
        for run, count in ngrams(text).items():
            column, sign = place_of(run, width)
            vectors[row, column] += sign * count**0.5
    return torch.nn.functional.normalize(torch.from_numpy(vectors), dim=1, eps=1e-12)


def shared_runs(first: str, second: str) -> list[str]:
    """Return the runs that two texts have in common, the longest first: what their cosine rests on."""
    both = ngrams(first).keys() & ngrams(second).keys()
    return sorted(both, key=lambda run: (-len(run), run))
