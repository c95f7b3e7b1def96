"""What a visitor typed into the workbench, how it is drawn, and the problem that it makes."""

import html
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.attention.scores import SCORES
from attention_core.attention.types import Role
from attention_core.bounds import TABLE_BYTES
from attention_core.data.drawing import draw_paths, prepare
from attention_core.data.presets import preset_paths
from attention_core.device import to_array
from attention_core.packed import pack, unpack
from attention_core.topics.vectors.presets import (
    PIXELS,
    PIXELS_LINE,
    PIXELS_TITLE,
    PRESETS,
    SIZES,
    in_mode,
    pixel_problem,
    randomised,
    resize_cells,
    spread_positions,
)
from attention_core.topics.vectors.problem import (
    MASKS,
    MAX_COLUMNS,
    MAX_ROWS,
    SCALES,
    TABLES,
    Fault,
    Mode,
    Problem,
    Settings,
    find_faults,
    parse_cells,
    read_otherwise,
    trace_of,
)
from attention_core.topics.vectors.tables import (
    TableError,
    linked_cells,
    linked_labels,
    linked_mask,
    linked_problem,
    read_csv,
    read_npz,
    write_csv,
    write_npz,
)
from ui.computed import cached_computation, model_or_none
from ui.digits import read_digit
from ui.inside_streamlit import growing_table
from ui.labels import error_markdown
from ui.layout import role_colour
from ui.player import Stepper
from ui.skeleton import explain
from ui.state import Field, as_text, between, is_mounted, one_of, set_widget, single_choice, whole_number, widget_value

NAME = "vectors"
FIRST = "pairs"
DIGIT, CANVAS_SIDE, PEN = 7, 256, 20
"""As on the digit page when it is opened."""
LABELLED = ("X", "Y", "Q", "K")
PRESET = Field(NAME, "preset", FIRST, address="preset", parse={name: name for name in (*PRESETS, PIXELS)}.__getitem__)
LOADED = Field(NAME, "loaded", "")
"""The preset that the tables began with."""
MODE = Field(NAME, "mode", str(Mode.SELF), address="mode", parse=one_of(map(str, Mode)))
BOUNDS = {
    "scoring": one_of(SCORES),
    "scale": one_of(SCALES),
    "factor": between(-100.0, 100.0),
    "temperature": between(0.05, 5.0),
    "mask": one_of(MASKS),
    "n_padding": between(0, MAX_ROWS),
    "n_heads": between(1, 16),
}
SETTINGS = {
    name: Field(NAME, name, value, address=name, parse=BOUNDS.get(name)) for name, value in asdict(Settings()).items()
}


def _packed(read: Callable[[Any], Any], plain: Callable[[Any], Any] = lambda value: value) -> dict[str, Callable]:
    return {"parse": lambda text: read(unpack(text)), "text": lambda value: pack(plain(value))}


CELLS: Field[dict[str, list[list[str]]]] = Field(NAME, "cells", dict, address="cells", **_packed(linked_cells))
LABELS: Field[dict[str, list[str]]] = Field(NAME, "labels", dict, address="labels", **_packed(linked_labels))
DRAWN: Field[np.ndarray | None] = Field(
    NAME, "drawn", None, address="drawn", **_packed(linked_mask, lambda mask: mask.astype(int).tolist())
)
attention = cached_computation()(trace_of)
EDITORS: Field[dict[str, dict]] = Field(NAME, "editors", dict)
"""What the editors on the page started from; without an entry an editor starts anew from the cells."""
NOTES: Field[list[tuple[bool, str]]] = Field(NAME, "notes", list)
"""What to tell of the last preset, paste or file: whether it was refused, and the words."""
GOOD: Field[Problem | None] = Field(NAME, "good", None)
"""The last problem that could be computed; BEFORE: the one before the last edit."""
BEFORE: Field[Problem | None] = Field(
    NAME, "before", None, address="before", **_packed(linked_problem, Problem.to_json)
)
CELL = Field(
    NAME,
    "cell",
    lambda: {"query": 0, "key": 1, "dimension": 0},
    address="cell",
    parse=lambda text: dict(zip(CELL.default, map(whole_number, text.split(".")), strict=True)),
    text=lambda cell: as_text(list(cell.values())),
)
"""The chosen cell: the same query, key and dimension in every step."""
STEPS = Stepper(NAME, first=lambda: "scores" if PRESET.value == PIXELS else PRESETS[PRESET.value].step)


def follow_preset() -> None:
    """Put the chosen preset into the tables and the settings, unless they began with it."""
    if PRESET.value == LOADED.value and CELLS.is_preset:
        return
    NOTES.value = []
    missing = model_or_none("pixel-classifier")[1] if PRESET.value == PIXELS else ""
    if missing:
        NOTES.value = [(False, f"The digit model cannot be loaded. {missing}")]
        PRESET.value = LOADED.value or FIRST
        if LOADED.value:
            return
    LOADED.value = PRESET.value
    CELLS.value, LABELS.value, DRAWN.value, CELL.value = {}, {}, None, CELL.default
    problem = three_pixels()[0] if PRESET.value == PIXELS else PRESETS[PRESET.value].problem()
    write_problem(problem)
    GOOD.value = BEFORE.value = None
    for field in (MODE, CELLS, LABELS, DRAWN, CELL, BEFORE, *SETTINGS.values()):
        field.preset(field.value)
    if not CELLS.value.keys() >= set(TABLES[Mode(MODE.value)]):  # a link without the tables of its mode
        write_problem(problem)


def three_pixels() -> tuple[Problem, list[int]]:
    """Return three pixels of the digit page's first drawing, from its top to its foot, and their positions."""
    image = prepare(draw_paths(preset_paths(DIGIT, CANVAS_SIDE), CANVAS_SIDE, PEN)).image
    trace = read_digit(image).traces[0]
    query, key, value = (to_array(part[0]).astype(float) for part in (trace.query, trace.key, trace.value))
    positions = spread_positions(image)
    return pixel_problem(query, key, value, positions), positions


def write_problem(problem: Problem, only: Sequence[str] | None = None) -> None:
    """Write a problem's tables, or some of them, and its settings over what is typed."""
    MODE.value = str(problem.mode)
    for name in problem.tables if only is None else only:
        write_table(name, problem.tables[name], problem.row_labels(name))
    if problem.drawn is not None:
        DRAWN.value = problem.drawn
    for name, value in asdict(problem.settings).items():
        SETTINGS[name].value = value


def write_table(name: str, values: np.ndarray, labels: Sequence[str] = ()) -> None:
    _put_cells(name, [[_as_typed(float(value)) for value in row] for row in values], labels)


def _put_cells(name: str, cells: list[list[str]], labels: Sequence[str]) -> None:
    CELLS.value[name] = cells
    if name in LABELLED:
        more = [f"{name.lower()}{row + 1}" for row in range(len(labels), len(cells))]
        LABELS.value[name] = [*labels[: len(cells)], *more]
    EDITORS.value = {}


def _as_typed(value: float) -> str:
    """Return a number as a person would type it, without losing a digit."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def settings() -> Settings:
    return Settings(**{name: field.value for name, field in SETTINGS.items()})


def read_problem(chosen: Settings) -> tuple[Problem | None, list[Fault]]:
    """Return the problem that is typed, or None and what is wrong with it, table by table."""
    mode = Mode(MODE.value)
    tables, faults = {}, []
    for name in (*TABLES[mode], *chosen.parameter_names):
        if name in CELLS.value:
            tables[name], wrong = parse_cells(name.split(".")[-1], CELLS.value[name])
            faults += [Fault((name,), fault.message) for fault in wrong]
    if faults:
        return None, faults
    labels = {name: tuple(texts) for name, texts in LABELS.value.items() if name in tables}
    if mode == Mode.DIRECT and "K" in labels:
        labels["V"] = labels["K"]
    problem = Problem(mode, tables, labels, chosen, DRAWN.value)
    faults = find_faults(problem)
    return (None, faults) if faults else (problem, [])


def remember(problem: Problem) -> None:
    """Keep a problem that can be computed, and the one before the last edit; labels are no edit."""
    good = GOOD.value
    if good is not None and good.fingerprint() != problem.fingerprint():
        BEFORE.value = good
    GOOD.value = problem


def change_mode(old: str) -> None:
    """Go to the mode that the widget says, keeping the numbers as far as they have a meaning there."""
    wanted = Mode(MODE.value)
    changed = in_mode(GOOD.value or PRESETS[FIRST].problem(), wanted)
    other = [
        name
        for name in TABLES[wanted]
        if name not in TABLES[Mode(old)] or np.shape(CELLS.value[name]) != changed.tables[name].shape
    ]
    write_problem(changed, other)


def sizes() -> dict[str, int]:
    """Return how many rows and columns the tables have, by what they count (see SIZES)."""
    found: dict[str, int] = {}
    for name, (rows, columns) in SIZES[Mode(MODE.value)].items():
        cells = CELLS.value[name]
        found.setdefault(rows, max(len(cells), 1))
        found.setdefault(columns, max(len(cells[0]) if cells else 1, 1))
    return found


def resize(wanted: dict[str, int]) -> None:
    for name, (rows, columns) in SIZES[Mode(MODE.value)].items():
        cells = resize_cells(CELLS.value[name], wanted[rows], wanted[columns], name.startswith("W"))
        _put_cells(name, cells, LABELS.value.get(name, []))


def randomise(seed: int) -> None:
    mode = Mode(MODE.value)
    zeros = {name: np.zeros((len(CELLS.value[name]), len(CELLS.value[name][0]))) for name in TABLES[mode]}
    for name, table in randomised(Problem(mode, zeros), seed).tables.items():
        write_table(name, table, LABELS.value.get(name, []))


def cut_to_bounds(name: str) -> bool:
    """Cut a table that was pasted too long, and tell; return whether it was."""
    if len(CELLS.value[name]) <= MAX_ROWS:
        return False
    _put_cells(name, CELLS.value[name][:MAX_ROWS], LABELS.value.get(name, []))
    why = "because every pair of rows is drawn"
    NOTES.value = [(False, f"{name}: more than {MAX_ROWS} rows came; the first {MAX_ROWS} were kept, {why}.")]
    return True


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
ERROR_ICON = ":material/error:"
SEED = Field(NAME, "seed", 1, address="seed", parse=between(0, 999_999))
PASTE, TARGET = Field(NAME, "paste", "", address="paste"), Field(NAME, "target", "", address="target")
UPLOADS = Field(NAME, "uploads", 0)
"""Files that came: each empties the uploader."""
MOUNTED = Field(NAME, "mounted", 0)
"""Editors that were shown: each has a key of its own."""


def preset_choice() -> None:
    """Draw the list of presets and the chosen one's line of explanation."""
    left, right = st.columns([1, 2.8], vertical_alignment="center", gap="medium")
    titles = {name: preset.title for name, preset in PRESETS.items()} | {PIXELS: PIXELS_TITLE}
    PRESET.widget(
        left.selectbox,
        "Example",
        list(titles),
        format_func=titles.__getitem__,
        on_change=_first_step,
        label_visibility="collapsed",
    )
    line = PIXELS_LINE if PRESET.value == PIXELS else PRESETS[PRESET.value].line
    right.markdown(line, help=explain(line))


def _first_step() -> None:
    STEPS.field.value = STEPS.field.default


def settings_input() -> None:
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


def problem_input() -> Problem | None:
    """Draw everything else that can be changed and what is wrong with it; return the problem if there is one."""
    taken = {"on_change": change_mode, "args": (MODE.value,)}
    single_choice("What is given", MODE, MODES, label_visibility="collapsed", **taken)
    with st.container(horizontal=True, gap="small"):
        with st.popover("Size"):
            _sizes()
        with st.popover("Paste, files"):
            _files()
        with st.popover("Random"):
            seed = SEED.widget(st.number_input, "Seed", 0, 999_999)
            st.button("Fill all tables", key="vectors_randomise", on_click=randomise, args=(int(seed),))
    for refused, words in NOTES.value:
        if refused:
            st.error(error_markdown(words), icon=ERROR_ICON)
        else:
            st.info(error_markdown(words))
    places, chosen = _tables(), settings()
    parameters = chosen.parameter_names
    are_own = any(name in CELLS.value for name in parameters)
    if are_own:
        for name, column in zip(parameters, st.columns(len(parameters), gap="small"), strict=True):
            with column:
                places[name] = _table(name)
        st.button(
            "Back to identities and ones", key="vectors_plain_parameters", on_click=_take_away, args=(parameters,)
        )
    problem, faults = read_problem(chosen)
    if parameters and not are_own:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("The score's own parameters are identities and ones.")
            plain = {} if problem is None else problem.parameters()
            st.button("Edit them", key="vectors_own_parameters", on_click=_put_all, args=(plain,), disabled=not plain)
    if problem is not None and problem.settings.mask == "drawn":
        problem = _drawn_mask(problem)
    _tell_faults(faults, places)
    return problem


def _sizes() -> None:
    for name, value in sizes().items():
        key, most = f"vectors_size_{name}", MAX_ROWS if name.startswith("n_") else MAX_COLUMNS
        set_widget(key, min(value, most))
        st.number_input(SIZE_WORDS[name], 1, most, key=key, on_change=_take_sizes)
    st.caption("Tables that share a size change together. Rows can also be added and deleted in the tables.")


def _take_sizes() -> None:
    resize({name: int(widget_value(f"vectors_size_{name}")) for name in sizes()})


def _files() -> None:
    names = TABLES[Mode(MODE.value)]
    target = single_choice("Table", TARGET, names)
    look = {"height": 110, "placeholder": "1\t0.5\n-0.5\t1", "persist_state": "session"}
    st.text_area("Paste from a spreadsheet, or type", key=PASTE.key, **look)
    st.button(f"Put it into {target}", key="vectors_paste_button", on_click=_take_paste, args=(target,))
    key = f"vectors_file_{UPLOADS.value}"
    st.file_uploader(
        f"CSV for {target}, or NPZ for everything",
        ["csv", "tsv", "txt", "npz"],
        key=key,
        max_upload_size=TABLE_BYTES.millions,
        on_change=_take_upload,
        args=(key, target),
    )
    values, _ = parse_cells(target, CELLS.value[target])
    problem = GOOD.value
    with st.container(horizontal=True, gap="small"):
        if values is not None:
            st.download_button(
                f"{target} (.csv)",
                lambda: write_csv(values, LABELS.value.get(target, [])),
                f"vectors-{target}.csv",
                on_click="ignore",
                key="vectors_csv",
            )
        if problem is not None:
            st.download_button(
                "Everything (.npz)",
                lambda: write_npz(problem),
                "vectors-workbench.npz",
                on_click="ignore",
                key="vectors_all",
            )


def _take_paste(target: str) -> None:
    _take_file("pasted.csv", PASTE.value.encode(), target)


def _take_upload(key: str, target: str) -> None:
    uploaded = widget_value(key)
    if uploaded is not None:
        UPLOADS.value += 1
        _take_file(uploaded.name, uploaded.getvalue(), target)


def _take_file(file_name: str, data: bytes, target: str) -> None:
    try:
        if file_name.lower().endswith(".npz"):
            problem, notes = read_npz(data, GOOD.value or PRESETS[FIRST].problem())
            write_problem(problem)
        else:
            table = read_csv(data)
            write_table(target, table.values, table.labels)
            notes = tuple(f"{target}: {note}" for note in table.notes)
        NOTES.value = [(False, note) for note in notes]
    except TableError as error:
        NOTES.value = [(True, f"{file_name} was not taken, {target} stays as it was. {error}")]


def _tables() -> dict[str, DeltaGenerator]:
    """Draw the tables of the present mode; return the place below each, where its faults belong."""
    names, places = TABLES[Mode(MODE.value)], {}
    rows = [name for name in names if not name.startswith("W")]
    for group, widest_of_pair in ((rows, 4), (names[len(rows) :], 6)):
        widest = max((len(CELLS.value[name][0]) for name in group if CELLS.value[name]), default=0)
        side_by_side = 1 if widest > widest_of_pair or len(group) == 1 else 2
        for start in range(0, len(group), side_by_side):
            columns = st.columns(side_by_side, gap="small")
            for name, column in zip(group[start : start + side_by_side], columns, strict=False):
                with column:
                    places[name] = _table(name)
    return places


def _table(name: str) -> DeltaGenerator:
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
    return st.container()


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


def _tell_faults(faults: list[Fault], places: dict[str, DeltaGenerator]) -> None:
    """Say what is wrong beside the tables it concerns; what concerns no shown table goes below them."""
    for fault in faults:
        beside = [places[name] for name in fault.tables if name in places]
        (beside[0] if beside else st.container()).error(error_markdown(fault.message), icon=ERROR_ICON)
    if any(len(fault.tables) > 1 or fault.tables == ("W_O",) for fault in faults):
        st.button(
            "Make the tables fit",
            key="vectors_fit",
            on_click=lambda: resize(sizes()),
            help="Cuts or fills with the identity; keeps the rest.",
        )


def _drawn_mask(problem: Problem) -> Problem:
    """Draw the mask as boxes to tick: who may see whom; return the problem with what is ticked now."""
    mask = problem.mask()
    if max(mask.shape) > MAX_DRAWN:
        st.info(f"A mask is drawn by hand for up to {MAX_DRAWN} rows; the part drawn so far stays.")
        return problem
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
    return replace(problem, drawn=DRAWN.value)
