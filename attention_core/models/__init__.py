"""The project's trained models.

To add one: a file here with its config, its nn.Module and a call of register(); its recipe in attention_core/train; a
file with its evaluator in attention_core/evaluate if none there reads its kind of data; its test.
No other file lists it. Training it writes its weights and their card.
"""

from attention_core.models.registry import (
    EVALUATORS,
    MODELS,
    attention_at_snapshot,
    build,
    import_modules,
    load,
    register,
)

__all__ = ["EVALUATORS", "MODELS", "attention_at_snapshot", "build", "import_modules", "load", "register"]

import_modules(__name__, __path__)
