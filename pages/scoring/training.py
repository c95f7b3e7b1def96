"""Learned scores: those in the weights files, and those trained on demand, with and without a scale."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.attention.scores import Additive, parameter_names
from attention_core.attention.wording import percent
from attention_core.live_training import score_comparison as compare
from attention_core.weights import read_card
from pages.scoring.charts import WITH, WITHOUT, network_chart, training_chart
from pages.scoring.controls import ACTIVE, NAME, PLANE, key_name
from ui.chart import draw_chart
from ui.job_queue import result_on_demand
from ui.labels import note, paragraph
from ui.layout import figures_table
from ui.state import Field, one_of, single_choice

RATE = Field(NAME, "rate", compare.RATES[1], address="rate", parse=one_of(compare.RATES))
NOTEWORTHY = 0.03  # difference of two accuracies that is worth a word
FORMS = (compare.X, compare.W, compare.QK)
ITSELF, TURNED = "right key: the query itself", "right key: the query, turned by 90°"


def trained_section() -> None:
    """Train scores of several widths with and without the division, and say what it is worth."""
    paragraph("Of six keys one is the query itself, turned by 90°, with noise.")
    rate = single_choice("Learning rate", RATE, compare.RATES)
    runs = _trained(
        [compare.ScoreSetup(d=d, is_scaled=scaled, rate=rate) for scaled, d in product((False, True), compare.WIDTHS)]
    )
    if not runs:
        return
    plain, scaled = runs[: len(compare.WIDTHS)], runs[len(compare.WIDTHS) :]
    by_width = [{run.setup.d: run for run in half} for half in (plain, scaled)]
    panels = {
        name: {f"d = {d}": run for d, run in half.items()} for name, half in zip((WITHOUT, WITH), by_width, strict=True)
    }
    with _draw_curves(panels):
        figures_table(
            ("d", "gradient", "÷ √d", "found", "÷ √d"),
            *(
                [str(d), *(f"{run.gradients[0]:.2f}" for run in pair), *(percent(run.accuracy) for run in pair)]
                for d, *pair in zip(compare.WIDTHS, plain, scaled, strict=True)
            ),
        )
        accuracies, divided = ({d: run.accuracy for d, run in half.items()} for half in by_width)
        st.markdown(worth_of_dividing(accuracies, divided, rate))
        note("Curves: squared error. The gradient is that of the softmax before training.")


def worth_of_dividing(plain: Mapping[int, float], scaled: Mapping[int, float], rate: float) -> str:
    """Return a sentence: at which widths the division changes the accuracy, given by width without and with it."""
    gains = {d: scaled[d] - plain[d] for d in plain}
    changed = {
        "more": [str(d) for d, gain in gains.items() if gain > NOTEWORTHY],
        "less": [str(d) for d, gain in gains.items() if gain < -NOTEWORTHY],
    }
    clauses = [f"{direction} at d = {', '.join(widths)}" for direction, widths in changed.items() if widths]
    if not clauses:
        higher = " Try a higher learning rate." if rate < max(compare.RATES) else ""
        return f"Divided or not, about as much is found at every width.{higher}"
    same = "" if sum(map(len, changed.values())) == len(gains) else " At the other widths about as much."
    return f"**Divided, it finds {' and '.join(clauses)}.**{same}"


def projections_section() -> None:
    """Train X X^T, X W X^T and Q K^T on a symmetric and on a directed task, and say which can do what."""
    paragraph("Three scores of 256 parameters each learn which of six keys belongs to a query.")
    runs = _trained([compare.ScoreSetup(form, is_turned=turned) for turned, form in product((False, True), FORMS)])
    if not runs:
        return
    itself, turned = runs[: len(FORMS)], runs[len(FORMS) :]
    with _draw_curves({ITSELF: dict(zip(FORMS, itself, strict=True)), TURNED: dict(zip(FORMS, turned, strict=True))}):
        figures_table(
            ("found", "itself", "turned", "symmetric"),
            *(
                [form, *(percent(run.accuracy) for run in pair), "yes" if pair[1].asymmetry < NOTEWORTHY else "no"]
                for form, *pair in zip(FORMS, itself, turned, strict=True)
            ),
        )
        st.markdown(
            "**X Xᵀ is symmetric whatever X learns**: like finds like. To find something else takes projections."
        )
        note("Chance: 17%. Q and K have half the width of X here, so that all are of equal size.")


def _trained(setups: Sequence[compare.ScoreSetup]) -> Sequence[compare.ScoreRun]:
    """Return the runs of setups once a visitor has had them trained; nothing before."""

    def steps() -> Iterator[tuple[float, list[compare.ScoreRun]]]:
        done: list[compare.ScoreRun] = []
        for setup in setups:
            for run in compare.train_score(setup):
                yield (len(done) + len(run.losses) * compare.EVERY / compare.N_STEPS) / len(setups), [*done, run]
            done.append(run)

    return result_on_demand(("trained", *setups), f"Train {len(setups)} networks", f"{NAME}_train", steps) or ()


def _draw_curves(panels: Mapping[str, Mapping[str, compare.ScoreRun]]) -> DeltaGenerator:
    """Draw two panels of curves on one scale; return the column beside them."""
    errors = [error for panel in panels.values() for run in panel.values() for error in run.losses]
    limits = min(errors), max(errors)
    *columns, table_column = st.columns(3, gap="medium")
    for (title, panel), column in zip(panels.items(), columns, strict=True):
        with column:
            chart = training_chart({name: run.losses for name, run in panel.items()}, compare.EVERY, limits, title)
            draw_chart(chart, width="content", alt=f"Error while training, {title}")
    return table_column


PLAIN_NAME = "vᵀtanh(q + k), v all ones"


def learned_section(query: Tensor, key: Tensor, trained: Mapping[str, Tensor]) -> None:
    """Draw the network that scores one key, beside how often learned scores are right; query (d,), key (n_keys, d)."""
    (d,), n_keys = query.shape, len(key)
    learned = Additive(*(trained[name] for name in Additive.parameter_names()))
    scores = {"additive, learned": learned, PLAIN_NAME: Additive(**Additive.plain_parameters(d, d, n_keys))}
    picture, text_column = st.columns([1, 1], gap="large")
    with picture:
        active = single_choice("Key", ACTIVE, dict(enumerate(map(key_name, range(n_keys)))), on_change=PLANE.refresh)
        chart = network_chart(learned, query, key[active], key_name(active))
        alt = f"The network that makes one score of the query and {key_name(active)}"
        draw_chart(chart, key="scoring_network", width="content", alt=alt)
        st.caption("Lines are weights: orange above 0, blue below; the wider, the larger.")
    with text_column:
        paragraph(
            "**A small network makes the score**, $v^{\\top}\\tanh(W_q q + W_k k)$: each unit weighs all numbers of "
            "query and key and bends their sum by a tanh; v weighs the units."
        )
        weights = {name: score(query[None], key).softmax(-1)[0].tolist() for name, score in scores.items()}
        header = ["weights by", *map(key_name, range(n_keys))]
        figures_table(header, *([name, *map(percent, row)] for name, row in weights.items()))
        st.caption("With $W_q = W_k = I$ and ones in v it prefers keys of large numbers, not keys that are near.")
        accuracy = read_card("scoring-functions")["accuracy_by_d"][str(d)]
        kinds = dict.fromkeys(name.split(".")[0] for name in parameter_names())
        figures = ", ".join(f"{name} {percent(share)}" for name, share in accuracy.items() if name in kinds)
        paragraph(f"Four scores were trained to find the nearest of six keys. Right: {figures}; chance: 17%.")
