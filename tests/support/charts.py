"""What tests ask of charts: their spec, held against Vega-Lite's schema, and the rows of their data."""

import altair as alt


def valid(chart) -> dict:
    """Return the spec, held against Vega-Lite's schema."""
    spec = chart.to_dict()
    (alt.LayerChart if "layer" in spec else alt.Chart).from_dict(spec, validate=True)
    return spec


def rows_of(chart) -> list[dict]:
    """Return all rows of all data sets of a chart."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def rows_with(chart, *fields: str) -> list[dict]:
    """Return the rows of the first data set with these fields; none if there is no such set."""
    datasets = chart.to_dict()["datasets"].values()
    return next((rows for rows in datasets if rows and set(fields) <= set(rows[0])), [])
