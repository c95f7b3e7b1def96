"""Results that are tables: in a notebook's cell, as a frame of pandas, as a parquet file, as arrays of xarray."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

AXES = ("layer", "head", "position", "query", "key", "rank", "part")
"""Columns that say where a number belongs."""


class Table:
    """A result with columns of one length, by name."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        raise NotImplementedError

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas table; ImportError where pandas is missing."""
        _need("pandas")
        import pandas as pd

        return pd.DataFrame(dict(self.columns()))

    def to_parquet(self, path: str | Path) -> None:
        """Write the table to a parquet file; ImportError where pandas or pyarrow is missing."""
        _need("pyarrow")
        self.to_frame().to_parquet(path)

    def to_xarray(self) -> "xr.Dataset":
        """Return the columns over their axes, layers x heads for instance; ImportError where xarray is missing."""
        _need("xarray")
        frame = self.to_frame()
        return frame.set_index([name for name in AXES if name in frame]).to_xarray()

    def _repr_html_(self) -> str:
        return self.to_frame().to_html(max_rows=40)


def _need(package: str) -> None:
    if find_spec(package) is None:
        raise ImportError(f'{package} is not installed: pip install "attention-explorer[study]" brings it.')
