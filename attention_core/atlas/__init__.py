"""Attention matrices of any size as a map: exact tiles, and an overview made in one streaming pass."""

from attention_core.atlas.find import search
from attention_core.atlas.matrix import TILE, Atlas, Tile

__all__ = ["TILE", "Atlas", "Tile", "search"]
