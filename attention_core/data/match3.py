"""Match3: does some pair of other numbers sum with mine to 0 modulo m? A task whose answer needs three at once.

Source: Sanford, Hsu and Telgarsky 2023, "Representational strengths and limitations of transformers", section 4.
There a number may be counted twice; here the two others are different positions, and neither is the asker's.
"""

import re
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.arrays import read_npz
from attention_core.attention.key_pairs import distinct_pairs_mask
from attention_core.data.mnist import DataError

MODULUS = 31
N_NUMBERS = 8
"""With 31 and 8 numbers about half of the positions have a pair: 1 - (30/31)^21 = 0.498."""
MIN_NUMBERS, MAX_NUMBERS = 3, 16
"""Numbers that one sequence may have."""

FIRST_NUMBERS = (1, 7, 16, 17, 11, 8, 24, 5)
"""An example: 7 + 16 + 8 = 31, so that these three have a pair."""


class Sequences(NamedTuple):
    numbers: Tensor  # int64 (n, n_numbers), 0 to MODULUS - 1
    labels: Tensor  # bool (n, n_numbers)


def draw_sequences(n: int, generator: torch.Generator) -> Tensor:
    """Return n random sequences, int64 (n, N_NUMBERS), each number uniform in 0 to MODULUS - 1."""
    return torch.randint(MODULUS, (n, N_NUMBERS), generator=generator, device=generator.device)


def fresh_sequences(n: int, seed: int) -> Sequences:
    """Return n random sequences with their labels; the same seed gives the same ones."""
    numbers = draw_sequences(n, torch.Generator().manual_seed(seed))
    return Sequences(numbers, labels_of(numbers))


def labels_of(numbers: Tensor) -> Tensor:
    """Return per number whether some pair of others sums with it to 0 modulo MODULUS, bool (batch, n)."""
    sums = numbers[:, :, None, None] + numbers[:, None, :, None] + numbers[:, None, None, :]
    allowed = distinct_pairs_mask(numbers.shape[1]).to(numbers.device)
    return ((sums % MODULUS == 0) & allowed).flatten(2).any(2)


def matching_pairs(numbers: list[int], position: int) -> list[tuple[int, int]]:
    """Return the pairs of other positions (j, k), j < k, whose numbers sum with this one to 0 modulo MODULUS."""
    positions = [other for other in range(len(numbers)) if other != position]
    return [
        (j, k) for j, k in combinations(positions, 2) if (numbers[position] + numbers[j] + numbers[k]) % MODULUS == 0
    ]


class ParsedSequence(NamedTuple):
    numbers: list[int]  # those to compute with, 0 to MODULUS - 1; empty when nothing can be computed
    remark: str = ""  # what a person should know, or ""


def read_numbers(text: str) -> ParsedSequence:
    """Understand numbers separated by anything that is no digit; never raises.

    Numbers beyond MODULUS - 1 are taken modulo MODULUS, more than MAX_NUMBERS are cut off; the remark says so.
    """
    if strange := re.search(r"\d+[.]\d+|[^\d\s,;+|()\[\]-]+", text):
        shortened = strange.group()[:20]
        return ParsedSequence(
            [], f"“{shortened}” is not a whole number. Type numbers from 0 to {MODULUS - 1}, with spaces between."
        )
    texts = [digits[:9] for digits in re.findall(r"-?\d+", text[:1000])]
    if len(texts) < MIN_NUMBERS:
        are = "is" if len(texts) == 1 else "are"
        return ParsedSequence([], f"A triple needs at least {MIN_NUMBERS} numbers; there {are} {len(texts) or 'none'}.")
    integers = [int(digits) for digits in texts[:MAX_NUMBERS]]
    numbers = [number % MODULUS for number in integers]
    remarks = []
    if len(texts) > MAX_NUMBERS:
        remarks.append(f"The first {MAX_NUMBERS} of {len(texts)} numbers are used.")
    if numbers != integers:
        changed = ", ".join(f"{a} → {b}" for a, b in zip(integers, numbers, strict=True) if a != b)
        remarks.append(f"Taken modulo {MODULUS}: {changed}.")
    if len(numbers) != N_NUMBERS:
        remarks.append(f"The heads were trained on {N_NUMBERS} numbers at a time; these are "
                       f"{len(numbers)}: {', '.join(map(str, numbers))}.")  # fmt: skip
    return ParsedSequence(numbers, " ".join(remarks))


def read_sequences(path: str | Path) -> Sequences:
    """Read an .npz with `numbers` (n, n_numbers), whole, 0 to 30, and optionally `labels` of the same shape, 0 or 1.

    Labels that are not there are computed; DataError for a file that is missing or not of that form.
    """
    arrays = read_npz(path, optional=("numbers", "labels"), fault=DataError)
    if "numbers" not in arrays:
        raise DataError(f"{path} needs `numbers` (N, n), whole numbers from 0 to {MODULUS - 1}.")
    numbers = arrays["numbers"]
    if numbers.ndim != 2 or not MIN_NUMBERS <= numbers.shape[1] <= MAX_NUMBERS or not len(numbers):
        raise DataError(
            f"{path}: numbers must be (N, n), N >= 1, n from {MIN_NUMBERS} to {MAX_NUMBERS}, got {numbers.shape}."
        )
    if not np.issubdtype(numbers.dtype, np.integer) or numbers.min() < 0 or numbers.max() >= MODULUS:
        raise DataError(f"{path}: numbers must be whole and from 0 to {MODULUS - 1}.")
    tokens = torch.from_numpy(numbers.astype(np.int64))
    if "labels" not in arrays:
        return Sequences(tokens, labels_of(tokens))
    labels = arrays["labels"]
    if labels.shape != numbers.shape or not np.isin(labels, (0, 1)).all():
        raise DataError(f"{path}: labels must be 0 or 1, {numbers.shape} as the numbers are, got {labels.shape}.")
    return Sequences(tokens, torch.from_numpy(labels.astype(bool)))
