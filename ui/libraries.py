"""Imports transformers without what no page needs of it, a compiler, algebra, clusters: 130 MB and two seconds less.

Torch tells its compiler about functions and asks algebra about sizes, although here nothing is compiled and all sizes
are numbers. Stand-ins answer that; when anything else is asked of one, all give place to the real modules.
"""

import sys
from contextlib import nullcontext
from importlib import import_module
from operator import eq
from types import ModuleType
from typing import Any

from attention_core.log import log

WITH_INDEX, INDEX = "torch._dynamo._trace_wrapped_higher_order_op", "TransformGetItemToIndex"
AWAY = ("is_scipy_available", "is_torch_distributed_available")
"""What transformers asks when it is imported."""
NEEDED = ("torch.nn.attention.bias", "transformers.masking_utils", "transformers.models.bert.modeling_bert")
"""They bring what all models of the library share."""


class StandIn(ModuleType):
    """Answers for a module; whatever it is not given is asked of the real one, which is imported for it."""

    def __init__(self, name: str, is_package: bool = False, **given: Any) -> None:
        super().__init__(name)
        self.__dict__.update(given)
        self._is_package = is_package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and not (name == "__path__" and self._is_package):
            raise AttributeError(name)
        for module in [module for module in sys.modules.values() if isinstance(module, StandIn)]:
            del sys.modules[module.__name__]
        self.__dict__.update(vars(import_module(self.__name__)))
        return self.__dict__[name]


def _unmarked(function: Any = None, *_: Any, **__: Any) -> Any:
    return _unmarked if function is None else function


def _stand_ins() -> tuple[StandIn, ...]:
    marks = dict.fromkeys(("allow_in_graph", "assume_constant_result", "disable"), _unmarked)
    sizes = dict.fromkeys(("expect_true", "guard_or_false", "guard_or_true", "guard_size_oblivious"), bool)
    sizes |= {"sym_eq": eq, "is_nested_int": lambda size: False}
    return (
        StandIn("torch._dynamo", is_package=True, **marks, set_stance=lambda *_, **__: nullcontext()),
        StandIn(WITH_INDEX, **{INDEX: lambda: getattr(import_module(WITH_INDEX), INDEX)()}),
        StandIn("torch.fx.experimental.symbolic_shapes", **sizes),
        StandIn("sympy", is_package=True, Basic=type("Basic", (), {})),
    )


def import_transformers() -> None:
    """Import what models of the library share; what an upgrade has moved is imported with all that it brings."""
    if "torch._dynamo" in sys.modules:
        return
    sys.modules |= {module.__name__: module for module in _stand_ins()}
    before: list[tuple[ModuleType, str, Any]] = []
    try:
        for home in map(import_module, ("transformers.utils", "transformers.utils.import_utils")):
            for name in AWAY:
                before.append((home, name, getattr(home, name)))
                setattr(home, name, lambda: False)
        for name in NEEDED:
            import_module(name)
    except (ImportError, AttributeError):
        log.warning("The library transformers takes more memory than it should", exc_info=True)
    finally:
        sys.modules.pop(WITH_INDEX)  # else the real one cannot be imported
        for home, name, was in before:
            setattr(home, name, was)
