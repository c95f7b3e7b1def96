"""Change the rules: tables to type into, and how they are scored, masked and split into heads."""

import html
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import pandas as pd
import streamlit as st

from attention_core.attention.scores import SCORES
from attention_core.attention.types import Role
from attention_core.topics.vectors.problem import (
    MASKS,
    MAX_COLUMNS,
    MAX_ROWS,
    SCALES,
    TABLES,
    Fault,
    Mode,
    read_otherwise,
)
from attention_core.topics.vectors.tables import TableError, read_csv
from ui.inside_streamlit import growing_table
from ui.labels import error_markdown
from ui.layout import role_colour
from ui.state import Field, expander, is_mounted, set_widget, single_choice, widget_value
from ui.vectors.problem import (
    CELLS,
    DRAWN,
    EDITORS,
    LABELLED,
    LABELS,
    MODE,
    NAME,
    NOTES,
    SETTINGS,
    change_mode,
    cut_to_bounds,
    read_problem,
    resize,
    settings,
    sizes,
    write_table,
)

RULES = Field(NAME, "rules", False, address="rules")
"""Whether the rules are open."""
MODES = {Mode.SELF: "X and projections", Mode.CROSS: "X asks Y", Mode.DIRECT: "Q, K, V"}
WHAT = {
    "X": (Role.INPUT, "inputs"),
    "Y": (Role.INPUT, "the other inputs"),
    "Q": (Role.QUERY, "queries"),
    "K": (Role.KEY, "keys"),
    "V": (Role.VALUE, "values"),
    "W_Q": (Role.QUERY, ""),
    "W_K": (Role.KEY, ""),
    "W_V": (Role.VALUE, ""),
    "W_O": (Role.OUTPUT, ""),
}
SIZE_WORDS = {
    "n_queries": "Rows that ask",
    "n_keys": "Rows that are asked",
    "d_model": "Columns of X",
    "d_memory": "Columns of Y",
    "d_k": "d_k (queries, keys)",
    "d_v": "d_v (values)",
}
SCALE_WORDS = {"none": "none", "sqrt(d_k)": "÷ √dₖ", "free": "free"}
MASK_WORDS = {"none": "none", "causal": "causal", "padding": "padding", "drawn": "hand-drawn"}
MAX_DRAWN = 64
ROW_HEIGHT, HEADER_HEIGHT, MAX_HEIGHT = 29, 36, 300
LABEL = "name"
WIDEST = 6
"""Columns up to which tables stand side by side."""
ERROR_ICON = ":material/error:"
PASTE, TARGET = Field(NAME, "paste", "", address="paste"), Field(NAME, "target", "", address="target")
MOUNTED = Field(NAME, "mounted", 0)
"""Editors that were shown: each has a key of its own."""


def rules() -> None:
    """Draw everything that can be changed; nothing of it is drawn while it is closed."""
    folded = expander("Change the rules", RULES)
    if not folded.open:
        return
    with folded:
        _choices()
        _settings()
        _tables(TABLES[Mode(MODE.value)])
        _parameters(settings().parameter_names)
        if SETTINGS["mask"].value == "drawn":
            _drawn_mask()


def tell_faults(faults: list[Fault]) -> None:
    """Say what is wrong with what was typed, and what came of the last paste."""
    for refused, words in NOTES.value:
        if refused:
            st.error(error_markdown(words), icon=ERROR_ICON)
        else:
            st.info(error_markdown(words))
    for fault in faults:
        st.error(error_markdown(fault.message), icon=ERROR_ICON)
    if faults:
        st.caption("Shown: the last input that could be computed. What you typed is kept.")
    if any(len(fault.tables) > 1 or fault.tables == ("W_O",) for fault in faults):
        words = "Cuts or fills with the identity; keeps the rest."
        st.button("Make the tables fit", key="vectors_fit", on_click=lambda: resize(sizes()), help=words)


def _choices() -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        taken = {"on_change": change_mode, "args": (MODE.value,)}
        single_choice("What is given", MODE, MODES, label_visibility="collapsed", **taken)
        with st.popover("Size"):
            _sizes()
        with st.popover("Paste"):
            _paste()


def _settings() -> None:
    """Draw scoring function, scale, temperature, mask, softmax and heads."""
    widths = [1, 1.1, 1.1, 1.05, 1, 0.7]
    first, second, third, fourth, fifth, sixth = st.columns(widths, gap="small", vertical_alignment="bottom")
    SETTINGS["scoring"].widget(first.selectbox, "Score", list(SCORES))
    SETTINGS["scale"].widget(second.selectbox, "Scale", SCALES, format_func=SCALE_WORDS.get)
    if SETTINGS["scale"].value == "free":
        SETTINGS["factor"].widget(second.number_input, "Factor", -100.0, 100.0, step=0.1)
    SETTINGS["temperature"].widget(third.slider, "Temperature", 0.05, 5.0, step=0.05)
    SETTINGS["mask"].widget(fourth.selectbox, "Mask", MASKS, format_func=MASK_WORDS.get)
    if SETTINGS["mask"].value == "padding":
        SETTINGS["n_padding"].widget(fourth.number_input, "Padding keys", 0, MAX_ROWS)
    SETTINGS["softmax"].widget(fifth.toggle, "Softmax", help="Off: (Q Kᵀ) V, the scores weigh the values.")
    SETTINGS["n_heads"].widget(sixth.number_input, "Heads", 1, 16)


def _sizes() -> None:
    for name, value in sizes().items():
        key, most = f"vectors_size_{name}", MAX_ROWS if name.startswith("n_") else MAX_COLUMNS
        set_widget(key, min(value, most))
        st.number_input(SIZE_WORDS[name], 1, most, key=key, on_change=_take_sizes)
    st.caption("Tables that share a size change together. Rows can also be added and deleted in the tables.")


def _take_sizes() -> None:
    resize({name: int(widget_value(f"vectors_size_{name}")) for name in sizes()})


def _paste() -> None:
    target = single_choice("Table", TARGET, TABLES[Mode(MODE.value)])
    look = {"height": 110, "placeholder": "1\t0.5\n-0.5\t1", "persist_state": "session"}
    st.text_area("Paste from a spreadsheet, or type", key=PASTE.key, **look)
    st.button(f"Put it into {target}", key="vectors_paste_button", on_click=_take_paste, args=(target,))


def _take_paste(target: str) -> None:
    try:
        table = read_csv(PASTE.value.encode())
        write_table(target, table.values, table.labels)
        NOTES.value = [(False, f"{target}: {note}") for note in table.notes]
    except TableError as error:
        NOTES.value = [(True, f"{target} stays as it was. {error}")]


def _tables(names: tuple[str, ...]) -> None:
    """Draw tables side by side, each as wide as its columns need; wide ones below each other."""
    if max(len(CELLS.value[name][0]) for name in names if CELLS.value[name]) > WIDEST:
        places = [st.container() for _ in names]
    else:
        places = st.columns([1.6 if name in LABELLED else 1 for name in names], gap="small")
    for name, place in zip(names, places, strict=True):
        with place:
            _table(name)


def _parameters(names: tuple[str, ...]) -> None:
    """Draw the tables of the scoring function's own parameters, or offer to."""
    if any(name in CELLS.value for name in names):
        _tables(names)
        st.button("Back to identities and ones", key="vectors_plain_parameters", on_click=_take_away, args=(names,))
    elif names:
        problem, _ = read_problem()
        plain = {} if problem is None else problem.parameters()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("The score's own parameters are identities and ones.")
            st.button("Edit them", key="vectors_own_parameters", on_click=_put_all, args=(plain,), disabled=not plain)


def _table(name: str) -> None:
    cells, plain = CELLS.value[name], name.split(".")[-1]
    role, words = WHAT.get(name, (Role.SCORES, "of the score"))
    shape = f"{len(cells)} × {len(cells[0]) if cells else 0}"
    st.html(
        f'<p style="margin:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis">'
        f'<b style="color:{role_colour(role)};font-size:1.05rem">{html.escape(plain)}</b> '
        f'<span style="opacity:.7;font-size:.85rem">{html.escape(words)} {shape}</span></p>'
    )
    _matrix_editor(name, f"{plain}: {words}")
    if cut_to_bounds(name):
        st.rerun()
    if otherwise := read_otherwise(CELLS.value[name]):
        st.caption(f"{plain}, {otherwise}")


def _matrix_editor(name: str, words: str) -> None:
    """Draw an editable table; what is typed goes into the cells as texts, and the first column into the labels."""
    key, base = _mounted(name, lambda: _frame(name))
    grows = name in ("X", "Y", "Q", "K", "V")
    numbers = [column for column in base.columns if column != LABEL]
    width = "small" if len(numbers) > 4 else None
    config = {column: st.column_config.TextColumn(column, default="0", width=width) for column in numbers}
    config[LABEL] = st.column_config.TextColumn("", width=74, default="", max_chars=40)
    with growing_table() if grows else nullcontext():
        edited = st.data_editor(
            base,
            key=key,
            num_rows="dynamic" if grows else "fixed",
            hide_index=True,
            column_config=config,
            row_height=ROW_HEIGHT,
            height=min(HEADER_HEIGHT + ROW_HEIGHT * (len(base) + grows) + 3, MAX_HEIGHT),
            width="stretch",
            alt=words,
        )
    edited = edited.fillna("").astype(str)
    CELLS.value[name] = edited[numbers].to_numpy().tolist()
    if name in LABELLED:
        LABELS.value[name] = edited[LABEL].tolist()


def _mounted(name: str, make: Callable[[], pd.DataFrame]) -> tuple[str, pd.DataFrame]:
    """Return the key of an editor's widget and the frame that it started from: make()'s on entering the page.

    Streamlit drops an editor's state when its page is left; a new key lays nothing of its earlier life over the frame.
    """
    editor = EDITORS.value.get(name)
    if editor is None or not is_mounted(editor["key"]):
        MOUNTED.value += 1
        editor = EDITORS.value[name] = {"key": f"vectors_{name}_{MOUNTED.value}", "frame": make()}
    return editor["key"], editor["frame"]


def _frame(name: str) -> pd.DataFrame:
    cells = CELLS.value[name]
    columns = [str(place + 1) for place in range(len(cells[0]) if cells else 1)]
    frame = pd.DataFrame(cells, columns=columns, dtype=object)
    if name in LABELLED:
        labels = [*LABELS.value.get(name, []), *[""] * len(cells)]
        frame.insert(0, LABEL, pd.Series(labels[: len(cells)], dtype=object))
    return frame


def _put_all(tables: dict[str, np.ndarray]) -> None:
    for name, table in tables.items():
        write_table(name, table)


def _take_away(names: tuple[str, ...]) -> None:
    for name in names:
        CELLS.value.pop(name, None)
        EDITORS.value.pop(name, None)


def _drawn_mask() -> None:
    """Draw the mask as boxes to tick: who may see whom."""
    problem, _ = read_problem()
    if problem is None:
        return
    mask = problem.mask()
    if max(mask.shape) > MAX_DRAWN:
        st.info(f"A mask is drawn by hand for up to {MAX_DRAWN} rows; the part drawn so far stays.")
        return
    queries, keys = problem.row_labels(problem.query_table), problem.row_labels(problem.key_table)
    columns = [str(place) for place in range(len(keys))]
    base = pd.DataFrame(mask, columns=columns)
    base.insert(0, "asks", list(queries))
    key, frame = _mounted(f"drawn_{len(queries)}_{len(keys)}", lambda: base)
    st.caption("Ticked: this row (query) may see that column (key).")
    boxes = {column: st.column_config.CheckboxColumn(label) for column, label in zip(columns, keys, strict=True)}
    edited = st.data_editor(
        frame,
        key=key,
        hide_index=True,
        disabled=["asks"],
        column_config=boxes | {"asks": st.column_config.TextColumn("")},
        row_height=28,
        height=min(36 + 28 * len(frame) + 3, 300),
        alt="The mask: who may see whom",
    )
    new = edited[columns].to_numpy(dtype=bool)
    if (new != mask).any():
        old = new if DRAWN.value is None else DRAWN.value  # its rows and columns beyond the new one stay
        whole = np.ones(np.maximum(old.shape, new.shape), dtype=bool)
        whole[: old.shape[0], : old.shape[1]] = old
        whole[: new.shape[0], : new.shape[1]] = new
        DRAWN.value = whole
