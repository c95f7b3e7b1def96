"""Fields, players and computed values by themselves: bounds, the address, clocks, what is kept and for how long."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core import load
from attention_core.concurrency import BoundedCache
from attention_core.serve.client import local_model
from tests.support.waiting import wait_until
from ui.computed import FairLock, cached_computation, compute_turn, content_key, result_cache, size_in_bytes


def page_of_fields() -> None:
    import streamlit as st

    from ui.player import Player
    from ui.state import Field, read_address, whole_number, write_address

    read_address("fields")
    number = Field("fields", "number", 3, address="n", parse=whole_number)
    word = Field("fields", "word", "one", address="w")
    own = Field("fields", "own", list)
    player = Player(number, seconds=0.01)
    number.clamp(0, 5)
    word.clamp_to_options(["one", "two"], "two")
    player.advance_if_due(range(6))
    player.previous_button(range(6))
    player.next_button(range(6))
    player.play_button(range(6))
    st.slider("Number", 0, 5, key=number.key)
    st.text(f"{number.value} {word.value} {own.value}")
    write_address()


def shown(page: AppTest) -> str:
    assert not page.exception
    return page.text[0].value


def arrived(**address: str) -> AppTest:
    page = AppTest.from_function(page_of_fields, default_timeout=60)
    page.query_params.update(address)
    return page.run()


def test_plain_arrival_shows_defaults_and_links_are_followed_within_bounds_and_told():
    page = arrived()
    assert shown(page) == "3 one []"
    assert not page.query_params
    page = arrived(n="4", w="two", else_="kept")
    assert shown(page) == "4 two []"
    page.slider[0].set_value(5).run()
    assert page.query_params == {"n": "5", "w": "two", "else_": "kept"}
    page.slider[0].set_value(3).run()
    assert page.query_params == {"w": "two", "else_": "kept"}
    page = arrived(n="77", w="three")
    assert shown(page) == "5 two []"
    assert page.query_params == {"n": "5", "w": "two"}


@pytest.mark.parametrize("asked", ["", "x", "-1", "1e3", "9" * 12, "１"])
def test_address_that_is_no_value_gives_the_default(asked):
    assert shown(arrived(n=asked)) in ("3 one []", "1 one []")


def page_with_a_suggested_question() -> None:
    import streamlit as st

    from ui.navigation import OPEN_QUESTION

    if "start" in st.session_state:
        OPEN_QUESTION["pixels"].suggest(st.session_state.pop("start"))
    st.text(OPEN_QUESTION["pixels"].encode())


def test_a_default_of_one_visitor_is_none_of_another():
    lecturer, other = (AppTest.from_function(page_with_a_suggested_question, default_timeout=60) for _ in range(2))
    for page, start in ((lecturer, "worth"), (other, "erase")):
        page.session_state["start"] = start
        assert not shown(page.run())
    for page in (lecturer, other):
        page.session_state["pixels_question"] = "erase"
    assert shown(lecturer.run()) == "erase"
    assert not shown(other.run())


def test_a_player_stops_at_the_ends_and_plays_to_the_last_before_the_address_is_told():
    page = arrived(n="5")
    assert page.button[1].disabled
    page.button[0].click().run()
    assert shown(page).startswith("4")
    assert not page.button[1].disabled
    page = arrived()
    page.button[2].click().run()
    assert page.button[2].label == "Pause"

    def has_played() -> bool:
        assert not page.query_params
        return page.run().button[2].label == "Play"

    wait_until(has_played)
    assert shown(page).startswith("5")
    assert page.button[2].label == "Play"
    assert page.query_params == {"n": "5"}


@dataclass(frozen=True)
class Inputs:
    numbers: torch.Tensor
    name: str


def test_computed_value_is_kept_by_content():
    calls = []

    @cached_computation()
    def double(inputs: Inputs, *, by: int = 2) -> torch.Tensor:
        calls.append(inputs)
        return inputs.numbers * by

    first = double(Inputs(torch.tensor([1.0, 2.0]), "a"))
    assert double(Inputs(torch.tensor([1.0, 2.0]), "a")) is first
    assert len(calls) == 1
    for other in (Inputs(torch.tensor([1.0, 3.0]), "a"), Inputs(torch.tensor([1.0, 2.0]), "b")):
        assert double(other) is not first
    assert double(Inputs(torch.tensor([1.0, 2.0]), "a"), by=3).tolist() == [3, 6]
    assert len(calls) == 4
    result_cache.clear()
    double(Inputs(torch.tensor([1.0, 2.0]), "a"))
    assert len(calls) == 5


def test_computed_keeps_no_gradients_unless_they_are_asked_for():
    weight = torch.nn.Parameter(torch.ones(2))
    assert not cached_computation()(lambda number: weight * number)(1.5).requires_grad

    @cached_computation()
    def asking(number: float) -> torch.Tensor:
        with torch.inference_mode(False), torch.enable_grad():
            return weight * number

    assert asking(2.5).requires_grad
    with compute_turn():
        assert torch.is_inference_mode_enabled()


def test_a_model_is_known_by_its_name_and_a_cluster_finds_functions_of_models_alone():
    calls, model = [], local_model("pixel-classifier")
    first_row = cached_computation()(lambda model: calls.append(model))
    for one in (model, load("pixel-classifier")):
        first_row(one)
    assert calls == [model]
    first, second, *_ = model.children()
    assert content_key(model) != content_key(first) != content_key(second)
    with pytest.raises(ValueError, match="attention_core"):
        cached_computation(on_cluster=True)(lambda: 1)
    assert cached_computation(on_cluster=True)(local_model)("pixel-classifier") is local_model("pixel-classifier")


def test_computed_tells_faults_on_and_keeps_none():
    calls = []

    @cached_computation()
    def fails(number: int) -> int:
        calls.append(number)
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            fails(1)
    assert len(calls) == 2


def test_cache_lets_the_least_recently_used_go_and_refuses_what_is_too_large():
    cache = BoundedCache(max_bytes=2_500, size=size_in_bytes)
    for name in "ab":
        cache.put(name, np.zeros(1_000, np.uint8))
    cache.get("a")
    cache.put("c", np.zeros(1_000, np.uint8))
    assert [cache.get(name) is not None for name in "abc"] == [True, False, True]
    cache.put("d", np.zeros(5_000, np.uint8))
    assert cache.get("d") is None
    assert cache.n_bytes <= 2_500


def test_sizes_count_tensors_once_and_keys_tell_types_apart():
    numbers = torch.zeros(1_000)
    assert size_in_bytes(numbers) == 4_000
    assert 4_000 < size_in_bytes([numbers, {"again": numbers}, Inputs(numbers, "x")]) < 6_000
    assert content_key(1) != content_key(1.0) != content_key(True)
    assert content_key([1, 2]) != content_key((1, 2))
    assert content_key(np.zeros(2)) == content_key(torch.zeros(2, dtype=torch.float64))


def test_turns_come_in_the_order_of_the_runs_and_a_run_that_has_begun_goes_on_first():
    turn, order = FairLock(), []

    def take(number):
        with turn, turn:
            order.append(number)
            wait_until(lambda: number or len(turn._queue) == 5)

    with ThreadPoolExecutor(5) as pool:
        with turn:
            for number in range(5):
                pool.submit(take, number)
                wait_until(lambda number=number: len(turn._queue) > number)
        with turn:
            order.append("again")
    assert order == [0, "again", 1, 2, 3, 4]
    assert turn._holder == 0


def test_turn_is_free_after_a_failure():
    turn = FairLock()
    with pytest.raises(ValueError, match="wrong"), turn:
        raise ValueError("wrong")
    with turn:
        pass
    assert turn._holder == 0
