"""Two heads for Match3, of the same sizes: one scores single numbers, one scores pairs of them."""

import math
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits
from attention_core.attention.key_pairs import distinct_pairs_mask, not_self_mask, pair_axis, pair_products
from attention_core.attention.steps import affine_parameters, projection_origins, projection_steps
from attention_core.attention.trace import Prediction, TracedModel, item_trace
from attention_core.attention.types import Axis, Role, Story, Text, always
from attention_core.data.match3 import MAX_NUMBERS, MIN_NUMBERS, MODULUS
from attention_core.models.registry import register

VECTORS = Text(
    "vectors",
    "Numbers as circles",
    "X",
    r"x \mapsto \left(\cos \tfrac{2\pi f x}{31},\ \sin \tfrac{2\pi f x}{31}\right)_{f = 1, \dots, 15}",
    "x = vectors[numbers + [31]]  # fixed, not learned; 31 is nobody",
    "The numbers lie on a circle of 31 places, here on fifteen such circles at once. Adding is turning.",
    Role.INPUT,
)
PAIRS = Text(
    "pairs",
    "Keys of pairs",
    "K⊙K",
    r"k_{jl} = k_j \odot k_l",
    "value = (value[:, None] * value[None, :]).flatten(0, 1)  # one per pair; keys likewise\n"
    "key = (key[:, None] * key[None, :]).flatten(0, 1)",
    "The keys of two numbers, multiplied element by element, are the key of the pair; the values likewise. One square "
    "per dimension: first number down, second across.",
    Role.KEY,
)
ANSWER = Text(
    "answer",
    "Answer",
    "answer",
    r"P = \operatorname{softmax}(W_2\, g(W_1 [x_i; c_i] + b_1) + b_2)",
    "p = read_out(torch.cat((x[:-1], context), -1)).softmax(-1)",
    "A small network reads each number beside what it received: is there a pair?",
    Role.OUTPUT,
)

N_WAVES = (MODULUS - 1) // 2


@dataclass(frozen=True)
class Match3Config:
    """Sizes of a head for Match3, and whether it scores pairs."""

    pairs: bool  # True = 2-simplicial, a query scores pairs of others; False = it scores single others
    d_k: int = 64  # width of query and keys
    d_v: int = 16  # width of values
    d_hidden: int = 32  # hidden units of the read-out


def residue_vectors() -> Tensor:
    """Return one fixed vector per number and a last one for nobody, (MODULUS + 1, 2 * N_WAVES + 1).

    A number x becomes a point on each of 15 circles, cos and sin of 2 pi f x / 31 for f = 1 to 15, so that adding
    numbers is turning circles.
    """
    angle = torch.arange(MODULUS)[:, None] * torch.arange(1, N_WAVES + 1) * (2 * math.pi / MODULUS)
    numbers = torch.cat((angle.cos(), angle.sin(), torch.zeros(MODULUS, 1)), 1)
    nobody = F.one_hot(torch.tensor([2 * N_WAVES]), 2 * N_WAVES + 1)
    return torch.cat((numbers, nobody.to(numbers)))


def check_numbers(numbers: Tensor) -> None:
    """Refuse what is not int64 (batch, n), n from 3 to 16, of numbers from 0 to 30, with a ValueError."""
    if numbers.ndim != 2 or not MIN_NUMBERS <= numbers.shape[1] <= MAX_NUMBERS:
        sizes = f"n from {MIN_NUMBERS} to {MAX_NUMBERS}"
        raise ValueError(f"numbers must be (batch, n), {sizes}, got {tuple(numbers.shape)}")
    if numbers.numel() and not 0 <= int(numbers.min()) <= int(numbers.max()) < MODULUS:
        low, high = int(numbers.min()), int(numbers.max())
        raise ValueError(f"numbers must be from 0 to {MODULUS - 1}, got {low} to {high}")


class Match3Head(TracedModel):
    """One attention head and a small read-out, for each number of a sequence.

    Both kinds have the same projections to query, key and value. The pairwise head compares a query with the key of
    one other, the 2-simplicial head with the product of the keys of two others. Clift et al. and Roy et al. give the
    two members of a pair projections of their own; here they share one, because a pair of numbers has no order.

    Source: 2-simplicial attention, Clift et al. 2019 and Roy et al. 2025 (see
    attention_core.attention.key_pairs); the task and the token that stands for nobody, Sanford et al. 2023, section 4.
    """

    vectors: Tensor
    input_dtype = torch.int64

    def __init__(self, config: Match3Config) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("vectors", residue_vectors(), persistent=False)
        d_model = self.vectors.shape[1]
        self.query = nn.Linear(d_model, config.d_k)
        self.key = nn.Linear(d_model, config.d_k)
        self.value = nn.Linear(d_model, config.d_v)
        self.read_out = nn.Sequential(
            nn.Linear(d_model + config.d_v, config.d_hidden), nn.GELU(), nn.Linear(config.d_hidden, 2)
        )
        self._start()

    @torch.no_grad()
    def _start(self) -> None:
        """Let every dimension of query and keys begin on one circle, at a random angle.

        Then a product of three is a wave in x + y + z from the first batch on. From ordinary random projections the
        same head had reached 89 % after 3,000 batches.
        """
        dimension = torch.arange(self.config.d_k)
        wave = dimension % N_WAVES
        for linear in (self.query, self.key):
            angle = 2 * math.pi * torch.rand(self.config.d_k)
            linear.weight.zero_()
            linear.bias.zero_()
            linear.weight[dimension, wave] = angle.cos()
            linear.weight[dimension, N_WAVES + wave] = angle.sin()

    def forward(self, numbers: Tensor, *, edits: Edits = (), trace: bool = False) -> Prediction:
        """Answer, for every number, whether a pair of others sums with it to 0 modulo 31: logits (batch, n, 2).

        The numbers are int64 (batch, n), 0 to 30, n from 3 to 16.
        """
        check_numbers(numbers)
        n = numbers.shape[1]
        everyone = F.pad(self.vectors[numbers], (0, 0, 0, 1))
        everyone[:, n] = self.vectors[MODULUS]
        guests = everyone[:, :n]
        query = self.query(guests)[:, None]
        single = self.key(everyone)[:, None], self.value(everyone)[:, None]
        key, value = (pair_products(tensor, tensor) for tensor in single) if self.config.pairs else single
        mask = self.allowed(n).to(numbers.device).flatten(1)[None]
        attended = attend(query, key, value, mask=mask, edits=edits)
        logits = self.read_out(torch.cat((guests, attended.context[:, 0]), -1))
        if not trace:
            return Prediction(logits)
        vectors = tuple(tensor[0, 0] for tensor in (query, *single))
        story = self._story(numbers[0].tolist(), everyone[0], vectors, logits[0])
        return Prediction(logits, (item_trace(query, key, value, attended, story, mask=mask, edits=edits),))

    def allowed(self, n: int) -> Tensor:
        """Return what each of n numbers may look at, (n, n + 1), or pairs of it, (n, n + 1, n + 1); nobody is last."""
        return distinct_pairs_mask(n, with_nobody=True) if self.config.pairs else not_self_mask(n, 1)

    def _story(self, numbers: list[int], everyone: Tensor, vectors: tuple[Tensor, ...], logits: Tensor) -> Story:
        words = [str(number) for number in numbers]
        queries, single = Axis("numbers", words), Axis("others", [*words, "nobody"])
        circles = [f"{function} {wave}" for function in ("cos", "sin") for wave in range(1, N_WAVES + 1)]
        named = affine_parameters(Q=self.query, K=self.key, V=self.value)
        before = (
            VECTORS.step(
                everyone, single, Axis("cosines and sines", [*circles, "nobody"]), vectors=self.vectors, numbers=numbers
            ),
            *projection_steps(
                vectors,
                (queries, single, single),
                code="$name = $x @ W_$letter + b_$letter",
                explanation="A learned projection of each number: what it $meaning.",
                inputs=partial(always, named),
                origins=projection_origins((everyone[:-1], everyone, everyone), named),
                x=("x[:-1]", "x", "x"),
            ),
        )
        return Story(
            mechanism="2-simplicial attention over numbers" if self.config.pairs else "attention over numbers",
            query_axis=queries,
            key_axis=pair_axis(single) if self.config.pairs else single,
            steps_before=(*before, PAIRS.step(pair_products(vectors[1], vectors[1]), pair_axis(single)))
            if self.config.pairs
            else before,
            steps_after=(
                ANSWER.step(
                    logits.softmax(-1), queries, Axis("answers", ["no pair", "a pair"]), read_out=self.read_out
                ),
            ),
        )


register("match3-pairwise", "classification:evaluate_match3", Match3Head, Match3Config(pairs=False))
register("match3-simplicial", "classification:evaluate_match3", Match3Head, Match3Config(pairs=True))
