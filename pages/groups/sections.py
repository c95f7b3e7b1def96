"""The party: guests, whose lock opens, who looks at whom; below it steps, accuracies, all weights, weights changed."""

import secrets
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Axis, Step
from attention_core.attention.key_pairs import pair_scores, pair_weights
from attention_core.attention.wording import format_count, percent
from attention_core.charts import weights_ramp
from attention_core.charts.matrix import pair_axes
from attention_core.charts.pictures import contact_sheet
from attention_core.data.match3 import FIRST_NUMBERS, MODULUS, fresh_sequences, matching_pairs, read_numbers
from attention_core.device import to_array
from attention_core.models.match3 import Match3Head
from attention_core.weights import read_card
from pages.groups.charts import party_chart
from pages.groups.guests import MISSED, WRONG, Guest, guests_of, looks_of
from ui import edits as by_hand
from ui.chart import clickable, draw_chart
from ui.computed import by_model
from ui.fragments import with_rerun
from ui.labels import error_markdown, note
from ui.player import Stepper, StepStyle, show_all_numbers, show_numbers, step_of
from ui.state import Field, one_of, single_choice, whole_number
from ui.try_this import GUESSING, TRY_STAGE, TryThis

NAME = "groups"
HEADS = {"pairs": "match3-pairwise", "triples": "match3-simplicial"}
HEAD_WORDS = {"pairs": "One guest at a time", "triples": "Two guests at once"}
NAMES: tuple[str, ...] = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo")
NAMES += ("Ines", "Jan", "Kim", "Leo", "Mia", "Noa", "Otto", "Pia")
SIZE = 430


def _readable(text: str) -> list[int]:
    return read_numbers(text).numbers or NUMBERS.value


def written(numbers: Sequence[int], between: str = " ") -> str:
    """Return numbers as a person types them."""
    return between.join(map(str, numbers))


NUMBERS = Field(NAME, "numbers", list(FIRST_NUMBERS))
TEXT = Field(
    NAME,
    "text",
    written(FIRST_NUMBERS),
    address="numbers",
    parse=lambda text: written(read_numbers(text.replace("-", " ")).numbers or FIRST_NUMBERS),
    text=lambda text: written(_readable(text), "-"),
)
SHOWS_NUMBERS = Field(NAME, "shows", False, address="shows")
QUERY = Field(NAME, "query", -1, address="query", parse=whole_number)
HEAD = Field(NAME, "head", "triples", address="head", parse=one_of(HEADS))
STEPS = Stepper(NAME)


def guest_numbers() -> list[int]:
    """Return the guests' numbers; where the typed ones cannot be read, the last ones."""
    NUMBERS.value = _readable(TEXT.value)
    return NUMBERS.value


def type_numbers() -> None:
    if not SHOWS_NUMBERS.widget(st.toggle, "Choose the numbers"):
        return
    TEXT.widget(st.text_input, f"Your numbers, 0 to {MODULUS - 1}", max_chars=200, on_change=QUERY.reset)
    sequence = read_numbers(TEXT.value)
    if not sequence.numbers:
        st.error(f"{error_markdown(sequence.remark)} The guests before stay.", icon=":material/error:")
    elif sequence.remark:
        st.info(sequence.remark)


def choose_query(numbers: list[int]) -> int:
    """Draw the choice of a guest, at first one whose lock can be opened; return their index."""
    queries = range(len(numbers))
    QUERY.clamp_to_options(queries, next((query for query in queries if matching_pairs(numbers, query)), 0))
    with st.container(key="desk_groups_lock"):
        return single_choice("Whose lock", QUERY, dict(enumerate(NAMES[: len(numbers)])), wrap=True)


def rule(numbers: list[int], query: int) -> str:
    """Say which keys open the chosen guest's lock."""
    pairs = matching_pairs(numbers, query)
    if not pairs:
        return f"{NAMES[query]}'s lock does not open to any two keys."
    keys = [" and ".join(NAMES[guest] for guest in pair) for pair in pairs[:2]]
    remainder = f", or of {format_count(len(pairs) - 2, 'other pairs')}" if len(pairs) > 2 else ""
    terms = [numbers[guest] for guest in (query, *pairs[0])]
    total = f"{' + '.join(map(str, terms))} = {sum(terms)}"
    return (
        f"{NAMES[query]}'s lock opens to the keys of **{'**, or of **'.join(keys)}**{remainder}: the numbers of all "
        f"three add up to a multiple of {MODULUS}, {total}."
    )


def draw_party(head: str, trace: AttentionTrace, numbers: list[int], query: int) -> None:
    """Draw what one head says of the locks, and whom the chosen guest looks at."""
    names, looks = NAMES[: len(numbers)], to_array(looks_of(trace, query))
    guests = guests_of(trace, numbers, [f"{name} {number}" for name, number in zip(names, numbers, strict=True)])
    n_opened, n_open, n_alarms = _count(guests)
    st.html(f'<p class="opened">{HEAD_WORDS[head]} <b>{n_opened} of {n_open}</b> locks opened</p>')
    first, second = np.unravel_index(looks.argmax(), looks.shape)
    if first != second:
        keys = f"the keys of {names[first]} and {names[second]} together"
    else:
        keys = f"the key of {names[first]} alone" if first < len(names) else "no key"
    caption = (
        f"{names[query]} tries {keys}: {percent(float(looks.max()))} of the attention.{_alarms(n_alarms, ' ', '.')}"
    )
    tried = sorted({int(first), int(second)} & set(range(len(names))) - {query})
    chart = party_chart(guests, query, looks[:-1, :-1], tried, head == "pairs")
    alt = f"{HEAD_WORDS[head]}: the guests in a circle, and at whom the chosen one looks; click another"
    clicks = clickable(f"groups_party_{head}", "guest", lambda clicked: QUERY.set(int(clicked["guest"])))
    draw_chart(chart, width="content", alt=alt, **clicks)
    st.caption(caption)


def _count(guests: Sequence[Guest]) -> tuple[int, int, int]:
    """Return how many locks are rightly opened, how many can be opened, and how many are wrongly called open."""
    faults = [guest.fault for guest in guests]
    n_open = sum(guest.can_open for guest in guests)
    return n_open - faults.count(MISSED), n_open, faults.count(WRONG)


def _alarms(n_alarms: int, before: str, after: str = "") -> str:
    return f"{before}{n_alarms} wrongly called open{after}" if n_alarms else ""


def surprise(numbers: list[int], traces: dict[str, AttentionTrace]) -> TryThis:
    """Return the page's surprise: other guests, drawn at random."""

    def invite() -> None:
        if TRY_STAGE[NAME].value == GUESSING:
            return  # they are there, and the question is about them
        while not (guests := fresh_sequences(1, secrets.randbelow(2**31))).labels.any():
            pass
        TEXT.value = written(guests.numbers[0].tolist())
        QUERY.reset()

    def outcome() -> tuple[int, str]:
        parties = {head: guests_of(traces[head], numbers, NAMES[: len(numbers)]) for head in HEADS}
        counts = {head: _count(party) for head, party in parties.items()}
        pairs_right, triples_right = (n_opened == n_open for n_opened, n_open, _ in counts.values())
        sentences = (
            f"{HEAD_WORDS[head]} opens {n} of {n_open} locks{_alarms(n_alarms, ', ')}"
            for head, (n, n_open, n_alarms) in counts.items()
        )
        return pairs_right + 2 * triples_right, ". ".join(sentences) + "."

    return TryThis(
        "Invite eight new guests",
        "Eight new guests: who opens every lock that can be opened?",
        ("Neither", *HEAD_WORDS.values(), "Both"),
        invite,
        outcome,
        "groups_party",
        hides=".st-key-groups_party [data-testid=stColumn]",
    )


def groups_steps(traces: dict[str, AttentionTrace], query: int, numbers: list[int]) -> None:
    head = single_choice("Looks at", HEAD, HEAD_WORDS)
    trace = traces[head]
    key_note = " Each key is a pair of others." if head == "triples" else ""
    guests_note = f"Guests are their numbers; {NAMES[query]} is {numbers[query]}.{key_note}"
    show_all_numbers(
        trace,
        STEPS,
        f"{NAME}_{head}",
        query=query,
        style_of=lambda step: None if step.col_axis.grid else StepStyle(query, size=SIZE),
        on_query=QUERY.set,
        below_text=lambda _: note(guests_note),
        below_picture=lambda step: _pairs_of_query(trace, step, query, numbers),
    )


def _pairs_of_query(trace: AttentionTrace, step: Step, query: int, numbers: list[int]) -> None:
    """Draw the numbers of a query's pairs, of a step that has some."""
    if not step.col_axis.grid:
        return
    values, n_keys = to_array(step.value(0, [query]).float()).reshape(step.col_axis.grid), 0
    if step.name == "weights":
        visible = np.isfinite(to_array(pair_scores(trace, query)))
        values, n_keys = np.where(visible, values, np.nan), int(visible.sum())
    pairs = matching_pairs(numbers, query)
    either_order = sorted({pair for row, col in pairs for pair in ((row, col), (col, row))})
    rows, columns = pair_axes(Axis("pair", [*map(str, numbers), "nobody"]))
    title = f"{step.title} of query {numbers[query]}"
    matrix = {"title": title, "role": step.role, "row_axis": rows, "col_axis": columns}
    show_numbers(trace, values, f"{NAME}_pairs", StepStyle(size=SIZE, framed=either_order, n_keys=n_keys), matrix)
    sums = " and ".join(f"{numbers[first]} + {numbers[second]}" for first, second in pairs[:4])
    sums += f" and {format_count(len(pairs) - 4, 'other pairs')}" if len(pairs) > 4 else ""
    rule = f"a multiple of {MODULUS}"
    sentence = f"Framed: {sums}. Together with {numbers[query]} {'each' if len(pairs) > 1 else 'it'} gives {rule}."
    note(sentence if pairs else f"No two others give {rule} together with {numbers[query]}.")


def all_weights(trace: AttentionTrace, numbers: list[int]) -> None:
    """Draw the n x n x n weights as one small square per guest."""
    st.caption("One square for each guest; row and column are two others, the last means nobody.")
    squares = np.stack([to_array(pair_weights(trace, query)) for query in range(len(numbers))])
    ramp = weights_ramp(int(np.isfinite(to_array(pair_scores(trace, 0))).sum()))
    chart = contact_sheet(squares, NAMES[: len(numbers)], ramp, title="weight", columns=4, size=150)
    draw_chart(chart, width="content", alt="One square of weights over all pairs for every guest")


def accuracies() -> None:
    pairs, triples = (read_card(file) for file in HEADS.values())
    shares = pairs["test_accuracy"], triples["test_accuracy"], triples["majority_share"]
    labels = *HEAD_WORDS.values(), "Always the commoner answer"
    for column, label, share in zip(st.columns(3), labels, shares, strict=True):
        column.metric(label, percent(share))
    st.caption(f"{triples['test_numbers']:,} new locks. Both heads are equally large and saw the same examples.")


EDITS = by_hand.EditList(NAME)
ANSWERS = ("stays shut", "opens")
_trace = by_model(Match3Head.trace)


def heads_as_changed(numbers: list[int]) -> dict[str, AttentionTrace]:
    """Return the traces of both heads over the numbers, with the edits that fit."""
    traces = {head: _trace(model, numbers) for head, model in HEADS.items()}
    fitting = {head: EDITS.fitting(trace, head, written(numbers)) for head, trace in traces.items()}
    return {
        head: _trace(HEADS[head], numbers, edits=edits) if edits else traces[head] for head, edits in fitting.items()
    }


def try_tab(traces: dict[str, AttentionTrace], numbers: list[int], query: int) -> None:
    """Draw the chosen guest's weights, which can be changed, and the head's answer before and after."""
    head = single_choice("Looks at", HEAD, HEAD_WORDS)
    trace, names = traces[head], NAMES[: len(numbers)]
    left, right = st.columns(2, gap="large")
    with left:
        row = by_hand.WeightsRow(
            EDITS, trace, [query], 0, head, written(numbers), f"{HEAD_WORDS[head]}: ", names[query]
        )
        pair_axis = Axis("pair", [*names, "nobody"]) if trace.story.key_axis.grid else None
        by_hand.matrix_editor(row, with_rerun(QUERY.set), _keys(trace, names, query), pair_axis=pair_axis)
    with right:
        traces_of_head = _trace(HEADS[head], numbers), trace
        learned, changed = (step_of(each, "answer").value()[query].tolist() for each in traces_of_head)
        by_hand.show_outcome(ANSWERS, learned, changed)
        if not pair_axis:
            by_hand.show_weights_difference(NAME, *traces_of_head)
        elif trace.edits:
            change, colours = by_hand.difference(*(to_array(trace.weights(0, [query])) for trace in traces_of_head))
            (rows, columns), grid = pair_axes(pair_axis), trace.story.key_axis.grid
            by_hand.show_change(NAME, trace, change.reshape(grid), colours, row_axis=rows, col_axis=columns)
            by_hand.write_moved_share(change)


def _keys(trace: AttentionTrace, names: Sequence[str], query: int) -> dict[tuple[int, ...], str]:
    """Return the names of a guest's keys, by index: other guests, or two of them in either order, and nobody."""
    guests, n = [guest for guest in range(len(names)) if guest != query], len(names)
    if trace.story.key_axis.grid is None:
        single: dict[tuple[int, ...], str] = {(guest,): names[guest] for guest in guests}
        return single | {(n,): "nobody"}
    pairs = [(first, second) for first in guests for second in guests if first < second]
    return {
        (first * (n + 1) + second, second * (n + 1) + first): f"{names[first]} + {names[second]}"
        for first, second in pairs
    } | {(n * (n + 2),): "nobody"}
