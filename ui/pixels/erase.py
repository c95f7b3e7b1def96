"""Attention that is computed, and attention that is only there: erase ink, and see what follows the drawing."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.charts import Ramp, picture, weights_ramp
from attention_core.charts.palette import VIRIDIS
from attention_core.data.drawing import Drawing
from attention_core.device import device_of, to_array
from attention_core.explain.faithfulness import erase_along, erase_highest, erase_random, ink_mask, mean_total_variation
from attention_core.topics.pixels.jacobian import damage, jacobian, jacobian_map, moved
from ui.canvas import PadState
from ui.chart import draw_chart
from ui.computed import computed, model_or_stop
from ui.digits import Answer, ask, ink_image
from ui.labels import number
from ui.layout import figures_table
from ui.pixels.drawing import LAYER, NAME, received
from ui.state import Field, between, choice, whole_number

RANDOM_TRIALS = 20
MOST_LOOKED_AT, MOST_MOVING = "what is looked at most", "what moves the feed-forward network most"
FFN = "ffn-classifier"
ERASED = Field(
    NAME,
    "erased",
    MOST_LOOKED_AT,
    address="erase",
    parse=lambda text: MOST_MOVING if text == "moving" else f"stroke {whole_number(text)}",
    text=lambda chosen: "moving" if chosen == MOST_MOVING else chosen.removeprefix("stroke "),
)
N_ERASED = Field(NAME, "erase_n", -1, address="pixels", parse=between(1, 784))


def erase_section(image: Tensor, drawing: Drawing, pad: PadState, before: Answer) -> None:
    """Fixed weights, or weights made from the input? Erase ink and see which maps follow."""
    st.markdown(
        "**A network without attention pays attention too.** Its weights stay as they are, but how much each pixel "
        "moves its answer depends on the drawing: that map, its *Jacobian*, is implicit attention. Erase some ink, and "
        "both maps follow."
    )
    name = LAYER.value
    trace = before.traces[0]
    looked_at, moving = received(trace, image).abs(), moves(FFN, image)
    n_ink = int(ink_mask(image).sum())
    choices: dict[str, np.ndarray | None] = {MOST_LOOKED_AT: None, MOST_MOVING: None}
    choices |= {f"stroke {number + 1}": path for number, path in enumerate(pad.strokes)} if len(pad.strokes) > 1 else {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = choice("Erase", ERASED, list(choices), wrap=True)
        path = choices.get(chosen)
        if path is None:
            most = max(2, n_ink - 1)
            N_ERASED.value = N_ERASED.among(range(1, most + 1), max(1, n_ink // 4))  # another bound is another slider
            n = N_ERASED.widget(st.slider, "Ink pixels", 1, most, width=320)
            erased = erase_highest(image, (looked_at if chosen == MOST_LOOKED_AT else moving).flatten(), n)
        else:
            erased = erase_along(image, torch.from_numpy(drawing.locate(path)).float())
            n = int(erased.removed.sum())
    after, ffn = ask(name, erased.image), ask(FFN, erased.image)
    trials = [erase_random(image, n, seed).image for seed in range(RANDOM_TRIALS)]
    at_random = ask_many(name, torch.stack(trials))
    agreeing = int((at_random.argmax(1) == before.digit).sum())
    then_moving = moves(FFN, erased.image)
    columns = st.columns(4, gap="medium")
    with columns[0]:
        _maps(image, looked_at, moving, trace.n_keys, "As drawn")
        st.markdown(f"reads **{before.digit}** ({before.confidence:.0%})")
    with columns[1]:
        title = f"Without {chosen}" if path is not None else f"Without {n} ink pixels"
        _maps(erased.image, received(after.traces[0], erased.image).abs(), then_moving, trace.n_keys, title)
        other = "" if after.digit == before.digit else f"; {before.digit}: {after.probabilities[before.digit]:.0%}"
        st.markdown(f"reads **{after.digit}** ({after.confidence:.0%}){other}")
    with columns[2]:
        its = ask(name, trials[0]).traces[0]
        _maps(trials[0], received(its, trials[0]).abs(), moves(FFN, trials[0]), trace.n_keys, "As many at random")
        st.markdown(
            f"reads **{before.digit}** in {agreeing} of {RANDOM_TRIALS} draws, on average with "
            f"{at_random[:, before.digit].mean():.0%}"
        )
    with columns[3]:
        if trace.has_softmax:
            told = "Half the summed change of a row of the weights, averaged over all rows, after this erasure."
            st.metric("attention moved", f"{mean_total_variation(trace, after.traces[0]):.0%}", help=told)
        st.metric(
            "the Jacobian's map moved",
            f"{moved(moving, then_moving):.0%}",
            help="Half the summed change of the map's shares: how differently the feed-forward network listens to the "
            "pixels now. None of its parameters has changed.",
        )
        st.caption(f"The feed-forward network now reads {ffn.digit} ({ffn.confidence:.0%}).")
    _foretold(name, image, looked_at, n)


def _foretold(name: str, image: Tensor, looked_at: Tensor, n: int) -> None:
    maps = {
        "attention received": looked_at,
        "Jacobian of the attention network": moves(name, image),
        "Jacobian of the feed-forward network": moves(FFN, image),
    }
    costs = {words: [harm(network, image, its, n) for network in (name, FFN)] for words, its in maps.items()}
    by_chance = [random_harm(network, image, n) for network in (name, FFN)]
    st.markdown(f"**Which map foretold the damage?** The {n} ink pixels that each map ranks first are erased.")
    figures_table(
        ("erased by", "attention network: its answer falls by", "feed-forward network: its answer falls by"),
        *((words, *map(_points, falls)) for words, falls in costs.items()),
        (f"chance, mean of {RANDOM_TRIALS} draws", *map(_points, by_chance)),
    )
    best = max(costs, key=lambda words: costs[words][0])
    spread = costs[best][0] - min(of_attention for of_attention, _ in costs.values())
    told = (
        f"For the attention network it was the map *{best}*."
        if spread > 0.01
        else "For the attention network no map was better than another here: erase more."
    )
    st.caption(
        f"{told} Points are of probability; below 0 the network has become surer. A weight says where a value was "
        "taken from, a Jacobian what a small change would do: neither has to foretell a large one."
    )


def _points(fall: float) -> str:
    return f"{number(round(100 * fall, 1) + 0.0, '.1f')} points"


@computed(by_model=True)
def ask_many(name: str, images: Tensor) -> np.ndarray:
    model = model_or_stop(name)
    return to_array(model(images.to(device_of(model))).logits.softmax(-1))


@computed(by_model=True)
def moves(name: str, image: Tensor) -> Tensor:
    """Return how much each pixel moves a network's answer, (28, 28), by its Jacobian."""
    model = model_or_stop(name)
    return jacobian_map(jacobian(model, image.to(device_of(model)))).cpu()


@computed(by_model=True)
def harm(name: str, image: Tensor, importance: Tensor, n: int) -> float:
    """Return by how much the probability of a network's answer falls without the n ink pixels that a map ranks first.

    The map is (28, 28).
    """
    model = model_or_stop(name)
    return float(damage(model, image.to(device_of(model)), importance.to(device_of(model)), [n])[0])


def random_harm(name: str, image: Tensor, n: int) -> float:
    before = ask_many(name, image[None])[0]
    after = ask_many(name, torch.stack([erase_random(image, n, seed).image for seed in range(RANDOM_TRIALS)]))
    return float(before.max() - after[:, before.argmax()].mean())


def _maps(image: Tensor, looked_at: Tensor, moving: Tensor, n_keys: int, title: str) -> None:
    """Draw a picture, the attention that each pixel receives, and how much each moves the feed-forward network."""
    st.markdown(f"**{title}**")
    seen, implicit = to_array(looked_at), to_array(moving)
    glow = picture(seen, weights_ramp(n_keys, float(seen.max())), title="received", size=104, bar=False)
    felt = picture(implicit, Ramp(VIRIDIS, 0.0, float(implicit.max()) or 1.0), title="moves", size=104, bar=False)
    ink_image(to_array(image), 112, f"{title}: the picture")
    with st.container(horizontal=True, gap="small"):
        for words, chart in (("attention received", glow), ("Jacobian", felt)):
            with st.container(width="content", gap=None):
                st.caption(words)
                draw_chart(chart, width="content", alt=f"{title}: {words}, pixel by pixel")
