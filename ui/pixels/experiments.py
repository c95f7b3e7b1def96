"""Experiments with one drawing: erase ink, switch off parts of the scores, read 49 patches in place of 784 pixels."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import Ramp, contact_sheet, overlay, picture, signed_ramp, weights_ramp
from attention_core.charts.vega import VIRIDIS
from attention_core.data.drawing import Drawing
from attention_core.device import to_array
from attention_core.explain.faithfulness import erase_along, erase_highest, erase_random, ink_mask, mean_total_variation
from attention_core.models.digit_vit import NAME as MODEL
from attention_core.topics import pixels
from attention_core.topics.pixels import Answer, split
from attention_core.topics.pixels.split import PARTS, SplitScores, split_scores, with_parts
from ui.canvas import PadState
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.digits import by_model, chosen_query, digit_bars, ink_image, inked, pick_pixel, read_image
from ui.labels import number
from ui.layout import figures_table, section
from ui.pixels.first_screen import INK_ONLY, LAYER, NAME, ramp_of, received
from ui.player import show_step_chart
from ui.skeleton import note, paragraph
from ui.state import Field, between, multiple_choice, single_choice, whole_number, whole_numbers

RANDOM_TRIALS = 20
MAX_LOOKED_AT, MAX_MOVING = "what is looked at most", "what moves the feed-forward network most"
FFN = "ffn-classifier"
ERASED = Field(
    NAME,
    "erased",
    MAX_LOOKED_AT,
    address="erase",
    parse=lambda text: MAX_MOVING if text == "moving" else f"stroke {whole_number(text)}",
    text=lambda chosen: "moving" if chosen == MAX_MOVING else chosen.removeprefix("stroke "),
)
N_ERASED = Field(NAME, "erase_n", -1, address="pixels", parse=between(1, 784))
NAMES = ["place asks for a place", "place asks for ink", "ink asks for a place", "ink asks for ink"]
SHORT = ["place → place", "place → ink", "ink → place", "ink → ink"]
KEPT = Field(NAME, "parts", list(range(len(PARTS))), address="parts", parse=whole_numbers)
LAYER_SHOWN = Field(NAME, "patch_layer", 4, address="patch_layer", parse=between(1, 4))
ask_many, moves, damage = by_model(pixels.ask_many), by_model(pixels.moves), by_model(pixels.confidence_drop)
read_with, read_patches = by_model(split.read_with), by_model(pixels.read_patches)
ink_number = by_model(split.ink_number)


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
    choices: dict[str, np.ndarray | None] = {MAX_LOOKED_AT: None, MAX_MOVING: None}
    choices |= {f"stroke {number + 1}": path for number, path in enumerate(pad.strokes)} if len(pad.strokes) > 1 else {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = single_choice("Erase", ERASED, list(choices), wrap=True)
        path = choices.get(chosen)
        if path is None:
            most = max(2, n_ink - 1)
            N_ERASED.value = N_ERASED.clamp_to_options(
                range(1, most + 1), max(1, n_ink // 4)
            )  # another bound is another slider
            n = N_ERASED.widget(st.slider, "Ink pixels", 1, most, width=320)
            erased = erase_highest(image, (looked_at if chosen == MAX_LOOKED_AT else moving).flatten(), n)
        else:
            erased = erase_along(image, torch.from_numpy(drawing.locate(path)).float())
            n = int(erased.removed.sum())
    after, ffn = read_image(name, erased.image), read_image(FFN, erased.image)
    trials = torch.stack([erase_random(image, n, seed).image for seed in range(RANDOM_TRIALS)])
    at_random = ask_many(name, trials)
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
        its = read_image(name, trials[0]).traces[0]
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
            f"{pixels.map_distance(moving, then_moving):.0%}",
            help="Half the summed change of the map's shares: how differently the feed-forward network listens to the "
            "pixels now. None of its parameters has changed.",
        )
        st.caption(f"The feed-forward network now reads {ffn.digit} ({ffn.confidence:.0%}).")
    _damage_table(name, image, looked_at, n, trials)


def _damage_table(name: str, image: Tensor, looked_at: Tensor, n: int, trials: Tensor) -> None:
    maps = {
        "attention received": looked_at,
        "Jacobian of the attention network": moves(name, image),
        "Jacobian of the feed-forward network": moves(FFN, image),
    }
    costs = {
        words: [float(damage(network, image, its, [n])[0]) for network in (name, FFN)] for words, its in maps.items()
    }
    by_chance = [_random_harm(network, image, trials) for network in (name, FFN)]
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


def _random_harm(name: str, image: Tensor, trials: Tensor) -> float:
    before, after = ask_many(name, image[None])[0], ask_many(name, trials)
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


def parts_section(image: Tensor, drawing: Drawing, answer: Answer) -> None:
    """Draw the four parts of the scores: their shares, the maps of the chosen pixel, and what the kept ones make."""
    trace, name = answer.traces[0], LAYER.value
    parts = split_scores(trace, read_image(name, torch.zeros(28, 28)).traces[0])  # of an empty picture: place alone
    made_of = (
        "Here a pixel's vector is its ink alone, so that only ink can ask for ink."
        if name == INK_ONLY
        else "A pixel's vector is its place plus its ink, so that a query has a part that only knows where it stands "
        "and one that only knows how dark it is, and so has a key. Every score is the sum of the four products."
    )
    st.markdown(f"**Are Q and K just random?** {made_of}")
    shares = parts.shares()
    names = {place: f"{NAMES[place]}: {number(shares[part], '.0%')}" for place, part in enumerate(PARTS)}
    kept = multiple_choice(
        "Keep of every score",
        KEPT,
        names,
        help="How much of the variation within a row of the scores is due to each part. Below 0 %: works against the "
        "others. What is the same for a whole row does not count, since the softmax removes it.",
    )
    changed = with_parts(trace, parts, [PARTS[place] for place in kept])
    query = chosen_query(drawing.image, NAME)
    left, right = st.columns([0.82, 1], gap="large")
    with left:
        _answers(name, image, answer, kept)
        _row_maps(trace, changed, query, drawing)
        _four_maps(parts, query, drawing)
    with right:
        section("The scores that are left", Role.SCORES)
        if kept:
            last = changed.score.stages(changed.key.shape[-1])[-1]
            show_step_chart(step_of(changed, last.name), 0, query, NAME)
        else:
            left = "every pixel looks at all alike" if trace.has_softmax else "nothing is collected"
            st.caption(f"Nothing is left: every score is 0, and {left}.")
    if name == INK_ONLY:
        _rank_one(trace, image, query)


def _answers(name: str, image: Tensor, answer: Answer, kept: list[int]) -> None:
    series = {"all four parts": answer.probabilities}
    if len(kept) < len(PARTS):
        series["what is kept"] = read_with(name, image, [PARTS[place] for place in kept])
    digit_bars(series, 150, "with all parts of the scores and with those that are kept")
    if len(kept) == len(PARTS):
        st.caption("Switch a part off: the matrix, the maps and the answer follow.")
        return
    now = series["what is kept"]
    became = "stays" if now.argmax() == answer.digit else "becomes"
    st.caption(f"The answer {became} **{now.argmax()}** ({now.max():.0%}); with all parts it is {answer.digit}.")


def _row_maps(trace: AttentionTrace, changed: AttentionTrace, query: int, drawing: Drawing) -> None:
    rows = [to_array(one.weights(0, [query])[0]) for one in (trace, changed)]
    ramp = ramp_of(trace, *rows)
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            st.markdown("**The chosen pixel**")
            pick_pixel(drawing.image, NAME, size=112, key="pick_part")
        for title, row in zip(("looks at", "looks at now"), rows, strict=True):
            with st.container(width="content"):
                st.markdown(f"**{title}**")
                chart = picture(row.reshape(28, 28), ramp, size=112, marked=query, outline=drawing.image, bar=False)
                draw_chart(chart, width="content", alt=f"Where the chosen pixel {title}")


def _four_maps(parts: SplitScores, query: int, drawing: Drawing) -> None:
    st.markdown("**Its scores, part by part**")
    rows = np.stack([to_array(parts.scores(part, [query])[0]) for part in PARTS])
    sheet = contact_sheet(
        rows.reshape(-1, 28, 28), SHORT, signed_ramp(rows), title="score", columns=4, size=104, marked=query
    )
    draw_chart(sheet, width="content", alt="The chosen pixel's scores, split into four parts")
    paper = "The chosen pixel is paper: it has no ink to ask with, so that the last two are 0. "
    st.caption(
        f"What asks → what is asked. The four sum to the pixel's scores, exactly. "
        f"{'' if drawing.image.flat[query] else paper}Where a key is paper, what is asked for its ink is 0."
    )


def _rank_one(trace: AttentionTrace, image: Tensor, query: int) -> None:
    """Show with the present numbers that the product of queries and keys is the drawing times itself."""
    constant = ink_number(INK_ONLY)
    pixels = image.flatten()
    key = int(pixels.argmax())
    product = trace.query[0].cpu() @ trace.key[0].cpu().T
    off = float((product - constant * torch.outer(pixels, pixels)).abs().max())
    section("Without a position, Q Kᵀ is the drawing times itself", Role.SCORES)
    st.latex(
        rf"Q K^{{\top}} = c\, p\, p^{{\top}}, \quad c = {constant:.4g}: \qquad "
        rf"({query + 1}, {key + 1}) = {constant:.4g} \cdot {float(pixels[query]):.3f} \cdot {float(pixels[key]):.3f} "
        rf"= {constant * float(pixels[query] * pixels[key]):.4g}, \quad \text{{computed: }} "
        rf"{float(product[query, key]):.4g}"
    )
    st.caption(
        f"One number, c, is all that W_Q and W_K have learned together; p is the drawing's 784 pixels. Every row of "
        f"the matrix is the drawing itself, times c and the ink of the pixel that asks: rank one. Over all 614,656 "
        f"cells the largest difference is {off:.1e}, which is rounding."
    )


def patches_section(image: Tensor) -> None:
    """Draw what the class token looks at, layer by layer and through all layers, beside the answer."""
    seen, pixels = read_patches(MODEL, image), read_image(LAYER.value, image)
    figures = card_or_empty(MODEL)
    ink = inked(to_array(image)).repeat(8, 0).repeat(8, 1)
    st.markdown(
        "**784 pixels would cost 614,656 scores a head; 49 patches cost 2,500.** A vision transformer cuts the drawing "
        "into 7 × 7 patches of 4 × 4 pixels. One more token, the *class token*, asks all patches in every layer; what "
        "it has collected in the end is the answer."
    )
    n_layers, n_heads = seen.maps.shape[:2]
    through, by_head, answer = st.columns([1, 1.5, 1.1], gap="medium")
    with through:
        paragraph("**Through all layers** (rollout)")
        chart = overlay(ink, seen.rolled, size=224)
        words = "What each patch could have contributed to the answer through all layers"
        draw_chart(chart, width="content", alt=words)
        note("The layers' weights multiplied, residuals counted half: what could have reached the class token.")
    with by_head:
        layer = LAYER_SHOWN.widget(st.slider, "Layer", 1, n_layers, help="Each has a class token's row.")
        maps = seen.maps[layer - 1]
        st.markdown(f"**The class token's row in layer {layer}**, head by head")
        ramp = weights_ramp(50, float(seen.maps.max()))
        sheet = contact_sheet(
            maps, [f"head {head + 1}" for head in range(n_heads)], ramp, title="weight", columns=3, size=104
        )
        draw_chart(sheet, width="content", alt=f"What the class token looks at in layer {layer}, by head")
        kept = 1 - float(maps.sum((1, 2)).mean())
        st.caption(f"The rest, {kept:.0%} of its weight on average, the class token gives to itself.")
    with answer:
        section("Answer")
        probabilities = {"49 patches": seen.probabilities, "784 pixels": pixels.probabilities}
        digit_bars(probabilities, 190, "by patches and by pixels")
        digit = int(seen.probabilities.argmax())
        st.markdown(f"Patches read **{digit}** ({seen.probabilities.max():.0%}).")
        if "test_accuracy" in figures:
            st.caption(
                f"On test digits patches are right in {figures['test_accuracy']:.1%}, on digits of a pen in "
                f"{figures['held_out_stroke_accuracy']:.1%}."
            )
