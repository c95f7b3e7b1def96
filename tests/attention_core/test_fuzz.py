"""Every parser takes any bytes: it returns something, or raises an error that it names. tests/fuzz/ tries longer."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS, run

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
)


@st.composite
def altered(draw, seeds):
    """Return a sound input with some of its bytes changed, cut or put in, or any bytes, or any JSON."""
    if draw(st.integers(0, 3)) == 0:
        return draw(
            st.binary(max_size=200) | st.text(max_size=99).map(lambda text: text.encode("utf-8", "surrogatepass"))
        )
    if draw(st.integers(0, 3)) == 0:
        return json.dumps(draw(VALUES)).encode()
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 8))):
        place, more = draw(st.integers(0, len(content))), draw(st.binary(max_size=4))
        content[place : place + draw(st.integers(0, 4))] = more
    return bytes(content)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TARGETS)
def test_parsers(name):
    seeds = TARGETS[name].seeds

    @settings(max_examples=100, suppress_health_check=list(HealthCheck))
    @given(altered(seeds))
    @example(b"[" * 100_000)
    @example(b"")
    @example("".join(map(chr, range(0x300, 0x370))).encode() * 100)
    def takes_any_bytes(data):
        run(name, data)

    takes_any_bytes()


@pytest.mark.parametrize("name", TARGETS)
def test_sound_inputs_are_taken(name):
    assert any(run(name, seed) for seed in TARGETS[name].seeds)
