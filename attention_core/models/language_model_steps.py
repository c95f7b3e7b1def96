"""The texts of the steps of a recurrent language model."""

from attention_core.attention.types import Role, Text

STATES = Text(
    "value",
    "States: values",
    "H",
    r"v_t = h_t = \mathrm{GRU}(x_t, h_{t-1})",
    "value = gru(embedding)[0]  # one state after each piece",
    "A recurrent network reads from left to right. Its states are what can be looked back at.",
    Role.VALUE,
)
QUERY = Text(
    "query",
    "Queries",
    "Q",
    r"q_t = W_Q h_t",
    "query = value @ W_Q",
    "What the state after each piece is looking for.",
    Role.QUERY,
)
KEY = Text(
    "key", "Keys", "K", r"k_t = W_K h_t", "key = value @ W_K", "What each state can be found by later.", Role.KEY
)
MERGED = Text(
    "merged",
    "State and context",
    "h̃ₜ",
    r"\tilde h_t = W_2 \tanh(W_1 [h_t; c_t])",
    "merged = merge(torch.cat((value, context), -1))",
    "What the network knows by itself, and what it has found by looking back.",
    Role.OUTPUT,
)
NEXT = Text(
    "next",
    "Next piece",
    "ŷ",
    r"P = \operatorname{softmax}(\tilde H E^{\top} + b)",
    "probabilities = (merged @ pieces.T + bias).softmax(-1)",
    "Every piece's vector is compared with the result: which piece comes next?",
    Role.OUTPUT,
)
