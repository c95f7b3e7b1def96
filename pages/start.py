"""Start: what is attention, in one live example, and where do I go?"""

import streamlit as st

from ui.glossary import say
from ui.navigation import PAGES, path_of
from ui.skeleton import live, page_frame
from ui.state import Field, between, choice

DIGIT = Field("start", "digit", 3, address="digit", parse=between(0, 9))
WAYS_IN = (
    ("Draw", "pixels", "Draw a digit and see which pixels look at which, in a network that reads it."),
    ("Type", "translate", "Type a sentence, watch it being translated, and see at which words the network looks."),
    ("Craft", "vectors", "Make vectors by hand and follow every product, sum and softmax in numbers."),
)

page_frame(
    "start",
    "Attention lets one thing ask many others: *how much do you matter to me?* The answers become weights, and the "
    "weights mix what the others hand over. Here you watch trained networks do it, live, on your own input.",
)


def live_example() -> None:
    """A trained network reads a digit; a click on a pixel shows where that pixel looks."""
    from attention_core.data.drawing import prepare
    from attention_core.data.presets import preset_canvas
    from ui.digits import chosen_query, looks_at_map, pick_pixel, read_digit
    from ui.layout import who_asks

    digit = choice("A digit", DIGIT, range(10), wrap=True)
    image = prepare(preset_canvas(digit)).image
    answer = read_digit(image)
    ask, looks, words = st.columns([1, 1, 1], gap="large")
    with ask:
        st.markdown("**Click a pixel: it becomes the query**")
        query = chosen_query(image, f"start_{digit}")
        pick_pixel(image, f"start_{digit}", size=250)
    with looks:
        st.markdown("**Where it looks**")
        looks_at_map(answer.traces[0], 0, query, image, size=250)
    with words:
        strongest = int(answer.traces[0].weights(0, [query])[0].argmax())
        st.markdown(
            f"A network with one attention layer reads this drawing as **{answer.digit}** ({answer.confidence:.0%}). "
            f"The pixel in row {query // 28 + 1}, column {query % 28 + 1} gives most of its attention to row "
            f"{strongest // 28 + 1}, column {strongest % 28 + 1}."
        )
        who_asks(
            "the framed pixel",
            "all 784 pixels",
            "each pixel's place",
            here="Here the framed pixel asks all 784 pixels, and each hands over its place.",
            try_this="Click empty paper: most of it looks hardest at the ink.",
        )


live(live_example)
st.divider()
entries = {entry.name: entry for entry in PAGES}
ways = [(name, entries[file], words) for name, file, words in WAYS_IN if file in entries]
for column, (name, first, words) in zip(st.columns(len(ways), gap="large"), ways, strict=True):
    with column:
        st.subheader(name, anchor=False)
        say(words)
        st.page_link(path_of(first), label=first.title, icon=":material/arrow_forward:")
st.divider()
st.subheader("The path", anchor=False)
st.markdown("The order tells the story; each page can be entered alone.")
for entry in PAGES[1:]:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.page_link(path_of(entry), label=f"**{entry.title}**", width=230)
        st.markdown(entry.question)
