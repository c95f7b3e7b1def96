"""Sentences and texts written for this project, which pages open with."""

import re
from pathlib import Path

LEARNED = (
    ("The red car is in front of the house.", "La voiture rouge est devant la maison."),
    ("I don't know where he bought this book.", "Je ne sais pas où il a acheté ce livre."),
    ("She has never seen such a beautiful city.", "Elle n'a jamais vu une aussi belle ville."),
)
"""English with French: the pairs whose alignments are kept while the additive translator learns."""

OPENING = "The black dog is afraid of the little cat.", "He gave me a blue shirt for my birthday."
"""English that Start translates."""

TRANSLATE = {
    "Adjective after noun": "The red car is in front of the house.",
    "Two animals": "The dog is under the table and the cat is on the bed.",
    "A long one": "My uncle bought a new house near the station last year because he works in the city.",
    "ne … pas": "I don't know where he bought this book.",
    "The classic figure": "The agreement on the European Economic Area was signed in August 1992.",
    "Unknown words": "My chihuahua Zorglub hates broccoli.",
}
"""Sentences to translate: the label of each, and the sentence."""

CLASSIC = TRANSLATE["The classic figure"]
REFERENCES = {CLASSIC: "L'accord sur la zone économique européenne a été signé en août 1992."}
"""French that comes with a sentence of TRANSLATE. Source: figure 3a of Bahdanau et al. 2015."""

READ_BACK = {
    "La voiture est en route de la maison.": "The car is on the way of the house.",
    "Le chien est sous la table et le lit.": "The dog is under the table and the bed.",
    "Mon oncle a acheté une nouvelle maison dans la ville mais il s'est produit la semaine prochaine.": (
        "My uncle bought a new house in the city but he happened next week."
    ),
    "Ma voiture a acheté un journal rouge dans la maison mais il est en train de marcher dans le magasin.": (
        "My car bought a red newspaper in the house but he is walking in the shop."
    ),
    "Les enfants de Tom sont dans le magasin de la nuit dernière, mais elle a fait du bruit de nuit.": (
        "Tom's children are in the shop of last night, but she made noise at night."
    ),
    "Le chien noir a peur de le chien.": "The black dog is afraid of the dog.",
    "Il m'a donné une chemise pour mon anniversaire.": "He gave me a shirt for my birthday.",
}
"""French that the translator without attention makes of examples -> what it says, in English."""

LOST = {
    (english, french): lost
    for english, french, lost in zip(TRANSLATE.values(), READ_BACK, ("red, in front", "the cat"), strict=False)
}
"""A sentence of TRANSLATE and the French that it makes of it -> words of the sentence that are lost."""

REMEMBERED = {
    "Aunt and car": "My aunt bought a red car last month because she works in the city and her husband works in the "
    "village.",
    "Mother and children": "The children are playing in the garden, but their mother is in bed because she worked all "
    "night.",
    "Uncle and house": "My uncle bought a new house near the station last year because he works in the city.",
}
"""Long sentences to be read word by word."""

SHORTER = dict(
    zip(
        REMEMBERED.values(),
        ("My aunt bought a red car.", "The children are playing in the garden.", "My uncle bought a new house."),
        strict=True,
    )
)
"""Long sentence -> the short one that it begins with."""

FAITHFUL = dict(
    zip(
        (
            "Ma tante a acheté une voiture rouge.",
            "Les enfants jouent dans le jardin.",
            "Mon oncle a acheté une nouvelle maison.",
            "Ma tante a acheté une voiture rouge le mois dernier parce qu'elle travaille dans la ville et son mari "
            "travaille dans le village.",
            "Les enfants jouent dans le jardin, mais leur mère est au lit parce qu'elle a travaillé toute la nuit.",
            "Mon oncle a acheté une nouvelle maison près de la gare l'année dernière parce qu'il travaille dans la "
            "ville.",
        ),
        (*SHORTER.values(), *REMEMBERED.values()),
        strict=True,
    )
)
FAITHFUL |= {french: english for english, french in LEARNED}
FAITHFUL |= {
    "Le chien noir a peur du petit chat.": OPENING[0],
    "Il m'a donné une chemise bleue pour mon anniversaire.": OPENING[1],
    "Le chien est sous la table et le chat est sur le lit.": TRANSLATE["Two animals"],
    "Les enfants jouent au jardin, mais leur mère est au lit parce qu'elle a travaillé toute la nuit.": (
        REMEMBERED["Mother and children"]
    ),
    "Mon oncle a acheté une nouvelle maison près de la gare l'année dernière, parce qu'il travaille dans la ville.": (
        TRANSLATE["A long one"]
    ),
}
"""French in which nothing of these sentences is lost -> the sentence."""

BEGINNINGS = {
    "Ma tante a acheté.": "My aunt bought.",
    "Ma tante a acheté un rouge.": "My aunt bought a red.",
    "Ma tante a acheté une voiture rouge le mois dernier.": "My aunt bought a red car last month.",
    "Ma tante a acheté une voiture rouge pour elle le mois prochain.": "My aunt bought a red car for her next month.",
    "Ma tante a acheté une voiture rouge au mois, mais elle ne marche pas en semaine.": (
        "My aunt bought a red car by the month, but she does not walk on weekdays."
    ),
    "Ma voiture a acheté un livre rouge dans la semaine mais il ne peut pas me rendre la semaine.": (
        "My car bought a red book in the week but he cannot give me back the week."
    ),
    "Ma voiture a acheté un livre rouge dans la semaine, mais il ne marche pas à sa maison.": (
        "My car bought a red book in the week, but he does not walk to his house."
    ),
}
BEGINNINGS |= {
    f"Ma tante a acheté une voiture rouge le mois, parce qu'elle travaille{french}.": (
        f"My aunt bought a red car the month, because she works{english}."
    )
    for french, english in (
        ("", ""),
        (" dans la ville", " in the city"),
        (" dans la ville et son mari", " in the city and her husband"),
        (" dans la ville et son mari fonctionne", " in the city and her husband functions"),
        (" dans la ville et son mari fonctionne au village", " in the city and her husband functions in the village"),
    )
}
"""French that translators make of what the first of REMEMBERED begins with -> what it says, in English."""

LAYERED = {
    "Who helped whom": "Tom helped Mary.",
    "ne … pas": "I don't know where he bought this book.",
    "Who was tired": "The child didn't eat because he was too tired.",
    "Adjective after noun": "The red car is in front of the house.",
    "Word pieces": "The photographer forgot his camera.",
}
"""Sentences to look at inside a transformer: the label of each, and the sentence."""

PRESETS = {
    "Not bad": "Not bad at all.",
    "A comma": "Not bad, warm and funny.",
    "Never boring": "Never boring, always moving.",
    "Praise": "Gorgeous to look at and surprisingly moving.",
    "Blame": "Unfortunately, none of the ideas goes anywhere.",
    "Irony": "If you enjoy watching paint dry, you will love this masterpiece.",
}
"""Label -> sentence; the first one is there on arrival."""

MEANT = {text: "negative" if label in ("Blame", "Irony") else "positive" for label, text in PRESETS.items()}
"""Sentence -> how a person reads it."""
NEGATIONS = frozenset(["not", "no", "never", "nothing", "nobody", "none", "neither", "nor", "without", "cannot"])


def is_negated(sentence: str) -> bool:
    """Return whether a sentence holds a word that negates, such as "not" or "isn't"."""
    words = re.findall(r"[a-z']+", sentence.lower().replace("’", "'"))
    return any(word in NEGATIONS or word.endswith("n't") for word in words)


THE_LIGHTHOUSE = Path(__file__).with_name("the_lighthouse.txt").read_text(encoding="utf-8")
