"""Measurements, each with its goal; none of them runs on its own. Torch gets one thread unless told otherwise."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
