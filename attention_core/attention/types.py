"""What explains the numbers of a trace: axes, roles, texts, steps, and the story that holds them together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from string import Template
from typing import Any, Literal, NamedTuple, TypeVar, cast

from torch import Tensor

from attention_core.attention.role import Role as Role
from attention_core.deprecated import renamed_arguments, renamed_attribute
from attention_core.files import read_toml_beside

Rows = slice | Sequence[int] | Tensor
ALL: Rows = slice(None)
NONE: Rows = ()
T = TypeVar("T")


class _Numbers(Sequence[str]):
    """The texts 1 to n, made when they are asked for: a file of a kilobyte may have a hundred million positions."""

    def __init__(self, n: int) -> None:
        self._numbers = range(1, n + 1)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        return list(map(str, self._numbers[index])) if isinstance(index, slice) else str(self._numbers[index])


@renamed_arguments(whole="full_labels")
@dataclass(frozen=True, eq=False)
class Axis:
    """What the rows or columns of a matrix stand for.

    Attributes:
        name: plural noun, such as "pixels", "source words", "dimensions".
        labels: one text per position.
        grid: (rows, columns) when the positions came from a picture, so that charts can draw one; one more position may
            follow, which lies in no picture.
        full_labels: what the labels are where those are shortened, for tables that leave the app; None = the same.
    """

    name: str
    labels: Sequence[str]
    grid: tuple[int, int] | None = None
    full_labels: Sequence[str] | None = None

    whole = renamed_attribute("full_labels")

    def __post_init__(self) -> None:
        if self.grid and len(self.labels) - self.grid[0] * self.grid[1] not in (0, 1):
            raise ValueError(f"grid {self.grid} has {self.grid[0] * self.grid[1]} cells for {len(self.labels)} labels")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def picture_grid(self) -> tuple[int, int]:
        """Its grid; ValueError where the positions came from no picture."""
        if self.grid is None:
            raise ValueError(f"the {self.name} lie in no picture")
        return self.grid

    @staticmethod
    @lru_cache(maxsize=16)
    def numbered(name: str, n: int) -> Axis:
        """Return an axis whose labels are 1 to n, as people count."""
        return Axis(name, _Numbers(n))

    @staticmethod
    @lru_cache(maxsize=16)
    def picture(name: str, height: int, width: int) -> Axis:
        """Return an axis over the cells of a picture in reading order, labelled "row 3, column 17", both from 1."""
        labels = [f"row {row}, column {column}" for row in range(1, height + 1) for column in range(1, width + 1)]
        return Axis(name, labels, (height, width))


Compute = Callable[[int, Rows, Rows], Tensor]  # (head, rows, cols) -> a tile of a matrix
Inputs = Callable[[int], Mapping[str, Any]]
"""head -> tensors, modules and numbers by the names that a line of code has for them."""


class Matrix(NamedTuple):
    """Numbers that those of a step are made of."""

    numbers: Tensor  # (n_rows, n_columns)
    role: Role
    symbol: str = ""


class Origin(NamedTuple):
    """How the numbers of a step come about where no edit changes them.

    The kind says of which matrices:
        "product": of two, a bias may be added to every row.
        "pairs": of two, each row of the first is compared with each column of the second, by something else than a dot
            product.
        "softmax", "mask", "change": of one of the same shape.
        "": not known.
    """

    kind: Literal["product", "pairs", "softmax", "mask", "change", ""] = ""
    matrices: tuple[Matrix, ...] = ()


Origins = Callable[[int], Origin]
"""head -> how its numbers come about; called when somebody looks."""


def always(same: T, head: int) -> T:
    """Return the same for every head; unlike a lambda, `partial(always, named)` as an Inputs can be pickled."""
    return same


NO_ORIGIN: Origins = partial(always, Origin())


def change(numbers: Tensor, role: Role) -> Origins:
    """Return the origin of numbers that are a change of this matrix, in every head."""
    return partial(always, Origin("change", (Matrix(numbers, role),)))


def product(left: tuple[Tensor, Role, str], right: tuple[Tensor, Role, str]) -> Origins:
    """Return the origin of numbers that are the product of two matrices, in every head; left and right as in Matrix."""
    return partial(always, Origin("product", (Matrix(*left), Matrix(*right))))


def _tile(matrix: Tensor, head: int, rows: Rows, cols: Rows) -> Tensor:
    return (matrix if matrix.ndim == 2 else matrix[head])[rows][:, cols]


@dataclass(frozen=True, eq=False)
class Text:
    """What a step says."""

    name: str  # short identifier, unique within a trace, such as "scores"
    title: str  # a heading, such as "Scores"
    symbol: str  # the text on the stepper's chip, such as "QKᵀ"
    formula: str  # LaTeX
    code: str  # the one to three lines of PyTorch that compute it; the last one assigns the step's matrix
    explanation: str  # one to three sentences
    role: Role  # decides the colour

    def filled(self, **blanks: object) -> Text:
        """Return the text with every $blank in formula, code and explanation replaced."""
        names = ("formula", "code", "explanation")
        texts: dict[str, Any] = {name: Template(getattr(self, name)).substitute(blanks) for name in names}
        return replace(self, **texts)

    def step(
        self,
        matrix: Tensor | Compute,
        row_axis: Axis,
        col_axis: Axis | None = None,
        inputs: Inputs | None = None,
        /,
        **named: Any,
    ) -> Step:
        """Return the text with its numbers.

        The matrix is (n_rows, n_cols), or (n_heads, n_rows, n_cols) where it differs from head to head, or a function
        that computes a tile of it. Without a col_axis it must be a tensor, whose columns are numbered dimensions. The
        values of the names in the code are `named`, or computed by `inputs` where that is costly or differs from head
        to head.
        """
        if col_axis is None:
            col_axis = Axis.numbered("dimensions", cast(Tensor, matrix).shape[-1])
        return Step(
            **vars(self),
            row_axis=row_axis,
            col_axis=col_axis,
            compute=partial(_tile, matrix) if isinstance(matrix, Tensor) else matrix,
            inputs=inputs or partial(always, named),
        )


def read_texts(module: str) -> dict[str, Text]:
    """Return what the steps of a module say, from the TOML file beside it; its `__file__` is given."""
    tables = read_toml_beside(module)
    return {key: Text(**{"name": key} | table | {"role": Role(table["role"])}) for key, table in tables.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Step(Text):
    """One thing a person can stop at: a text and its numbers.

    Attributes:
        row_axis: what the rows stand for.
        col_axis: what the columns stand for.
        compute: called when somebody looks.
        inputs: called when somebody wants to run the code.
        origin: how the numbers come about; called when somebody looks.
    """

    row_axis: Axis
    col_axis: Axis
    compute: Compute = field(repr=False)
    inputs: Inputs = field(repr=False)
    origin: Origins = field(default=NO_ORIGIN, repr=False)

    def value(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the step's matrix, or a tile of it, (n_rows, n_cols)."""
        return self.compute(head, rows, cols)

    def names(self, head: int = 0) -> dict[str, Any]:
        """Return the names in the code with their values in a head; a value that earlier code assigned goes first."""
        values = {"head": head, **self.inputs(head)}
        return {name: value for name, value in values.items() if re.search(rf"\b{name}\b", self.code)}

    def with_origin(self, origin: Origins) -> Step:
        return replace(self, origin=origin)

    def origin_of_next(self, kind: Literal["softmax", "mask", "change"], head: int) -> Origin:
        """Return the origin of the next step's numbers, where they are computed from the numbers of this one."""
        return Origin(kind, (Matrix(self.value(head), self.role),))

    changed = renamed_attribute("origin_of_next")

    @property
    def assigns(self) -> str:
        """The name to which the code assigns the step's matrix."""
        return re.split(r" = |\[", self.code.splitlines()[-1])[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_cols) of the whole matrix, known without computing it."""
        return len(self.row_axis), len(self.col_axis)

    @property
    def picture(self) -> tuple[tuple[int, int] | None, bool]:
        """(grid, whether it is that of the columns): of the picture on whose cells rows or columns stand.

        The grid is None where neither do, or rows and columns do.
        """
        rows, columns = self.row_axis.grid, self.col_axis.grid
        return (None if rows and columns else rows or columns), rows is None and columns is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class Story:
    """What the numbers of a trace stand for and how they are explained; none of it changes a number.

    Attributes:
        mechanism: what kind of attention it is, as pages call it, such as "self-attention over pixels".
        query_axis: what the queries stand for.
        key_axis: what the keys stand for.
        value_axis: what the columns of values and context stand for; numbered if None.
        steps_before: steps that lead to query, key and value.
        steps_after: steps that follow the context.
        shows_vectors: whether query, key and value are steps of their own, for traces whose steps_before are not.
        name: which attention of its model this is, such as "decoder.3.cross"; empty where there is only one.
        note: what a reader has to know about where the numbers come from; empty if nothing is unusual.
        crosses: whether queries and keys come from two tensors, as in cross-attention; None = not known.
        are_rotated: whether rotary positions are known to be in queries and keys.
    """

    mechanism: str
    query_axis: Axis
    key_axis: Axis
    value_axis: Axis | None = None
    steps_before: tuple[Step, ...] = ()
    steps_after: tuple[Step, ...] = ()
    shows_vectors: bool = False
    name: str = ""
    note: str = ""
    crosses: bool | None = None
    are_rotated: bool = False


class AttentionOutput(NamedTuple):
    """What `attend` returns.

    Attributes:
        context: (batch, n_heads, n_queries, d_v).
        log_normaliser: (batch, n_heads, n_queries), the log-sum-exp of each row of scores, if the kernel returned it;
            None = it is computed in blocks when it is needed.
        weights: (batch, n_heads, n_queries, n_keys) if they were asked for.
    """

    context: Tensor
    log_normaliser: Tensor | None = None
    weights: Tensor | None = None
