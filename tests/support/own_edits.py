"""Edits of the tests' own: classes that nothing else knows, which read the numbers that they change."""

from dataclasses import dataclass

from attention_core.attention.edits import CellEdit, HeadEdit


class OwnEdit:
    """What an edit does, on whole matrices (n_queries, n_keys) and (n_queries, d_v), in place."""

    def plain_scores(self, scores): ...

    def plain_weights(self, weights): ...

    def plain_context(self, context): ...


@dataclass(frozen=True)
class AddToScore(OwnEdit, CellEdit):
    name = "add to score"

    by: float
    head: int | None = None

    def change_scores(self, attention, head, queries, keys, tile):
        tile[(queries == self.query)[:, None] & (keys == self.key)] += self.by

    def plain_scores(self, scores):
        scores[self.query, self.key] += self.by


@dataclass(frozen=True)
class ScaleScores(OwnEdit, HeadEdit):
    name = "scale scores"

    key: int
    by: float
    head: int | None = None

    def change_scores(self, attention, head, queries, keys, tile):
        tile[:, keys == self.key] *= self.by

    def plain_scores(self, scores):
        scores[:, self.key] *= self.by


@dataclass(frozen=True)
class ScoreOfNeighbour(OwnEdit, CellEdit):
    """A key scores what the key before it does."""

    name = "score of neighbour"

    head: int | None = None

    def change_scores(self, attention, head, queries, keys, tile):
        before = attention.score_tile(head, [self.query], [max(self.key - 1, 0)], before=self.apply_order)
        tile[(queries == self.query)[:, None] & (keys == self.key)] = before.item()

    def plain_scores(self, scores):
        scores[self.query, self.key] = scores[self.query, max(self.key - 1, 0)].clone()


@dataclass(frozen=True)
class HalveWeight(OwnEdit, CellEdit):
    name = "halve weight"
    target = "weights"

    head: int | None = None

    def change_weights(self, attention, head, queries, keys, tile):
        tile[(queries == self.query)[:, None] & (keys == self.key)] /= 2

    def plain_weights(self, weights):
        weights[self.query, self.key] /= 2


@dataclass(frozen=True)
class TurnOutput(OwnEdit, HeadEdit):
    """A head hands over its numbers in the opposite order."""

    name = "turn output"
    target = "context"

    head: int | None = None

    def context(self, head, context):
        return context.flip(-1)

    def plain_context(self, context):
        context[:] = context.flip(-1)
