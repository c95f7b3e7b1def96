"""The roles of matrices, apart from what needs torch."""

from enum import StrEnum


class Role(StrEnum):
    """What a matrix is in the story of attention; each role has one colour on every page."""

    INPUT = "input"
    QUERY = "query"
    KEY = "key"
    VALUE = "value"
    SCORES = "scores"
    WEIGHTS = "weights"
    CONTEXT = "context"
    OUTPUT = "output"
