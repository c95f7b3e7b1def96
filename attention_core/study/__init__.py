"""Study a model: what its heads do over a corpus, what hangs on them, and why they look where they look.

    from attention_core.study import Study
    study = Study(model, tokenizer)  # any model that trace_model takes; nothing is ported
    gap = lambda out: out.logit(" Mary") - out.logit(" John")
    study.patch(clean, corrupt, metric=gap).values  # (n_layers, n_heads)

Layers and heads count from 0. A layer is an attention, in the order in which the model runs them. Inputs are a text for
the tokenizer, or what the model is called with, one item; a metric is a function of a ModelOutput that gives a number.
"""

from attention_core.study.attribution import Attribution, Lens
from attention_core.study.cache import Cache
from attention_core.study.edges import HeadEdges
from attention_core.study.effects import Effects
from attention_core.study.generation import Written
from attention_core.study.heads import Example, HeadComparison, Heads, compare
from attention_core.study.output import ModelOutput
from attention_core.study.study import Study
from attention_core.study.why import Why

__all__ = [
    "Attribution",
    "Cache",
    "Effects",
    "Example",
    "HeadComparison",
    "HeadEdges",
    "Heads",
    "Lens",
    "ModelOutput",
    "Study",
    "Why",
    "Written",
    "compare",
]
