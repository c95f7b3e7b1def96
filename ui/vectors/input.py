"""The workbench's input: presets, tables, sizes, files, chance, and the settings of the attention."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import streamlit as st

from attention_core.attention.scores import SCORES
from attention_core.attention.types import Role
from attention_core.topics.vectors import (
    MASKS,
    MAX_COLUMNS,
    MAX_ROWS,
    PIXELS,
    PIXELS_LINE,
    PIXELS_TITLE,
    PRESETS,
    SCALES,
    TABLES,
    Fault,
    Mode,
    Problem,
)
from attention_core.topics.vectors.tables import TableError, parse_cells, read_csv, read_npz, write_csv, write_npz
from ui.vectors import state as held
from ui.vectors.matrix_editor import large_matrix, matrix_editor, mounted, table_heading, tell
from ui.vectors.state import LABELLED, NAME, memory

MODES = {Mode.SELF: "X and projections", Mode.CROSS: "X asks Y", Mode.DIRECT: "Q, K, V"}
WORDS = {
    "X": "inputs",
    "Y": "the other inputs",
    "W_Q": "",
    "W_K": "",
    "W_V": "",
    "W_O": "",
    "Q": "queries",
    "K": "keys",
    "V": "values",
}
ROLES = {
    "X": Role.INPUT,
    "Y": Role.INPUT,
    "Q": Role.QUERY,
    "K": Role.KEY,
    "V": Role.VALUE,
    "W_Q": Role.QUERY,
    "W_K": Role.KEY,
    "W_V": Role.VALUE,
    "W_O": Role.OUTPUT,
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
MOST_DRAWN = 64


def preset_choice() -> None:
    """Draw the list of presets and the chosen one's line of explanation."""
    typed = memory()
    names = [*PRESETS, PIXELS]
    key = f"{NAME}_preset"
    if key not in st.session_state:
        st.session_state[key] = typed.get("preset", names[0])
    left, right, view = st.columns([1, 2.3, 0.5], vertical_alignment="center", gap="medium")
    with view:
        st.toggle("Large type", key=f"{NAME}_large", persist_state="session")
    with left:
        st.selectbox(
            "Example",
            names,
            format_func=lambda one: PIXELS_TITLE if one == PIXELS else PRESETS[one].title,
            key=key,
            on_change=_take_preset,
            label_visibility="collapsed",
        )
    chosen = typed.get("preset", names[0])
    with right:
        st.markdown(PIXELS_LINE if chosen == PIXELS else PRESETS[chosen].line)


def _take_preset() -> None:
    name = st.session_state[f"{NAME}_preset"]
    st.query_params["preset"] = name
    held.load_preset(name)
    st.query_params["step"] = st.session_state[f"{NAME}_step"]


def tables_input(large: bool) -> dict:
    """Draw the tables of the present mode.

    Args:
        large: large type instead of editors.

    Returns:
        table -> the place below it where its faults belong.
    """
    typed = memory()
    mode = Mode(typed["mode"])
    slots: dict = {}
    wide, narrow = (("X", "Y"), ("W_Q", "W_K", "W_V", "W_O")) if mode != Mode.DIRECT else (("Q", "K", "V"), ())
    shown = [name for name in wide if name in TABLES[mode]]
    per_row = 1 if max(len((typed["cells"][name] or [[""]])[0]) for name in shown) > 4 else 2
    for start in range(0, len(shown), per_row):
        columns = st.columns(per_row, gap="small") if len(shown) > 1 else [st.container()]
        for name, column in zip(shown[start : start + per_row], columns, strict=False):
            with column:
                slots[name] = _table(name, large)
    widest = max((len((typed["cells"][name] or [[""]])[0]) for name in narrow if name in TABLES[mode]), default=0)
    present = [name for name in narrow if name in TABLES[mode]]
    per_row = 2 if widest <= 6 else 1
    for start in range(0, len(present), per_row):
        for name, column in zip(present[start : start + per_row], st.columns(per_row, gap="small"), strict=False):
            with column:
                slots[name] = _table(name, large)
    return slots


def _table(name: str, large: bool):
    typed = memory()
    cells = typed["cells"][name]
    words = WORDS.get(name, "of the score")
    shape = f"{len(cells)} × {len(cells[0]) if cells else 0}"
    plain = name.split(".")[-1]
    table_heading(plain, ROLES.get(name, Role.SCORES), words, shape)
    labelled = name in LABELLED
    if large:
        large_matrix(plain, cells, ROLES.get(name, Role.SCORES), typed["labels"].get(name, []) if labelled else [])
    else:
        grows = name in ("X", "Y", "Q", "K", "V")
        key = f"{NAME}_{name}_{typed['generation']}"
        generation = typed["generation"]
        matrix_editor(typed, name, key, grows=grows, labelled=labelled, words=f"{plain}: {words}")
        held.bound(name)
        if typed["generation"] != generation:
            st.rerun()
    return st.container()


def parameter_tables(problem: Problem | None, large: bool) -> dict:
    """Draw the tables of a scoring function that has parameters; they start as identities and ones.

    Args:
        problem: gives the plain parameters of the fitting size, or None when it cannot be computed.
        large: large type instead of editors.
    """
    typed, names = memory(), held.settings().parameter_names
    if not names:
        return {}
    own = any(name in typed["cells"] for name in names)
    if not own:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("The score's own parameters are identities and ones.")
            st.button(
                "Edit them",
                key=f"{NAME}_own_parameters",
                on_click=_own_parameters,
                args=(problem.to_plain() if problem else None,),
                disabled=problem is None,
            )
        return {}
    slots = {}
    for name, column in zip(names, st.columns(len(names), gap="small"), strict=True):
        with column:
            slots[name] = _table(name, large)
    st.button("Back to identities and ones", key=f"{NAME}_plain_parameters", on_click=_plain_parameters, args=(names,))
    return slots


def _own_parameters(plain: dict) -> None:
    for name, matrix in Problem.from_plain(plain).parameters().items():
        held.put_table(name, matrix)


def _plain_parameters(names: tuple[str, ...]) -> None:
    for name in names:
        memory()["cells"].pop(name, None)
    held.remount()


def tell_faults(faults: list[Fault], slots: dict, elsewhere) -> None:
    """Say what is wrong beside the tables it concerns; what concerns no shown table goes elsewhere."""
    for fault in faults:
        place = next((slots[name] for name in fault.tables if name in slots), elsewhere)
        tell(place, [fault.message])
    if any(len(fault.tables) > 1 or fault.tables == ("W_O",) for fault in faults):
        elsewhere.button(
            "Make the tables fit",
            key=f"{NAME}_fit",
            on_click=_fit,
            help="Cuts or fills with the identity; keeps the rest.",
        )


def _fit() -> None:
    held.resize(held.sizes())


def toolbar() -> None:
    """Draw what acts on all tables: sizes, files, chance."""
    with st.container(horizontal=True, gap="small"):
        with st.popover("Size"):
            _sizes()
        with st.popover("Paste, files"):
            _files()
        with st.popover("Random"):
            seed = st.number_input("Seed", 0, 999_999, 1, key=f"{NAME}_seed", persist_state="session")
            st.button("Fill all tables", key=f"{NAME}_randomise", on_click=held.randomise, args=(int(seed),))


def _sizes() -> None:
    for name, value in held.sizes().items():
        key = f"{NAME}_size_{name}"
        st.session_state[key] = min(value, MAX_ROWS if name.startswith("n_") else MAX_COLUMNS)
        st.number_input(
            SIZE_WORDS[name], 1, MAX_ROWS if name.startswith("n_") else MAX_COLUMNS, key=key, on_change=_take_sizes
        )
    st.caption("Tables that share a size change together. Rows can also be added and deleted in the tables.")


def _take_sizes() -> None:
    held.resize({name: int(st.session_state[f"{NAME}_size_{name}"]) for name in held.sizes()})


def _files() -> None:
    typed = memory()
    names = TABLES[Mode(typed["mode"])]
    target = st.segmented_control("Table", names, default=names[0], required=True, key=f"{NAME}_target_{typed['mode']}")
    st.text_area(
        "Paste from a spreadsheet, or type",
        key=f"{NAME}_paste",
        height=110,
        placeholder="1\t0.5\n-0.5\t1",
        persist_state="session",
    )
    st.button(f"Put it into {target}", key=f"{NAME}_paste_button", on_click=_take_paste, args=(target,))
    key = f"{NAME}_file_{typed['generation']}"
    st.file_uploader(
        f"CSV for {target}, or NPZ for everything",
        ["csv", "tsv", "txt", "npz"],
        key=key,
        on_change=_take_upload,
        args=(key, target),
    )
    values, _ = parse_cells(target, typed["cells"][target])
    with st.container(horizontal=True, gap="small"):
        if values is not None:
            st.download_button(
                f"{target} (.csv)",
                write_csv(values, typed["labels"].get(target, [])),
                f"{target}.csv",
                on_click="ignore",
                key=f"{NAME}_csv",
            )
        problem = held.last_good()
        if problem is not None:
            st.download_button(
                "Everything (.npz)", lambda: write_npz(problem), "workbench.npz", on_click="ignore", key=f"{NAME}_all"
            )


def _take_paste(target: str) -> None:
    _take_file("pasted.csv", st.session_state.get(f"{NAME}_paste", "").encode(), target)


def _take_upload(key: str, target: str) -> None:
    uploaded = st.session_state.get(key)
    if uploaded is not None:
        _take_file(uploaded.name, uploaded.getvalue(), target)


def _take_file(file_name: str, data: bytes, target: str) -> None:
    typed = memory()
    try:
        if file_name.lower().endswith(".npz"):
            present = held.last_good() or PRESETS[held.FIRST].problem()
            problem, notes = read_npz(data, present)
            held.put_problem(problem)
        else:
            table = read_csv(data)
            held.put_table(target, table.values, table.labels)
            notes = tuple(f"{target}: {note}" for note in table.notes)
        typed["notes"], typed["refused"] = list(notes), []
    except TableError as error:
        typed["refused"] = [f"{html.escape(file_name)} was not taken, {target} stays as it was. {error}"]


def notes() -> None:
    """Say what was left out of the last paste or file, and what was refused."""
    typed = memory()
    for message in typed.get("refused", []):
        st.error(message, icon=":material/error:")
    for message in typed["notes"]:
        st.info(message)


def settings_input() -> None:
    """Draw scoring function, scale, temperature, mask and heads, and the hand-drawn mask."""
    state = st.session_state
    first, second, third, fourth, fifth = st.columns([1, 1.1, 1.2, 1.1, 0.75], gap="small", vertical_alignment="bottom")
    with first:
        st.selectbox("Score", list(SCORES), key=f"{NAME}_scoring", persist_state="session")
    with second:
        st.selectbox("Scale", SCALES, format_func=SCALE_WORDS.get, key=f"{NAME}_scale", persist_state="session")
        if state[f"{NAME}_scale"] == "free":
            st.number_input("Factor", -100.0, 100.0, step=0.1, key=f"{NAME}_factor", persist_state="session")
    with third:
        st.slider("Temperature", 0.05, 5.0, step=0.05, key=f"{NAME}_temperature", persist_state="session")
    with fourth:
        st.selectbox("Mask", MASKS, format_func=MASK_WORDS.get, key=f"{NAME}_mask", persist_state="session")
        if state[f"{NAME}_mask"] == "padding":
            st.number_input("Padding keys", 0, MAX_ROWS, key=f"{NAME}_n_padding", persist_state="session")
    with fifth:
        st.number_input("Heads", 1, 16, key=f"{NAME}_n_heads", persist_state="session")


def drawn_mask(problem: Problem) -> None:
    """Draw the mask as boxes to tick: who may see whom."""
    if problem.settings.mask != "drawn":
        return
    typed = memory()
    if max(problem.n_queries, problem.n_keys) > MOST_DRAWN:
        st.info(f"A mask is drawn by hand for up to {MOST_DRAWN} rows; the part drawn so far stays.")
        return
    mask = problem.mask()
    key = f"{NAME}_drawn_{typed['generation']}_{problem.n_queries}_{problem.n_keys}"
    queries, keys = problem.row_labels(problem.query_table), problem.row_labels(problem.key_table)

    def frame_of_mask() -> pd.DataFrame:
        frame = pd.DataFrame(mask, columns=[str(place) for place in range(mask.shape[1])])
        frame.insert(0, "asks", list(queries))
        return frame

    widget, frame = mounted(typed, key, frame_of_mask)
    st.caption("Ticked: this row (query) may see that column (key).")
    config = {str(place): st.column_config.CheckboxColumn(label) for place, label in enumerate(keys)}
    edited = st.data_editor(
        frame,
        key=widget,
        hide_index=True,
        disabled=["asks"],
        column_config=config | {"asks": st.column_config.TextColumn("")},
        row_height=28,
        height=min(36 + 28 * len(frame) + 3, 300),
        alt="The mask: who may see whom",
    )
    new = edited[[str(place) for place in range(len(keys))]].to_numpy(dtype=bool)
    if (new != mask).any():
        typed["drawn"] = _larger(typed["drawn"], new)


def _larger(old: np.ndarray | None, new: np.ndarray) -> np.ndarray:
    """Return the new mask, with the old one's rows and columns beyond it kept."""
    if old is None:
        return new.copy()
    shape = tuple(np.maximum(old.shape, new.shape))
    whole = np.ones(shape, dtype=bool)
    whole[: old.shape[0], : old.shape[1]] = old
    whole[: new.shape[0], : new.shape[1]] = new
    return whole
