"""How does a text become a vector? By the runs of letters that it shares with a key, or by its pieces."""

import streamlit as st

from attention_core.hub.model import readable
from attention_core.inference.soft_lookup import SPELLING, hash_run, ngrams, shared_runs
from pages.lookup.inputs import LookUp, draw_lookup
from ui.labels import literal

MAX_RUNS = 24  # runs of letters that are listed
draw_input = draw_lookup


def _runs(lookup: LookUp) -> list[str]:
    return shared_runs(lookup.text, lookup.request.records.keys[lookup.heaviest])


def answer(lookup: LookUp) -> str:
    """Say what the vector is made of."""
    if lookup.encoder is not SPELLING:
        return "Its pieces ask one another in six layers; their mean is the vector."
    text, key = lookup.text, lookup.request.records.keys[lookup.heaviest]
    shared = f"{literal(text)} and {literal(key)} share {len(_runs(lookup))}"
    columns = [{hash_run(run)[0] for run in runs} for runs in (ngrams(text), ngrams(key), _runs(lookup))]
    met = len(columns[0] & columns[1]) - len(columns[2])
    accident = f" By accident, different runs meet in {met} number{'s' * (met > 1)}, too." * (met > 0)
    return f"Each run of two or three letters adds to one of 512 numbers: {shared}.{accident}"


def draw(lookup: LookUp) -> None:
    """Draw the runs, or the pieces."""
    if lookup.encoder is SPELLING:
        runs = _runs(lookup)
        st.markdown(f"{' '.join(f'`{run}`' for run in runs[:MAX_RUNS]) or 'none'}{' …' * (len(runs) > MAX_RUNS)}")
        st.caption("_ marks where a word begins or ends.")
        return
    tokenizer = lookup.encoder.named["tokenizer"]
    st.markdown(" ".join(literal(piece) for piece in readable(tokenizer, tokenizer(lookup.text)["input_ids"])))
    st.caption("[CLS] and [SEP] mark the ends.")
    st.page_link("pages/model/page.py", label="See where its heads look", icon=":material/arrow_forward:")
