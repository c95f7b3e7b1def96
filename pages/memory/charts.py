"""Charts of what a recurrent network remembers, and of BLEU by the length of the sentence."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import layers
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns, long_form, rectangles
from attention_core.charts.layers import QUIET, Bar, named
from attention_core.charts.png import matrix_png, reduce_blocks
from attention_core.charts.ramps import ROLE_COLOURS, TEXT_COLOUR, Ramp
from attention_core.evaluate.translation_figures import ByLength
from attention_core.inference.word_influence import MemoryOverview

PER_LABEL = 15  # screen pixels that a slanted word at an axis needs


def over_time(
    memory: MemoryOverview,
    direction: str,
    ramp: Ramp,
    *,
    title: str,
    read: Sequence[bool],
    present: int,
    size: tuple[int, int],
) -> Chart:
    """Draw the states of a reading in one direction: time runs to the right, dimensions downwards.

    More rows than screen pixels are averaged in whole blocks. Words that are read by now are shown, and the one that is
    read at this moment is framed.
    """
    values, labels = memory.states[direction], memory.labels
    n = len(labels)
    width, height = size
    is_read = np.asarray(read, dtype=bool)
    rows = -(-len(values) // height), 1
    sums, sizes = (reduce_blocks(numbers, rows, np.add) for numbers in (values, np.ones_like(values)))
    words = rectangles(range(n), 0, word=labels, length=np.linalg.norm(values, axis=0))
    data = {
        "image": rectangles(0, 0, n, url=matrix_png(np.where(is_read, sums / sizes, np.nan), ramp)),
        "words": {name: np.asarray(column)[is_read] for name, column in words.items()},
        "bar": layers.bar_data(ramp),
        "now": rectangles(present, 0),
    }
    bar = Bar.of(ramp, "number in the state", min(width, 200))
    return Chart(_over_time(tuple(labels), bar, title, width, height), data)


@compiled
def _over_time(words: tuple[str, ...], bar: Bar, title: str, width: int, height: int) -> alt.LayerChart:
    n = len(words)
    axis = alt.Axis(
        values=[position + 0.5 for position in range(n)],
        labelAngle=-45,
        labelExpr=layers.label_expression(words, "floor(datum.value)", -(-n * PER_LABEL // max(width, 1)) or 1),
        labelLimit=90,
        labelFontSize=12,
        grid=False,
        ticks=False,
        domain=False,
        labelOverlap="greedy",
        labelSeparation=-200,
    )
    x = alt.X("left:Q", title=None, scale=layers.exact_scale(0, n), axis=axis)
    space = layers.corners(n, 1, x=x, y=alt.Y("top:Q", title=None, axis=None, scale=layers.exact_scale(1, 0)))
    tooltip = alt.Tooltip("word:N"), alt.Tooltip("length:Q", title="length of h", format=".3g")
    drawing = [
        layers.images("image", space, clip=True),
        layers.hover_cells("words", space, *tooltip),
        layers.bar_layer(bar),
        *layers.halo_outlines("now", space, (4, 2)),
    ]
    return layers.fixed_size(drawing, width, height, title=layers.heading(title, offset=4))


TRANSLATOR_COLOURS = {"translator-none": "#75808E", "translator-dot": ROLE_COLOURS[Role.WEIGHTS]}
"""Grey is what does without attention."""

NAME_HEIGHT = 15  # screen pixels between two names


def length_chart(
    figures: ByLength, *, width: int, height: int, called: Mapping[str, str], marked: Mapping[str, str]
) -> Chart:
    """Draw BLEU against length.

    Names right of the plot, which are what models are `called`, do not count in its width. Of the groups that are
    marked, each has its own words above.
    """
    data = long_form(("model", "words", "bleu"), figures.scores, figures.groups)
    data["label"] = [called[name] for name in data["model"]]
    top = 5 * (1 + max(data["bleu"]) // 5)
    last = {name: scores[-1] for name, scores in figures.scores.items() if scores[-1] is not None}
    falling = sorted(last, key=last.__getitem__, reverse=True)
    names = {
        "model": falling,
        "label": [called[name] for name in falling],
        "words": [figures.groups[-1]] * len(falling),
        "place": spread_out([last[name] for name in falling], NAME_HEIGHT * top / height, lowest=0.0),
    }
    marks = {"words": list(marked), "place": [top] * len(marked), "text": list(marked.values())}
    spec = _length_chart(tuple(figures.groups), top, tuple(figures.scores), width, height)
    return Chart(spec, {"marks": marks, "scores": data, "ends": names})


@compiled
def _length_chart(
    groups: tuple[str, ...], top: float, models: tuple[str, ...], width: int, height: int
) -> alt.LayerChart:
    points, axis = alt.Scale(paddingOuter=0.2, type="point"), alt.Axis(labelAngle=0, grid=False)
    x = alt.X("words:O", sort=list(groups), title=None, scale=points, axis=axis)
    y = alt.Y("bleu:Q", title=None, scale=layers.exact_scale(0, top), axis=alt.Axis(tickCount=5))
    colours = [TRANSLATOR_COLOURS[model] for model in models]
    colour = alt.Color("model:N", scale=alt.Scale(domain=list(models), range=colours), legend=None)
    point = {"x": x, "y": alt.Y("place:Q")}
    tooltip = [
        alt.Tooltip("label:N", title="translator"),
        alt.Tooltip("words:O"),
        alt.Tooltip("bleu:Q", title="BLEU", format=".1f"),
    ]
    rules = named("marks").mark_rule(**QUIET, strokeDash=[3, 3], color=TEXT_COLOUR, opacity=0.6)
    lines = named("scores").mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=70), aria=True)
    names = named("ends").mark_text(**QUIET, align="left", dx=12, fontSize=12, fontWeight=600)
    drawing = [
        rules.encode(x),
        layers.texts("marks", point, baseline="bottom", dy=-3, color=TEXT_COLOUR),
        lines.encode(x, y, colour, tooltip=tooltip),
        names.encode(**point, color=colour, text=alt.Text("label:N")),
    ]
    title = "translation quality (BLEU) by words of the English sentence"
    return layers.fixed_size(drawing, width, height, title=layers.heading(title, offset=22))


def spread_out(heights: list[float], gap: float, lowest: float) -> list[float]:
    """Return falling heights, moved so that neighbours are a gap apart; all move up where the last would be too low."""
    moved: list[float] = []
    for height in heights:
        moved.append(min(height, moved[-1] - gap) if moved else height)
    up = max(0.0, lowest - moved[-1]) if moved else 0.0
    return [height + up for height in moved]


SENSE_COLOURS = {"fruit": "#009E73", "firm": "#0072B2", "yours": "#D55E00"}
CLUES = {"before": "circle", "after": "triangle-up", "yours": "diamond"}  # where the clue stands, and its mark


def leanings_chart(leanings: Columns, readings: Sequence[str]) -> Chart:
    """Draw how near vectors of a word are to fruit, left, and to firm, right, a row for each reading.

    Columns: reading, leaning (-1 to 1), sense and clue, see SENSE_COLOURS and CLUES, and sentence.
    """
    axis = alt.Axis(values=[-0.7, 0, 0.7], labelExpr="datum.value < 0 ? '← fruit' : datum.value > 0 ? 'firm →' : ''")
    marks = alt.Scale(domain=[*CLUES], range=[*CLUES.values()])
    chart = named("leanings", height=84 * len(readings)).mark_point(filled=True, size=90, opacity=0.75)
    encoded = chart.encode(
        alt.X("leaning:Q", title=None, axis=axis, scale=alt.Scale(domain=[-1, 1])),
        alt.Y("reading:N", sort=list(readings), title=None, axis=alt.Axis(ticks=False, labelLimit=170)),
        alt.YOffset("clue:N", sort=[*CLUES]),
        layers.series_colour("sense", [*SENSE_COLOURS], [*SENSE_COLOURS.values()]),
        alt.Shape("clue:N", scale=marks, sort=[*CLUES], legend=None),
        tooltip=[alt.Tooltip("sentence:N"), alt.Tooltip("leaning:Q", format=".2f")],
    )
    return Chart.of(encoded, {"leanings": dict(leanings)})
