"""The texts of the steps of judging a sentence."""

from dataclasses import replace

from attention_core.attention.types import Role, Text
from attention_core.data.review_pieces import NEGATED

MECHANISMS = {
    "attention": "additive attention with one learned query",
    "mean": "plain average of the encoder's states",
    "two-phase": "frozen attention over a second network's words",
}
EMBEDDING = Text(
    "embedding",
    "Words as vectors",
    "X",
    r"x_j = t_j \odot \Big(\sum_{p \,\in\, \text{pieces of word } j} E[p] \; + \; E[\text{pair}_{j-1,\,j}]\Big)",
    f"embedded = table(pieces[:, :-1]).sum(-2) * torch.where(pieces[:, -1:] == {NEGATED}, turn, 1)",
    "Each word has a learned vector; a rare word is the sum of its pieces. A common pair such as “not bad” adds one. "
    "After a word like “not”, the vector is multiplied by learned numbers t, most of them below 0: it is turned round.",
    Role.INPUT,
)
STATES = Text(
    "key",
    "Encoder states: keys and values",
    "H",
    r"h_j = [\overrightarrow{h}_j ; \overleftarrow{h}_j], \qquad "
    r"\overrightarrow{h}_j = \mathrm{GRU}(x_j, \overrightarrow{h}_{j-1})",
    "$assigned = encoder(embedded)[0]",
    "A recurrent network reads forwards and backwards; its two states at a word, end to end, are that word's $part. "
    "They know the neighbours: “bad” after “not” is a different state from “bad” alone.",
    Role.KEY,
)
KEYS = replace(STATES, title="Encoder states: keys").filled(assigned="key", part="key")
KEYS_AND_VALUES = STATES.filled(assigned="key = value", part="key and value")
VALUES = Text(
    "value",
    "The second network's words: values",
    "V",
    r"v_j = \tanh(W x_j + b)",
    "value = torch.tanh(read(embedded))",
    "A second network reads one word's vector at a time, blind to the rest of the sentence.",
    Role.VALUE,
)
QUERY = Text(
    "query",
    "The learned query",
    "q",
    r"q \in \mathbb{R}^{$width} \quad \text{learned, the same for every sentence}",
    "query = q.view(1, -1)  # a parameter, like any weight matrix",
    "Nobody in the sentence asks. The query is a constant that was learned together with everything else; it amounts "
    "to the question “what here tells praise from blame?”.",
    Role.QUERY,
)
ANSWER = Text(
    "answer",
    "Answer",
    "softmax Wc",
    r"p = \mathrm{softmax}(W c + b)",
    "probabilities = answer(context).softmax(-1)",
    "The mixed vector, and nothing else of the sentence, decides between negative and positive.",
    Role.OUTPUT,
)
