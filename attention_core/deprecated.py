"""Keeps a renamed public name for one version: the old one still works, with a DeprecationWarning that says the new."""

import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that something has a new name; by default at the line that called the caller of this function."""
    message = f"{old} is called {new} now; the old name is gone in the next version"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


def renamed_arguments(**new_names: str) -> Callable[[T], T]:
    """Let a function, or the constructor of a class, take keyword arguments by their old names too.

    `@renamed_arguments(wanted="name")` hands on `wanted=` as `name=`. A TypeError where both are given.
    """

    def decorate(function: T) -> T:
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)  # type: ignore[misc]
            return function

        @wraps(function)
        def accepting_old_names(*args: Any, **kwargs: Any) -> Any:
            for old in new_names.keys() & kwargs.keys():
                new = new_names[old]
                if new in kwargs:
                    raise TypeError(f"{function.__qualname__}() got both {new} and its old name {old}")
                warn_renamed(f"the argument {old}", new)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return accepting_old_names  # type: ignore[return-value]

    return decorate


class renamed_attribute:
    """The old name of an attribute or a method: `whole = renamed_attribute("full_labels")` in the class."""

    def __init__(self, new: str) -> None:
        self._new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self._old = name

    def __get__(self, instance: Any, owner: type) -> Any:
        warn_renamed(f"{owner.__name__}.{self._old}", self._new)
        return getattr(owner if instance is None else instance, self._new)


def renamed_names(module: str, **new_names: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module that still has the old names of its functions, classes and constants.

    `__getattr__ = renamed_names(__name__, RunHead="HeadRef")`
    """

    def __getattr__(name: str) -> Any:
        if name not in new_names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_renamed(f"{module}.{name}", new_names[name])
        return getattr(sys.modules[module], new_names[name])

    return __getattr__
