"""What the test of the queue visits: something heavy that lasts until its visitor is gone, and something light."""

import sys
import time
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))
from ui.computed import compute_turn
from ui.job_queue import heavy_run

place = st.empty()
if st.button("Light", key="light"):
    with compute_turn():
        place.text("light is done")
if st.toggle("Run", key="run"):
    with heavy_run():
        while True:
            place.text("running")
            time.sleep(0.1)
