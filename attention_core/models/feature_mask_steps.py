"""The texts of the steps of finding a digit."""

from attention_core.attention.types import Role, Text

FEATURES = Text(
    "key",
    "Features: keys and values",
    "F",
    r"F = \mathrm{CNN}(p), \qquad k_j = v_j = F_j",
    "key = value = cnn(picture[None, None])[0].flatten(1).T",
    "Convolutions turn the picture into $n channels over $rows x $columns regions. A region's features are its key and "
    "its value.",
    Role.KEY,
)
QUERY = Text(
    "query",
    "Query: the weights of a 1 x 1 convolution",
    "q",
    r"q \in \mathbb{R}^{$n} \text{, learned, the same for every picture}",
    "query = q.view(1, -1)  # the weights of the 1 x 1 convolution",
    "Nobody asks a question here: the query is a constant, learned once. A 1 x 1 convolution with these weights is a "
    "dot product with the features of every region.",
    Role.QUERY,
)
OUTPUT = Text(
    "output",
    "Answer",
    "ŷ",
    r"\hat y = \mathrm{softmax}(W_2\, \mathrm{relu}(W_1 c + b_1) + b_2)",
    "probabilities = classify(context).softmax(-1)",
    "A small network reads the digit from the one vector that the mask let through.",
    Role.OUTPUT,
)
