"""The first screen: numbers, whose question is looked at, both heads' answers; below it where the heads look."""

from collections.abc import Iterable

import numpy as np
import streamlit as st

from attention_core.attention.simplicial import pair_scores, pair_weights
from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step
from attention_core.charts import contact_sheet, matrix_chart, ramp_for, weights_ramp
from attention_core.charts.heatmap import pair_map
from attention_core.data.match3 import MODULUS, PRESETS, matching_pairs, read_numbers
from attention_core.device import to_array
from attention_core.evaluate import classification
from attention_core.models.match3 import Match3Head
from attention_core.weights import read_card
from ui.chart import draw_chart
from ui.digits import by_model
from ui.labels import distinct, error_markdown
from ui.layout import section
from ui.player import Stepper, show_step_chart, show_words
from ui.skeleton import note
from ui.state import Field, between, one_of, single_choice, whole_number

NAME = "groups"
HEADS = {"triples": "match3-simplicial", "pairs": "match3-pairwise"}
HEAD_WORDS = {"triples": "looks at two others at once", "pairs": "looks at one other at a time"}
SHORT_WORDS = {"triples": "two at once", "pairs": "one at a time"}
N_FRESH = 1000
head_trace = by_model(Match3Head.trace)
fresh_accuracy = by_model(classification.fresh_accuracy, spinner="Answering")
SIZE = 430
TABLE_STYLE = """<style>
.answers { overflow-x: auto; } .answers table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.answers th, .answers td { padding: 0.28rem 0.36rem; text-align: center; white-space: nowrap; border: none; }
.answers th:first-child { text-align: left; font-weight: 400; padding-left: 0; }
.answers thead th { font-size: 1.15rem; font-weight: 600; border-bottom: 1px solid #8a93a055; }
.answers td.yes { font-weight: 600; } .answers td.no { opacity: 0.75; }
.answers td.wrong { color: color-mix(in srgb, #D55E00 57%, currentcolor); font-weight: 600; }
.answers td.wrong { text-decoration: underline wavy; text-underline-offset: 4px; }
@media (max-width: 640px) {
  .answers table { font-size: 0.8rem; } .answers thead th { font-size: 0.9rem; }
  .answers th, .answers td { padding: 0.28rem 0.12rem; } .answers th:first-child { white-space: normal; }
}
.answers .chosen { box-shadow: inset 0 -3px 0 #0072B2; }
</style>"""


def _readable(text: str) -> list[int]:
    return read_numbers(text).numbers or NUMBERS.value


def _written(numbers: list[int], between: str = " ") -> str:
    return between.join(map(str, numbers))


NUMBERS = Field(NAME, "numbers", list(next(iter(PRESETS.values())).numbers))
TEXT = Field(
    NAME,
    "text",
    _written(NUMBERS.default),
    address="numbers",
    parse=lambda text: _written(read_numbers(text.replace("-", " ")).numbers or NUMBERS.default),
    text=lambda text: _written(_readable(text), "-"),
)
QUERY = Field(NAME, "query", -1, address="query", parse=whole_number)
HEAD = Field(NAME, "head", "triples", address="head", parse=one_of(HEADS))
DRAW = Field(NAME, "seed", 0, address="draw", parse=between(0, 9999))
STEPS = Stepper(NAME)


def number_input() -> list[int]:
    """Let a person type numbers or take a preset; the last numbers that could be read stay when these cannot."""
    TEXT.widget(
        st.text_input,
        f"Your numbers, 0 to {MODULUS - 1}",
        max_chars=200,
        on_change=QUERY.reset,
        help="Whole numbers with spaces between. Eight is what the heads were trained on; 3 to 16 are read.",
    )
    with st.container(horizontal=True, gap="small"):
        for place, (title, preset) in enumerate(PRESETS.items()):
            st.button(title, key=f"groups_preset_{place}", on_click=_take, args=(list(preset.numbers),))
    typed = read_numbers(TEXT.value)
    if not typed.numbers:
        st.error(
            f"{error_markdown(typed.remark)} Shown are the last numbers that could be read.", icon=":material/error:"
        )
    elif typed.remark:
        st.info(typed.remark)
    for preset in PRESETS.values():
        if list(preset.numbers) == typed.numbers:
            st.caption(preset.note)
    NUMBERS.value = _readable(TEXT.value)
    return NUMBERS.value


def _take(numbers: list[int]) -> None:
    TEXT.value = _written(numbers)
    QUERY.reset()


def choose_query(numbers: list[int]) -> int:
    """Let a person choose whose question is looked at; at first somebody who has a pair."""
    places = range(len(numbers))
    QUERY.clamp_to_options(places, next((place for place in places if matching_pairs(numbers, place)), 0))
    return single_choice(
        "Whose question", QUERY, dict(enumerate(distinct([str(number) for number in numbers]))), wrap=True
    )


def answers_table(numbers: list[int], traces: dict[str, AttentionTrace], query: int) -> None:
    """Draw per number the truth and both heads' answers; wrong ones are marked."""
    truth = ["yes" if matching_pairs(numbers, place) else "no" for place in range(len(numbers))]
    kinds = ["chosen" if place == query else "" for place in range(len(numbers))]
    rows = f"<thead>{_row('th', '', kinds, map(str, numbers))}</thead>{_row('td', 'is there a pair?', truth, truth)}"
    for head, trace in traces.items():
        shares = step_of(trace, "answer").value()[:, 1].tolist()
        answers = zip(shares, truth, strict=True)
        kinds = [right if (share > 0.5) == (right == "yes") else "wrong" for share, right in answers]
        rows += _row("td", SHORT_WORDS[head], kinds, (f"{share:.0%}" for share in shares))
    st.html(f'{TABLE_STYLE}<div class="answers"><table>{rows}</table></div>')
    st.caption("Per cent: how sure the head is that there is a pair. Underlined in orange: a wrong answer.")


def _row(tag: str, head: str, kinds: Iterable[str], texts: Iterable[str]) -> str:
    cells = (f'<{tag} class="{kind}">{text}</{tag}>' for kind, text in zip(kinds, texts, strict=True))
    return f"<tr><th>{head}</th>{''.join(cells)}</tr>"


def groups_steps(traces: dict[str, AttentionTrace], query: int, numbers: list[int]) -> None:
    """Step through either head for the chosen number."""
    head = single_choice("Step through the head that", HEAD, HEAD_WORDS)
    trace = traces[head]
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step, query):
        return
    words, matrix = st.columns([0.82, 1], gap="large")
    best = int(trace.weights(0, [query])[0].argmax())
    with words:
        show_words(trace, step, 0, query, best)
        note("*Others*: the numbers that can be asked. *Nobody*, behind them, is looked at by who finds no pair.")
        if head == "triples":
            note(
                f"Here every pair of others is a key: key {best + 1} is the pair {trace.story.key_axis.labels[best]}. "
                "The softmax and the weighted sum are as on every other page, but over n × n keys instead of n."
            )
    with matrix:
        if step.col_axis.grid:
            _pairs_of_query(trace, step, query, numbers)
        elif step.row_axis.grid:
            values = to_array(step.value().float())
            pictures = values.T.reshape(-1, *step.row_axis.grid)
            labels = [f"K {number}" for number in range(1, len(pictures) + 1)]
            ramp = ramp_for(step.role, values, len(step.col_axis))
            chart = contact_sheet(pictures, labels, ramp, title=step.title.lower(), columns=8, size=SIZE // 8 - 8)
            draw_chart(chart, width="content", alt="One small square per dimension of the keys")
        else:
            show_step_chart(step, 0, query, NAME, SIZE)


def _pairs_of_query(trace: AttentionTrace, step: Step, query: int, numbers: list[int]) -> None:
    values, ramp = to_array(step.value(0, [query]).float()).reshape(step.col_axis.grid), None
    if step.name == "weights":
        seen = _allowed_pairs(trace, query)
        ramp = weights_ramp(int(seen.sum()), float(values.max()))
        values = np.where(seen, values, np.nan)
    pairs, axis = matching_pairs(numbers, query), Axis("pair", [*map(str, numbers), "nobody"])
    title = f"{step.title.lower()} of query {numbers[query]}"
    chart = pair_map(values, axis, step.role, framed=pairs, title=title, size=SIZE, ramp=ramp)
    draw_chart(chart, width="content", alt=f"{step.title} of one query over all pairs")
    sums = " and ".join(f"{numbers[first]} + {numbers[second]}" for first, second in pairs[:4])
    multiple = f"a multiple of {MODULUS}"
    found = f"Framed: {sums}. Together with {numbers[query]} each gives {multiple}."
    note(found if pairs else f"No two others give {multiple} together with {numbers[query]}.")


def _allowed_pairs(trace: AttentionTrace, query: int) -> np.ndarray:
    return np.isfinite(to_array(pair_scores(trace, query)))


def all_at_once(traces: dict[str, AttentionTrace], query: int, numbers: list[int]) -> None:
    """Draw the n x n x n weights as one small square per query, and where the chosen one looks among single others."""
    block, alone = st.columns([1.35, 1], gap="large")
    with block:
        st.caption(
            "One square for each number that asks. Down: the first of the two others; across: the second; last: nobody."
        )
        squares = np.stack([to_array(pair_weights(traces["triples"], place)) for place in range(len(numbers))])
        labels = [f"{number} asks" for number in numbers]
        ramp = weights_ramp(int(_allowed_pairs(traces["triples"], query).sum()), 1.0)
        chart = contact_sheet(squares, labels, ramp, title="weight", columns=4, size=120)
        draw_chart(chart, width="content", alt="One square of weights over all pairs for every query")
    with alone:
        section("The same query, looking at single others", Role.WEIGHTS)
        row = to_array(traces["pairs"].weights(0, [query]))
        others = np.where(np.arange(row.shape[1]) == query, np.nan, row)
        axes = Axis("query", [str(numbers[query])]), Axis("single others", [*map(str, numbers), "nobody"])
        ramp = weights_ramp(len(numbers), float(row.max()))
        chart = matrix_chart(others, *axes, Role.WEIGHTS, title="weight", size=SIZE, ramp=ramp)
        draw_chart(chart, width="content", alt="The pairwise head's weights of the same query")
        st.caption(
            "*Single others*: each of the other numbers by itself; *nobody* is there for who finds none. "
            "Looking at one number at a time can only guess: the answer depends on a second number that this score "
            "never sees together with the first."
        )


def accuracies() -> None:
    """Draw both heads' accuracies from their cards, and on fresh sequences when asked."""
    triples, pairs = (read_card(file) for file in HEADS.values())
    first, second, third = st.columns(3)
    first.metric("Looks at two others at once", f"{triples['test_accuracy']:.1%}")
    second.metric("Looks at one other at a time", f"{pairs['test_accuracy']:.1%}")
    third.metric("Always the commoner answer", f"{triples['majority_share']:.1%}")
    st.caption(
        f"Share of right answers on {triples['test_numbers']:,} numbers that no head was trained on. Both heads have "
        f"{triples['parameters']:,} parameters, the same projections and the same read-out, and saw the same "
        f"{triples['batches']:,} batches."
    )
    if st.button(f"Try {N_FRESH:,} new sequences", key="groups_fresh"):
        DRAW.value += 1
    if DRAW.value:
        of_triples, of_pairs = (fresh_accuracy(file, N_FRESH, DRAW.value) for file in HEADS.values())
        st.markdown(f"Draw {DRAW.value}: two at once **{of_triples:.2%}**, one at a time **{of_pairs:.2%}**.")
