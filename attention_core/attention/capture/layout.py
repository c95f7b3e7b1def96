"""Where the numbers of a tensor lie in its storage: views of it share that, however they are shaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

AxisStrides = tuple[tuple[int, int], ...]
"""(size, stride) of the dimensions that form an axis, outermost first; a stride of 0 repeats the same numbers."""


class Layout(NamedTuple):
    """Shape, strides and offset of a tensor: where its numbers lie in its storage."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, tensor: Tensor) -> Layout:
        return cls(tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))

    def index_at(self, address: int) -> tuple[int, ...] | None:
        """Return the index of the number at an address of the storage; None if the tensor has no number there."""
        remainder, index = address - self.offset, [0] * len(self.shape)
        for dimension in sorted(range(len(self.shape)), key=lambda d: -self.stride[d]):
            if self.stride[dimension] > 0:
                index[dimension] = min(remainder // self.stride[dimension], self.shape[dimension] - 1)
                remainder -= index[dimension] * self.stride[dimension]
        return None if remainder else tuple(index)

    def address(self, index: Sequence[int]) -> int:
        return self.offset + sum(i * stride for i, stride in zip(index, self.stride, strict=True))

    def split(self, size: int, stride: int) -> list[tuple[int, int, int]] | None:
        """Return which dimensions an axis of this size and stride runs through; None if it fits none.

        Returns:
            (size, dimension, step) of each, outermost first: size numbers, every step-th one along the dimension. A
            dimension of -1 repeats one number.
        """
        parts: list[tuple[int, int, int]] = []
        while size > 1 and stride > 0:
            fitting = [d for d, (n, step) in enumerate(zip(self.shape, self.stride, strict=True)) if n > 1 and step > 0]
            fitting = [d for d in fitting if stride % self.stride[d] == 0]
            if not fitting:
                return None
            widest = max(fitting, key=lambda d: self.stride[d])
            step, n = stride // self.stride[widest], self.shape[widest]
            if step * (size - 1) < n:
                return [(size, widest, step), *parts]
            inside = n // step
            if n % step or inside < 2 or size % inside:
                return None
            parts.insert(0, (inside, widest, step))
            size, stride = size // inside, stride * inside
        return [(size, -1, 0), *parts]


class Block(NamedTuple):
    """A part of a storage, such as one head's weights; an axis of it may run through several dimensions."""

    offset: int
    axes: tuple[AxisStrides, ...]

    @classmethod
    def whole(cls, layout: Layout) -> Block:
        return cls(layout.offset, tuple(((n, step),) for n, step in zip(layout.shape, layout.stride, strict=True)))

    def relocate(self, source: Layout, target: Layout) -> Block | None:
        """Return the same elements in another layout of the same shape; None where strides cannot describe them."""
        index = source.index_at(self.offset)
        axes = [[source.split(*part) for part in axis] for axis in self.axes]
        if index is None or any(split is None for axis in axes for split in axis):
            return None
        return Block(
            target.address(index),
            tuple(tuple((n, target.stride[d] * step) for split in axis for n, d, step in split or ()) for axis in axes),
        )

    def of(self, tensor: Tensor) -> Tensor:
        """Return the block as a tensor with one dimension per axis; repeated numbers take no memory."""
        parts = [part for axis in self.axes for part in axis]
        block = tensor.detach().as_strided([n for n, _ in parts], [step for _, step in parts], self.offset)
        return block.reshape([math.prod(n for n, _ in axis) for axis in self.axes])
