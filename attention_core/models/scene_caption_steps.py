"""The texts of the steps of describing a drawing."""

from attention_core.attention.types import Role, Text

QUERY = Text(
    "query",
    "Queries: what comes next",
    "q",
    r"q_t = \mathrm{MLP}[h_{t-1}; y_{t-1}]",
    "query = mlp(torch.cat((states[:-1], said), -1))  # said: a vector for each word before",
    "Made of the state before each word and of the word before: what has been told decides where to look next.",
    Role.QUERY,
)
STATE = Text(
    "state",
    "States after each look",
    "hₜ",
    r"h_t = \mathrm{GRU}([y_{t-1}; c_t], h_{t-1})",
    "state = gru_cell(torch.cat((said, context), -1), states[:-1])",
    "The word before and what was seen go into the recurrent state.",
    Role.CONTEXT,
)
OUTPUT = Text(
    "output",
    "Words",
    "ŷₜ",
    r"\hat y_t = \mathrm{softmax}(\mathrm{MLP}[h_t; c_t])",
    "probabilities = say(torch.cat((state, context), -1)).softmax(-1)",
    "After every look a word, or the end; the likeliest is said and fed back. The first looks come before any word.",
    Role.OUTPUT,
)
