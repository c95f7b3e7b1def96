"""What the tests of the load and of several processes visit: who answers, a long text, a fault, a file, a picture."""

import os
import time

import numpy as np
import streamlit as st

st.text(f"process {os.getpid()}")
st.markdown("long " * 3000)
st.button("Press", key="press")
if st.button("Divide", key="divide"):
    st.text(f"{1 / 0}")
if st.button("Wait", key="wait"):
    time.sleep(1)
uploaded = st.file_uploader("A file", key="file")
st.caption(f"{len(uploaded.getvalue())} bytes" if uploaded else "no file")
st.image(np.full((8, 8, 3), os.getpid() % 251, np.uint8), output_format="PNG")


@st.fragment
def inner() -> None:
    st.text("inner")


@st.fragment
def part() -> None:
    if st.segmented_control("Which", ["one", "two"], key="which"):
        st.text("above")
        inner()
    else:
        inner()
        st.text("below")
    if text := st.segmented_control("Text", ["one", "two", "three", "four"], key="text"):
        st.markdown(f"{text} " * 3000)


part()
