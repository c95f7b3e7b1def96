"""The cells of one head's matrix, in float64 where that matters, with O(n) memory.

A weight is exp(score - log_normaliser). The normaliser of a row needs every score of the row: it is computed for a
band of rows when somebody first looks there, in columns that fit the cache, and kept.
"""

import math
from functools import cache, cached_property

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace, finite_normaliser, spans, upcast_half
from attention_core.attention.types import Rows

BAND = 256  # rows whose normalisers are computed together; a tile has as many rows and columns
COLUMNS = 512  # columns at once in a pass over a band: 512 kB of scores, which stay in a processor's cache
COLUMNS_ELSEWHERE = 2**16  # columns at once where a call costs more than what it computes, as on a GPU: 64 MB of scores
MAX_FLOAT32_SCORE = 60.0
"""Scores in [-60, 60] are computed in float32: it keeps them to some 1e-5, and exp(60) times any n does not overflow.
Beyond, float32's error of a score, 6e-8 times its size and more, would show in the fourth digit of its weight."""
NATS_PER_BIT = math.log(2)
LOG_OF_ZERO = -1e4  # stands for the logarithm of a weight of 0, whose product with the weight must be 0


class Cells:
    """Scores and weights of one head, a few rows and columns at a time; an IndexError if there is no such head."""

    def __init__(self, trace: AttentionTrace, head: int) -> None:
        if not 0 <= head < trace.n_heads:
            raise IndexError(f"head must be from 0 to {trace.n_heads - 1}, got {head}")
        self.trace, self.head = trace, head
        self.precise = torch.float32 if trace.query.device.type == "mps" else torch.float64  # the widest type there
        self.columns = COLUMNS if trace.query.device.type == "cpu" else COLUMNS_ELSEWHERE
        self._last_query = slice(0, 0), trace.query.new_empty(0)  # the rows of the last call of log2_weights(), scaled
        self._is_computed = [False] * math.ceil(trace.n_queries / BAND)
        self._visible_keys = cache(self._range_of_keys)
        with torch.inference_mode():
            self._normaliser = torch.zeros(trace.n_queries, dtype=self.precise, device=trace.query.device)

    @property
    def _key(self) -> Tensor:
        return self.trace.key_of(self.head)  # not kept: the trace may hold it weakly

    def dtype(self, rows: slice) -> torch.dtype | None:
        """Return the type in which scores of these rows have to be computed; None = that of the query is enough."""
        return None if self._fits_float32[rows.start // BAND] else self.precise

    def is_computed(self, rows: slice) -> bool:
        return all(self._is_computed[rows.start // BAND : math.ceil(rows.stop / BAND)])

    def normaliser(self, rows: slice) -> Tensor:
        """Return the log-sum-exp of rows, which may cross bands; -inf for a query that sees no key."""
        for band in range(rows.start // BAND, math.ceil(rows.stop / BAND)):
            if not self._is_computed[band]:
                self._fill(band)
        return self._normaliser[rows]

    def log_weights(self, rows: slice, cols: slice, dtype: torch.dtype | None) -> Tensor:
        """Return the logarithms of the weights, (n_rows, n_cols), -inf or nearly so where the weight is 0.

        Without a dtype they are computed in that of the query, at least float32.
        """
        scores = self._masked_scores(rows, cols, dtype)
        logs = scores.sub_(finite_normaliser(self.normaliser(rows)).to(scores.dtype)[:, None])
        if self._changed:
            logs = self.trace.apply_weight_edits(logs.exp_(), self.head, rows, cols).log_()
        return logs

    def buffer(self, n_rows: int, n_cols: int) -> Tensor:
        """Return memory for that many cells, for log2_weights(): to allocate it each time would double the cost."""
        dtype = torch.promote_types(self.trace.query.dtype, torch.float32)
        return torch.empty(n_rows * n_cols, dtype=dtype, device=self.trace.query.device)

    def log2_weights(self, rows: slice, cols: slice, buffer: Tensor) -> Tensor:
        """Return logarithms to base 2 of the weights, up to a factor for each row of a band, see factors(); finite.

        They are (n_cols, n_rows): keys come first, since sums and maxima over the first dimension are faster; and a
        power of 2 takes half the time of one of e. The result may lie in the buffer.
        """
        dtype = self.dtype(rows)
        if dtype is None and self._factor is not None:
            last, query = self._last_query
            if last != rows:
                query = upcast_half(self.trace.query[self.head, rows]).T * (self._factor / NATS_PER_BIT)
                self._last_query = rows, query
            key = self._key[cols].to(query.dtype)
            out = buffer[: len(key) * query.shape[1]].view(len(key), query.shape[1])
            bits = torch.mm(key, query, out=out)
            allowed = self._allowed(rows, cols)
            return bits if allowed is None else bits.masked_fill_(~allowed.T, LOG_OF_ZERO)
        logs = self._masked_scores(rows, cols, None) if dtype is None else self.log_weights(rows, cols, dtype)
        return logs.div_(NATS_PER_BIT).clamp_(min=LOG_OF_ZERO).T

    def factors(self, rows: slice, sums: Tensor) -> Tensor:
        """Return the factors (n_rows,) that make weights of the powers of 2 of log2_weights().

        The rows are a band; sums are those of their powers of 2, over all keys. Normalisers that were not known follow
        from them.
        """
        if self.dtype(rows) is not None:
            return torch.ones_like(sums)
        if self.trace.normaliser is None and not self.is_computed(rows):
            self._normaliser[rows] = self.trace.with_sinks(sums.log(), self.head, rows)
            self._is_computed[rows.start // BAND] = True
        return finite_normaliser(self.normaliser(rows)).neg().exp()

    def visible_keys(self, rows: slice) -> slice:
        """Return the shortest range of keys outside which a band may attend to nothing; perhaps empty.

        A band has 256 queries from a multiple of 256, at the end perhaps fewer.
        """
        return self._visible_keys(rows.start // BAND)

    def _rows_of(self, band: int) -> slice:
        return slice(band * BAND, min((band + 1) * BAND, self.trace.n_queries))

    def _range_of_keys(self, band: int) -> slice:
        rows = self._rows_of(band)
        window = self.trace.window
        start = 0 if window is None else max(rows.start - window + 1, 0)
        stop = min(rows.stop, self.trace.n_keys) if self.trace.is_causal else self.trace.n_keys
        tile = self.trace.allowed(self.head, rows, slice(start, stop)) if self._has_mask else None
        if tile is None:
            return slice(start, stop)
        allowed = tile.any(0).nonzero() + start
        return slice(int(allowed[0]), int(allowed[-1]) + 1) if len(allowed) else slice(0, 0)

    @cached_property
    def _has_mask(self) -> bool:
        return self.trace.has_mask

    def _masked_scores(self, rows: slice, cols: slice, dtype: torch.dtype | None) -> Tensor:
        score = None if dtype is None else self.trace.edited_score.to(dtype)
        scores = self.trace.score_tile(self.head, rows, cols, dtype=dtype, score=score)
        allowed = self._allowed(rows, cols)
        return scores if allowed is None else scores.masked_fill_(~allowed, -math.inf)

    def _allowed(self, rows: slice, cols: slice) -> Tensor | None:
        if not self._has_mask and (not self.trace.is_causal or cols.stop <= rows.start + 1):
            return None
        return self.trace.allowed(self.head, rows, cols)

    def _fill(self, band: int) -> None:
        rows = self._rows_of(band)
        dtype = self.dtype(rows)
        only_weights = not self.trace.query.shape[-1]  # the trace was made from them; its normaliser is exact
        if self.trace.normaliser is not None and (dtype is None or only_weights):
            self._normaliser[rows] = self.trace.normaliser[self.head, rows].to(self._normaliser)
        else:
            self._normaliser[rows] = self._log_sum_exp(rows, dtype)
        self._is_computed[band] = True

    def _log_sum_exp(self, rows: slice, dtype: torch.dtype | None) -> Tensor:
        keys, buffer, partial_sums = self.visible_keys(rows), self.buffer(BAND, self.columns), []
        for cols in spans(keys.start, keys.stop, self.columns):
            if dtype is None:  # scores this small need no maximum subtracted, which would take a second pass
                partial_sums.append(self.log2_weights(rows, cols, buffer).exp2_().sum(0))
            else:
                partial_sums.append(self._masked_scores(rows, cols, dtype).logsumexp(1))
        if not partial_sums:
            total = torch.full_like(self._normaliser[rows], -math.inf)
        elif dtype is None:
            total = torch.stack(partial_sums).to(self.precise).sum(0).log()
        else:
            total = torch.stack(partial_sums).logsumexp(0)
        return self.trace.with_sinks(total, self.head, rows)

    @cached_property
    def _fits_float32(self) -> list[bool]:
        """For each band, whether no score exceeds MAX_FLOAT32_SCORE, by the inequality of Cauchy and Schwarz.

        False where an edit changes single rows of the band. A sink counts as a score, so that the factor of a row, too,
        is neither 0 nor infinite in float32.
        """
        trace, bands = self.trace, len(self._is_computed)
        bound = trace.edited_score.bound(trace.key.shape[-1])
        has_large_sinks = trace.sinks is not None and _size(trace.sinks) > MAX_FLOAT32_SCORE
        if bound is None or isinstance(self._changed, slice) or has_large_sinks:
            return [False] * bands
        scale = abs(trace.score_multiplier(self.head))
        bias = None if trace.bias is None else trace.bias.expand(trace.n_heads, *trace.bias.shape[-2:])[self.head]
        bias_bound = 0.0 if bias is None else _size(bias)
        lengths, longest = _lengths(trace.query[self.head]), _lengths(self._key).amax() * (bound * scale)
        per_band = torch.nn.functional.pad(lengths, (0, bands * BAND - len(lengths))).view(bands, BAND).amax(1)
        fits = per_band * longest + bias_bound * scale <= MAX_FLOAT32_SCORE
        fits[[row // BAND for row in self._changed]] = False
        return fits.tolist()

    @cached_property
    def _changed(self) -> Rows:
        """The rows that edits change in another way than by a factor or by hiding keys."""
        return self.trace.changed_rows(self.head, [edit for edit in self.trace.ordered_edits if not edit.is_fusable])

    @cached_property
    def _factor(self) -> float | None:
        """The factor that makes scores of dot products; None = the scores are no such products."""
        factor = self.trace.edited_score.dot_factor(self._key.shape[-1])
        if factor is None or self.trace.bias is not None or isinstance(self._changed, slice):
            return None
        return factor * self.trace.score_multiplier(self.head)


def _lengths(vectors: Tensor) -> Tensor:
    return torch.linalg.vector_norm(vectors, dim=-1, dtype=torch.promote_types(vectors.dtype, torch.float32))


def _size(scores: Tensor) -> float:
    return float(torch.linalg.vector_norm(scores, math.inf))
