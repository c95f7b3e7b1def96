"""Elements that pages share: text in the colours of roles, small tables, bars, greyed answers, the order on a phone."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import escape_hidden
from attention_core.charts.ramps import DARK_INK_RAMP, INK_RAMP, ROLE_COLOURS, Ramp
from ui.inside_streamlit import StopException
from ui.style import page_style

MAX_PHONE_WIDTH = 640  # CSS pixels up to which Streamlit puts columns below one another
LATE = "animation: late 2.5s step-end; "
"""CSS of what comes last: it is hidden at first, so that nobody sees it pushed down by what is drawn above it."""


def last_on_phone(screen: str, *keys: str) -> None:
    """On a phone, put these containers of a first screen below all others, in this order.

    The screen is the key of the container whose only child is a row of columns.
    """
    row = f".st-key-{screen} > [data-testid=stLayoutWrapper] > [data-testid=stHorizontalBlock]"
    column = f"{row} > [data-testid=stColumn]"
    last = " ".join(
        f"{column} :is(.st-key-{key}, [data-testid=stLayoutWrapper]:has(> .st-key-{key})) {{ order: {order}; {LATE}}}"
        for order, key in enumerate(keys, 1)
    )
    page_style(
        f"@media (max-width: {MAX_PHONE_WIDTH}px) {{ {row} {{ flex-flow: column nowrap; gap: 1rem; }} "
        f"{column}, {column} > [data-testid=stVerticalBlock] {{ display: contents; }} {last} "
        "@keyframes late { from { visibility: hidden; } } }"
    )


def grey_out(key: str, is_outdated: bool) -> None:
    """Grey out a container while it shows the answer to an earlier input; to be called in every run."""
    page_style(f".st-key-{key} {{ opacity: {0.35 if is_outdated else 1}; }}")


READABLE = 57
"""Per cent of a role's colour in its text: with no more of it, text has a contrast of 4.5, light and dark."""


def stop_run() -> NoReturn:
    """End the page or the fragment that runs; foot and address still follow, which st.stop would end too."""
    raise StopException


def ink_ramp() -> Ramp:
    """Return the colours of a picture, from paper to ink, that go with the page."""
    return DARK_INK_RAMP if st.context.theme.type == "dark" else INK_RAMP


def readable(colour: str) -> str:
    """Return a colour for text, as CSS: drawn towards the text's own."""
    return f"color-mix(in srgb, {colour} {READABLE}%, currentcolor)"


def role_colour(role: str | None) -> str:
    """Return a Role's colour for text, as CSS, to be read on light and dark; the text's own where it is none."""
    return readable(ROLE_COLOURS[Role(role)]) if role in ROLE_COLOURS else "inherit"


def shaded_word(word: str, weight: float, largest: float, style: str = "") -> str:
    """Return HTML for a word on a ground that is the darker, the larger its weight beside the largest one."""
    colour, share = ROLE_COLOURS[Role.WEIGHTS], 80 * weight / largest
    ground = f"color-mix(in srgb, light-dark({colour}, color-mix(in srgb, {colour} 76%, black)) {share:.0f}%"
    css = f"padding:1px 3px;border-radius:3px;background:{ground}, transparent);{style}"
    return f'<span title="{percent(weight)}" style="{css}">{html.escape(word)}</span>'


def section(title: str, role: Role | None = None, step: str = "", level: int = 2) -> None:
    """Draw a section's heading, in its role's colour if it has one, and with the name of the step that it is about."""
    if role is None:
        st.header(title, anchor=False)
    else:
        attributes = f' data-step="{step}" data-role="{role}"' if step else ""
        style = f"color:{role_colour(role)};font-size:1rem;padding:0;margin:0"
        st.html(f'<h{level}{attributes} style="{style}">{title}</h{level}>')


def bar_rows(bars: Iterable[tuple[str, float | None, str]], meanings: Mapping[str, str] | None = None) -> str:
    """Return HTML of bars below each other, each of a name, a share from 0 to 1, None = "?", and a colour.

    Screen readers get the meanings of the colours.
    """
    labels = {colour: f' role="img" aria-label="{html.escape(text)}"' for colour, text in (meanings or {}).items()}
    rows = (
        f"<span>{html.escape(escape_hidden(name))}</span>"
        f'<i style="--share:{share or 0}; --line:{colour}"{labels.get(colour, "")}></i>'
        f"<b>{'?' if share is None else percent(share)}</b>"
        for name, share, colour in bars
    )
    return f'<div class="bars">{"".join(rows)}</div>'


def figures_table(*rows: Sequence[str], ends_in_french: bool = False) -> None:
    """Draw a small table of figures, its header first; the first column holds text, the last one may, also French."""
    header, *body = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    if ends_in_french:
        body = ['<td class="fr" lang="fr">'.join(line.rsplit("<td>", 1)) for line in body]
    heading = header.replace("td>", "th>").replace("<th></th>", "<td></td>")
    lines = "".join(f"<tr>{line}</tr>" for line in (heading, *body))
    ends_in_text = all(not row[-1] or row[-1][0].isalpha() for row in rows)
    st.html(f'<div class="figures"><table{" data-told" * ends_in_text}>{lines}</table></div>')
