"""Sentences that the text pages open with."""

LEARNED = (
    ("The red car is in front of the house.", "La voiture rouge est devant la maison."),
    ("I don't know where he bought this book.", "Je ne sais pas où il a acheté ce livre."),
    ("She has never seen such a beautiful city.", "Elle n'a jamais vu une aussi belle ville."),
)
"""English with French: the pairs whose alignments are kept while the additive translator learns."""

TRANSLATE = {
    "Adjective after noun": "The red car is in front of the house.",
    "ne … pas": "I don't know where he bought this book.",
    "I am a student": "I am a student.",
    "The classic figure": "The agreement on the European Economic Area was signed in August 1992.",
    "Compound past": "They have already sold their old house.",
    "A long one": (
        "The man who was sitting next to me on the train told me that he had lived in a small village near the sea "
        "for many years."
    ),
    "Unknown words": "My chihuahua Zorglub hates broccoli.",
}
"""Sentences to translate: the label of each, and the sentence."""

CLASSIC = TRANSLATE["The classic figure"]
GIVEN = {CLASSIC: "L'accord sur la zone économique européenne a été signé en août 1992."}
"""French that comes with a sentence of TRANSLATE. Source: figure 3a of Bahdanau et al. 2015."""

REMEMBERED = {
    "Fifteen words": "The book that my sister gave me when I was ill is still on the table.",
    "Five words": "The red car stopped here.",
    "Two clauses": "I don't know where he bought this book, but I would like to read it too.",
    "Twenty-eight words": "The old man who lives in the small house at the end of our street told me yesterday that "
    "his daughter will come back from Paris next week.",
}
"""Sentences to be read word by word: by how long they are."""

LAYERED = {
    "Adjective after noun": "The red car is in front of the house.",
    "Who bit whom": "The dog bit the man.",
    "What was tired": "The animal didn't cross the street because it was too tired.",
    "ne … pas": "I don't know where he bought this book.",
    "Word pieces": "The unbelievable magician disappeared.",
}
"""Sentences to look at inside a transformer: the label of each, and the sentence."""
