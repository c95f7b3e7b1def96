"""The party: guests, whose lock opens, and who looks at whom."""

import secrets
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_core import AttentionTrace
from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.data.match3 import FIRST_NUMBERS, MODULUS, fresh_sequences, matching_pairs, read_numbers
from attention_core.device import to_array
from attention_core.models.match3 import Match3Head
from pages.groups.guests import MISSED, WRONG, Guest, guests_of, looks_of
from ui.chart import note_picture
from ui.component import component
from ui.computed import by_model, card_or_empty
from ui.edits import EditList
from ui.fragments import with_rerun
from ui.labels import error_markdown
from ui.layout import bar_rows, section
from ui.player import Stepper
from ui.state import Field, component_message, one_of, single_choice, whole_number
from ui.try_this import TryThis, is_answered, try_this

NAME = "groups"
HEADS = {"pairs": "match3-pairwise", "triples": "match3-simplicial"}
HEAD_WORDS = {"pairs": "One key", "triples": "Two keys"}
LARGER, TWICE, NO_KEY = "One key, larger layer", "One key, two layers", "Always say shut"
STACKS = {LARGER: "match3-one-layer", TWICE: "match3-two-layers"}
NEW_LOCKS = "Right of {:,} new locks, open or shut"
JUDGED_BOUNDS = 0.65, 0.95
"""The most that each answer to the guess but the last is right for."""
NETWORKS = {HEAD_WORDS["pairs"]: HEADS["pairs"], TWICE: STACKS[TWICE], HEAD_WORDS["triples"]: HEADS["triples"]}
"""Files by names for people."""
NAMES: tuple[str, ...] = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo")
NAMES += ("Ines", "Jan", "Kim", "Leo", "Mia", "Noa", "Otto", "Pia")


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
EDITS = EditList(NAME)
HAS_GUESSED = Field(NAME, "has_guessed", False)
"""Whether a visitor has been told what two layers of single keys do."""
_trace = by_model(Match3Head.trace)
_party = component("party", folder="pages/groups")


def guest_numbers() -> list[int]:
    """Return the guests' numbers; where the typed ones cannot be read, the last ones."""
    NUMBERS.value = _readable(TEXT.value)
    return NUMBERS.value


def type_numbers() -> None:
    """Draw a switch, and below it the box of the numbers."""
    if SHOWS_NUMBERS.widget(st.toggle, "Choose the numbers"):
        draw_numbers_box()


def draw_numbers_box() -> None:
    """Draw the box of the numbers, and what cannot be read of them."""
    TEXT.widget(st.text_input, f"Your numbers, 0 to {MODULUS - 1}", max_chars=200, on_change=QUERY.reset)
    sequence = read_numbers(TEXT.value)
    if not sequence.numbers:
        st.error(f"{error_markdown(sequence.remark)} The guests before stay.", icon=":material/error:")
    elif sequence.remark:
        st.info(sequence.remark)


def clamp_query(numbers: list[int]) -> int:
    """Return the chosen guest's index, at first that of one whose lock can be opened."""
    queries = range(len(numbers))
    return QUERY.clamp_to_options(queries, next((query for query in queries if matching_pairs(numbers, query)), 0))


def choose_query(numbers: list[int]) -> int:
    """Draw the choice of a guest, at first one whose lock can be opened; return their index."""
    clamp_query(numbers)
    with st.container(key="desk_groups_lock"):
        return single_choice("Whose lock", QUERY, dict(enumerate(NAMES[: len(numbers)])), wrap=True)


def draw_party(traces: dict[str, AttentionTrace], numbers: list[int], query: int) -> None:
    """Draw the party around the chosen guest's lock, how many locks each head opens, and how often it is right."""
    names = NAMES[: len(numbers)]
    parties = {head: guests_of(trace, numbers, names) for head, trace in traces.items()}
    (n_single, n_open, n_alarms), (n_both, _, n_false) = map(_count, parties.values())
    alarms = [f", and calls {n} shut lock{'s' * (n > 1)} open" if n else "" for n in (n_alarms, n_false)]
    if not is_answered(NAME):
        single = f"One key finds <b>{n_single} of {n_open}</b> locks that open{alarms[0]}."
        st.html(f'<p class="opened">{single} Two at once: <b>{n_both} of {n_open}</b>{alarms[1]}</p>')
    weights = to_array(looks_of(traces["triples"], query))
    heaviest = {*map(int, np.unravel_index(weights.argmax(), weights.shape))} & set(range(len(numbers)))
    tried = sorted(heaviest - {query})
    data = {
        "names": names,
        "numbers": numbers,
        "query": query,
        "tried": tried,
        "share": float(weights.max()),
        "opens": parties["triples"][query].is_opened,
        "ringed": [index for index, guest in enumerate(parties["triples"]) if guest.can_open],
        "says": [_say(head, parties[head][query], tried, numbers, query) for head in HEADS],
    }
    widths = [1, 1.2] if is_answered(NAME) else [1.7, 1]
    left, right = st.columns(widths, gap="large", vertical_alignment="center")
    with left:
        _party(key="groups_scene", data=data, default={"chosen": None}, on_chosen_change=with_rerun(_on_choose))
    with right:
        with st.container(key="groups_bars"):
            _draw_bars()
        try_this(NAME, surprise())


def _on_choose() -> None:
    guest = (component_message("groups_scene", "chosen") or {}).get("guest")
    if isinstance(guest, int) and 0 <= guest < len(NUMBERS.value):
        QUERY.value = guest


def _say(head: str, guest: Guest, tried: list[int], numbers: list[int], query: int) -> str:
    """Say what a head answers of a guest's lock, and whether it is right."""
    luck = ", by luck" if guest.is_opened and head == "pairs" else ""
    shut = "shut, as no two open it" if head == "triples" else "shut"
    verdict = {MISSED: "shut, though two would open it", WRONG: "open, which is wrong"}.get(
        guest.fault, f"open{luck}" if guest.is_opened else shut
    )
    terms = [numbers[guest] for guest in (query, *tried)]
    added = f"{' + '.join(map(str, terms))} = {sum(terms)}, " if head == "triples" and len(tried) == 2 else ""
    return f"{HEAD_WORDS[head]}: {added}{verdict}."


def _draw_bars() -> None:
    """Draw how many new locks each network judges rightly; of two layers only once a visitor has guessed."""
    HAS_GUESSED.value |= is_answered(NAME)
    cards = {name: card_or_empty(file) for name, file in NETWORKS.items()}
    majority, n_locks = (next(iter(cards.values())).get(name, 0) for name in ("majority_share", "test_numbers"))
    shares = {NO_KEY: majority} | {name: card.get("test_accuracy", 0.0) for name, card in cards.items()}
    if not HAS_GUESSED.value:
        shares[TWICE] = None
    section(NEW_LOCKS.format(n_locks))
    colour, drawn = ROLE_COLOURS[Role.QUERY], {name: share for name, share in shares.items() if share is not None}
    note_picture(partial(bar_table, [*drawn], {"right": [*drawn.values()]}, [colour]), NEW_LOCKS.format(n_locks))
    prices = {name: f": {card.get('parameters', 0):,} learned numbers" for name, card in cards.items()}
    labels = {name: name + prices.get(name, "") * is_answered(NAME) for name in shares}
    st.html(bar_rows((labels[name], share, GREY if name == NO_KEY else colour) for name, share in shares.items()))


def _count(guests: Sequence[Guest]) -> tuple[int, int, int]:
    """Return how many locks are rightly opened, how many can be opened, and how many are wrongly called open."""
    faults = [guest.fault for guest in guests]
    n_open = sum(guest.can_open for guest in guests)
    return n_open - faults.count(MISSED), n_open, faults.count(WRONG)


def invite_guests() -> None:
    """Let other guests come, drawn at random, of whom some locks can be opened."""
    while not (guests := fresh_sequences(1, secrets.randbelow(2**31))).labels.any():
        pass
    TEXT.value = written(guests.numbers[0].tolist())
    QUERY.reset()


def surprise() -> TryThis:
    """Return the page's surprise: what two layers of single keys can do, and at what cost."""

    def outcome() -> tuple[int, str]:
        deep = card_or_empty(STACKS[TWICE])
        accuracy = deep.get("test_accuracy", 0.0)
        times = deep.get("parameters", 0) / card_or_empty(HEADS["triples"]).get("parameters", 1)
        price = f"with {times:.0f} times as many learned numbers as two keys at once"
        return bisect_left(JUDGED_BOUNDS, accuracy), f"{percent(accuracy)} of new locks, {price}."

    return TryThis(
        "give single keys a second layer",
        "Can two layers do it, each with one key at a time?",
        ("No better than one layer", "Somewhat better", "Yes, nearly always"),
        None,
        outcome,
        "groups_party",
    )


def trace_as_learned(head: str, numbers: list[int]) -> AttentionTrace:
    """Return the trace of a head over the numbers, without edits."""
    return _trace(HEADS[head], numbers)


def heads_as_changed(numbers: list[int]) -> dict[str, AttentionTrace]:
    """Return the traces of both heads over the numbers, with the edits that fit."""
    traces = {head: trace_as_learned(head, numbers) for head in HEADS}
    fitting = {head: EDITS.fitting(trace, head, written(numbers)) for head, trace in traces.items()}
    return {
        head: _trace(HEADS[head], numbers, edits=edits) if edits else traces[head] for head, edits in fitting.items()
    }
