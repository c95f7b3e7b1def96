"""Is grammar caught? python -m benchmarks.grammar, on the held-out test pairs of ATTENTION_DATA; nothing is random.

Before the articles of French references: the weight of the English noun, and whether the right gender is likelier with
that noun barred, with the heaviest other word barred, with each English word read alone. In the pairs that were aligned
by hand: how often attention turns round where two French neighbours stand the other way round.
"""

from itertools import pairwise
from statistics import mean
from typing import Any, cast

from attention_core.data.pieces import END, load_vocabulary, pair_words, read_pairs, split_pairs
from attention_core.evaluate.translation import attention_between, read_alignments
from attention_core.explain.alignment import AlignedPair
from attention_core.models import load
from attention_core.models.translator import Translator
from attention_core.topics.translate import grammar
from attention_core.topics.translate.translation import forced_translation, read_source, show_translation
from benchmarks.report import publish

SCORES = "additive", "dot", "general"
MASCULINE = {masculine for masculine, _ in grammar.GENDERS}


def genders(score: str, model: Translator) -> dict[str, Any]:
    """Return the figures of one translator on the French of all test pairs."""
    test, found = split_pairs(read_pairs()).test, []
    for (english, _), (_, french) in zip(test, pair_words(test), strict=True):
        source, ids = read_source(english), [*load_vocabulary().cut(french).ids, END]
        made = forced_translation(model, source, ids)
        view = show_translation(model, score, source, (), made).view
        for word in grammar.gendered_words(view):
            weight = float(view.weights[word.row, word.noun])
            found.append((word, weight, grammar.gender_probability(model, source, made, view, word)))
    return {
        "n": len(found),
        "masculine": round(mean(word.form in MASCULINE for word, *_ in found), 4),
        "noun_weight": round(mean(weight for _, weight, _ in found), 4),
        "right": {
            way: round(mean(getattr(likely, way) > 0.5 for *_, likely in found), 4)
            for way in grammar.GenderProbability._fields
        },
    }


def turned(pair: AlignedPair) -> list[int]:
    """Return the French words whose only sure link lies after that of the next French word."""
    links = [[source for source, target in pair.sure if target == place] for place in range(len(pair.target))]
    return [
        place
        for place, (one, following) in enumerate(pairwise(links))
        if len(one) == len(following) == 1 and following < one
    ]


def main() -> None:
    pairs, by_score = read_alignments("tests/data/alignments.txt"), {}
    for score in SCORES:
        model = cast(Translator, load(f"translator-{score}").eval())
        looks = [attention_between(model, pair.source, pair.target)[0][:, :-1].argmax(1).tolist() for pair in pairs]
        follows = [look[at + 1] < look[at] for pair, look in zip(pairs, looks, strict=True) for at in turned(pair)]
        by_score[score] = genders(score, model) | {"n_turned": len(follows), "turned": sum(follows)}
    ways = grammar.GenderProbability._fields
    rows = [["right gender", *ways, "turned"]]
    for score, found in by_score.items():
        rows.append([score, *(f"{found['right'][way]:.1%}" for way in ways), f"{found['turned']}/{found['n_turned']}"])
    publish("grammar", rows, {"by_score": by_score})


if __name__ == "__main__":
    main()
