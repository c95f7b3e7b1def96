"""The texts of the steps of the Match3 heads."""

from attention_core.attention.types import Role, Text

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
