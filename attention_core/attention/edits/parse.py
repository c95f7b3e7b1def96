"""Edits from the JSON of a link: everything is checked, since anybody can write a link."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

from attention_core.attention.edits.edit import EDITS, Edit, EditError, Edits, HeadRef
from attention_core.bounds.limits import (
    EDIT_CELLS,
    EDIT_POSITION,
    MODEL_NAME_LETTERS,
    MODEL_TEXT_LETTERS,
)
from attention_core.bounds.limits import EDITS as MAX_EDITS


def edits_from_json(values: Any) -> Edits:
    """Return the edits from their to_json_value(); EditError = something else, or too many of them."""
    if not isinstance(values, list | tuple) or len(values) > MAX_EDITS.maximum:
        raise EditError(f"a link holds a list of {MAX_EDITS} edits at most")
    return tuple(edit_from_json(value) for value in values)


def edit_from_json(value: Any) -> Edit:
    edit_class = EDITS.get(str(value.get("edit"))) if isinstance(value, dict) else None
    if edit_class is None:
        raise EditError(f"an edit must be one of {', '.join(EDITS)}")
    return _read(edit_class, {name: field_value for name, field_value in value.items() if name != "edit"})


def _read(cls: Any, values: dict[str, Any]) -> Any:
    types = get_type_hints(cls)
    field_types = {field.name: types[field.name] for field in fields(cls) if field.compare}
    noun = getattr(cls, "name", "a head of another run")
    if values.keys() - field_types.keys():
        raise EditError(f"{noun} has {', '.join(field_types)}, got {', '.join(map(str, values))}")
    try:
        return cls(**{name: PARSERS[field_types[name]](value) for name, value in values.items()})
    except (TypeError, OverflowError) as error:
        raise EditError(f"{noun} cannot be read: {error}") from None


def _position(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= EDIT_POSITION.maximum:
        raise EditError(f"a position must be a whole number from 0 to {EDIT_POSITION}")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not -1e30 < value < 1e30:
        raise EditError("a number must be finite")
    return float(value)


def _tuple_of(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def read_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) > EDIT_CELLS.maximum:
            raise EditError(f"an edit has at most {EDIT_CELLS} positions")
        return tuple(map(read, value))

    return read_all


def _pair(value: Any) -> tuple[int, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise EditError("a weight must be given as its key and a number")
    return _position(value[0]), _number(value[1])


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise EditError("yes or no must be true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MODEL_TEXT_LETTERS.maximum:
        raise EditError(f"a text has at most {MODEL_TEXT_LETTERS} letters")
    return value


def _run_head(value: Any) -> HeadRef:
    if not isinstance(value, dict) or len(str(value.get("model"))) > MODEL_NAME_LETTERS.maximum:
        raise EditError("a head of another run must be named by its model and input")
    return _read(HeadRef, value)


PARSERS: dict[Any, Callable[[Any], Any]] = {
    int: _position,
    int | None: lambda value: None if value is None else _position(value),
    float: _number,
    bool: _boolean,
    str: _text,
    tuple[int, ...]: _tuple_of(_position),
    tuple[tuple[int, float], ...]: _tuple_of(_pair),
    HeadRef: _run_head,
}
"""What reads the value of a field, by the type of the field."""
