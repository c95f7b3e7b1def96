"""The texts of the steps of a recurrent translator."""

from dataclasses import replace

from attention_core.attention.types import Role, Text

MECHANISMS = {
    "none": "one fixed vector, no attention",
    "mean": "plain average of the encoder's states",
    "dot": "dot attention over source words",
    "general": "general attention over source words",
    "additive": "additive attention over source words",
}
EMBEDDING = Text(
    "embedding",
    "Source words as vectors",
    "X",
    r"x_j = E[\text{piece}_j]",
    "embedded = embedding(source)",
    "Every piece of the source sentence is looked up in a table of learned vectors.",
    Role.INPUT,
)
STATES = Text(
    "key",
    "Encoder states: keys and values",
    "H",
    r"h_j = [\overrightarrow{h}_j ; \overleftarrow{h}_j], \qquad "
    r"\overrightarrow{h}_j = \mathrm{GRU}(x_j, \overrightarrow{h}_{j-1})",
    "key = value = encoder(embedded)[0]",
    "The encoder reads forwards and backwards; its two states at a word, end to end, are that word's key and value. "
    "They know what stands before and after it.",
    Role.KEY,
)
LAST_STATE = replace(
    STATES,
    formula=r"c = [\overrightarrow{h}_n ; \overleftarrow{h}_1]",
    code="key = value = encoder(embedded)[1].view(1, -1)",
    explanation="The encoder reads the sentence forwards and backwards and hands over only where the two readings "
    "ended: one vector for the whole sentence, however long it is.",
)
QUERY = Text(
    "query",
    "Decoder states: queries",
    "S",
    r"s_t = \mathrm{GRU}(y_{t-1}, s_{t-1})",
    "query = decoder(embedding(words_so_far), start)[0]",
    "The decoder's state after the words so far asks: what do I need for the next word?",
    Role.QUERY,
)
READ_OUT = Text(
    "read_out",
    "State and context together",
    "tanh W[s;c]",
    r"r_t = \tanh(W\,[s_t ; c_t])",
    "features = torch.tanh(read_out(torch.cat((query, context), -1)))",
    "What has been said (the state) and what was found in the source (the context) become one vector.",
    Role.OUTPUT,
)
OUTPUT = Text(
    "output",
    "Output distribution",
    "softmax rEᵀ",
    r"p(y_t) = \mathrm{softmax}(E\, r_t + b)",
    "probabilities = (features @ embedding.weight.T + bias).softmax(-1)[:, likely]  # of all pieces, those shown",
    "The vector is compared with those of all 8,000 pieces; shown are the pieces that score highest.",
    Role.OUTPUT,
)
