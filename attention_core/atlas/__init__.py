"""Attention matrices of any size as a map: exact tiles, and an overview made in one streaming pass."""

from attention_core.atlas.matrix import TILE, Atlas, search
from attention_core.atlas.tensors import FileError, FileKind, Tensors, detect_file_kind, read_tensors, trace_of_tensors

__all__ = [
    "TILE",
    "Atlas",
    "FileError",
    "FileKind",
    "Tensors",
    "detect_file_kind",
    "read_tensors",
    "search",
    "trace_of_tensors",
]
