"""Attention matrices of any size as a map: exact tiles, and an overview made in one streaming pass."""
