"""Sentences about films, written for this project: what the page opens with, and a small bank of examples."""

import re

PRESETS = {
    "Praise": "A warm, funny and moving film with two wonderful performances.",
    "Blame": "The plot is dull, the jokes are stale and nobody seems to care.",
    "Negation": "Not bad at all.",
    "Negated praise": "This is not a good film, and it is never funny.",
    "Contrast": "The acting is superb, but the story is a tedious mess.",
    "Contrast turned": "The story is a tedious mess, but the acting is superb.",
    "Irony": "If you enjoy watching paint dry, you will love this masterpiece.",
    "No opinion": "The film was shot in Norway in the winter of 1998.",
}
"""Label -> sentence; the first one is there on arrival."""

MEANT = {
    PRESETS["Praise"]: "positive",
    PRESETS["Blame"]: "negative",
    PRESETS["Negation"]: "positive",
    PRESETS["Negated praise"]: "negative",
    PRESETS["Irony"]: "negative",
}
"""Sentence -> how a person reads it."""
NEGATIONS = frozenset(["not", "no", "never", "nothing", "nobody", "none", "neither", "nor", "without", "cannot"])


def is_negated(sentence: str) -> bool:
    """Return whether a sentence holds a word that negates, such as "not" or "isn't"."""
    words = re.findall(r"[a-z']+", sentence.lower().replace("’", "'"))
    return any(word in NEGATIONS or word.endswith("n't") for word in words)


BANK = (
    "A delightful comedy that never runs out of charm.",
    "The director wastes a fine cast on a lifeless script.",
    "Beautiful images cannot hide how boring the story is.",
    "An engrossing thriller, smart from the first scene to the last.",
    "Too long, too loud and too silly.",
    "The most touching love story I have seen in years.",
    "It tries hard to be clever and ends up merely tiresome.",
    "A powerful portrait of a family under pressure.",
    "There is nothing new here, only noise.",
    "Her performance alone is worth the price of a ticket.",
    "A clumsy mix of cheap gags and bad acting.",
    "Quiet, honest and deeply human.",
    "I wanted to like it, but it is simply flat.",
    "The dialogue crackles with wit and intelligence.",
    "Every joke arrives late and leaves early.",
    "A fascinating look at a forgotten corner of history.",
    "The whole thing feels like a pointless exercise.",
    "Gorgeous to look at and surprisingly moving.",
    "A predictable tale told without energy.",
    "Entertaining, inventive and full of heart.",
    "The characters are shallow and the ending is absurd.",
    "A refreshing change from the usual summer fare.",
    "It is hard to imagine a worse sequel.",
    "An unforgettable film about courage and loss.",
    "The script is a mess and the pace is slow.",
    "A brilliant and original debut.",
    "Neither funny nor scary, just dumb.",
    "The film has real warmth and a lovely sense of place.",
    "A ridiculous story played with a straight face.",
    "Compelling, complex and beautifully acted.",
    "By the end I was only waiting for the lights to come up.",
    "An enjoyable ride for children and grown-ups alike.",
    "The worst kind of film: loud, mean and empty.",
    "A gentle drama with a great deal of humour.",
    "It fails as a comedy and as a romance.",
    "Solid, well made and a pleasure to watch.",
    "A thin plot stretched over two dreary hours.",
    "The music is lovely and the ending is perfect.",
    "Unfortunately, none of the ideas goes anywhere.",
    "A rich, provocative and powerful work.",
)
"""Examples in which a word's neighbours can be met; none of them is from a data set."""
