"""The texts of the steps of reading a number."""

from attention_core.attention.types import Role, Text

FEATURES = Text(
    "key",
    "Features: keys and values",
    "F",
    r"F_j = \mathrm{CNN}(p)_j + r_{\mathrm{row}(j)} + c_{\mathrm{column}(j)}, \qquad k_j = v_j = F_j",
    "key = value = cnn(picture[None, None])[0].flatten(1).T + place",
    "Convolutions describe every region; a learned vector for its row and one for its column say where it is.",
    Role.KEY,
)
QUERY = Text(
    "query",
    "States before each look: queries",
    "h₍ₜ₋₁₎",
    r"q_t = h_{t-1}",
    "query = states[:-1]  # the start, then the state after each look but the last",
    "The picture stays the same; the state changes with every look. It knows what has been seen, so it asks for what "
    "comes next.",
    Role.QUERY,
)
STATE = Text(
    "state",
    "States after each look",
    "hₜ",
    r"h_t = \mathrm{GRU}(c_t, h_{t-1})",
    "state = gru_cell(context, query)  # the glimpse and the state before it",
    "The glimpse goes into the recurrent state, which will be the next query.",
    Role.CONTEXT,
)
OUTPUT = Text(
    "output",
    "Answers",
    "ŷₜ",
    r"\hat y_t = \mathrm{softmax}(\mathrm{MLP}[c_t; h_t])",
    "probabilities = classify(torch.cat((context, state), -1)).softmax(-1)",
    "After every look: ten digits, or the end, which stops the reading.",
    Role.OUTPUT,
)
