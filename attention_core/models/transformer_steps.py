"""The texts of the steps of the transformer's attention."""

from attention_core.attention.types import Role, Text

MECHANISMS = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention, causal",
    "cross": "cross-attention to the source",
}
INPUTS = Text(
    "embedding",
    "Inputs",
    "X",
    r"X = \mathrm{LayerNorm}(\text{layer below})",
    "x = layer_norm(x)",
    "One vector per word, brought to a common size. In the first layer: the word plus its position.",
    Role.INPUT,
)
MERGE = Text(
    "merge",
    "Heads merged",
    "merge",
    r"O = [C^{(1)} ; \dots ; C^{($n)}]\, W_O + b_O",
    "output = torch.cat(contexts, -1) @ W_O + b_O  # of all heads",
    "The contexts of all $n heads are laid end to end and mixed by one matrix; the result is added to what the layer "
    "was given.",
    Role.OUTPUT,
)
