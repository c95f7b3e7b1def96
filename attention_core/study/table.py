"""Results that are tables: in a notebook's cell, as a frame of pandas, as a parquet file."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


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

    def _repr_html_(self) -> str:
        return self.to_frame().to_html(max_rows=40)


def _need(package: str) -> None:
    if find_spec(package) is None:
        raise ImportError(f'{package} is not installed: pip install "attention-explorer[study]" brings it.')
