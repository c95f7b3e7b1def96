"""Recipes of the models that judge sentences of film reviews."""

import random
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.data import review_pieces
from attention_core.evaluate.classification import figures
from attention_core.inference.sentiment import batch_of, read_sentence, sentence_of
from attention_core.models.sentence_attention import SentenceClassifier, TwoPhaseClassifier
from attention_core.train.loop import RECIPES, Recipe, ShuffledBatches, TrainingProgress
from attention_core.weights import fill, read_weights

BATCH_SIZE = 256
POOL = 8  # batches of similar lengths are drawn from so many batches' worth of shuffled sentences
LABEL_SMOOTHING = 0.1
BATCHES_PER_EPOCH = 35
COUNT_SCALE = (
    0.5  # how strongly the first number of each word vector starts from counts alone; the rest starts at random
)
ATTENTION, MEAN, TWO_PHASE = "sentence-attention", "sentence-mean", "sentence-two-phase"
DATA = (
    "Movie Review sentence polarity data (Pang and Lee 2005, public for research): 9,662 sentences, of which one in "
    "ten (by the SHA-256 of the sentence) is kept for development; the 1,000 sentences kept out by others are not "
    "read; in each batch 64 made-up sentences of a few words about a telling word of the training part, most with a "
    "negation"
)
N_INVENTED = 64
TELLING = 0.7  # log ratio from which on a word tells praise from blame
MIN_COUNT = 8  # sentences with such a word
NEGATED_SHARE = 0.7
STARTS = ("", "it was", "they were", "this may be", "i am", "we found it")
NEGATIONS = ("not", "not", "not", "never", "no", "n't", "nothing", "without", "nobody")
BETWEEN = ("", "", "a", "the", "very", "so", "really", "that")
ENDINGS = ("", ".", ", really .", "here .", "for me .")


class SentimentTask:
    def __init__(self, data: str | None, seed: int, device: str) -> None:
        self.device = device
        split = review_pieces.split_reviews(review_pieces.read_reviews(data))
        self.train, self.development = split.train, split.development
        self.pieces = [read_sentence(review.sentence).pieces for review in self.train]
        self.labels = torch.tensor([int(review.positive) for review in self.train])
        self.telling = telling_words(log_ratios(self.pieces, self.labels))
        lengths = [len(pieces) for pieces in self.pieces]
        self.batches = ShuffledBatches(lambda generator: epoch_of_batches(lengths, generator), seed)

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        indices = self.batches.at(progress.batch)
        rng = random.Random(generator.initial_seed())
        invented = [make_up(self.telling, rng) for _ in range(N_INVENTED)]
        pieces, mask = batch_of([*(self.pieces[index] for index in indices), *(pieces for pieces, _ in invented)])
        labels = torch.cat((self.labels[indices], torch.tensor([int(positive) for _, positive in invented])))
        pieces, mask, labels = pieces.to(self.device), mask.to(self.device), labels.to(self.device)
        if isinstance(model, TwoPhaseClassifier):
            return F.cross_entropy(model(pieces, mask).logits, labels, label_smoothing=LABEL_SMOOTHING)
        answer, helper = model.training_logits(pieces, mask)  # type: ignore[operator]
        answer_loss = F.cross_entropy(answer, labels, label_smoothing=LABEL_SMOOTHING)
        return (answer_loss + F.cross_entropy(helper, labels, label_smoothing=LABEL_SMOOTHING)) / 2

    @torch.no_grad()
    def start(self, model: nn.Module) -> None:
        """Start word vectors from counts; give a second network the trained first one."""
        if isinstance(model, TwoPhaseClassifier):
            fill(model.guide, ATTENTION, read_weights(ATTENTION))
        elif isinstance(model, SentenceClassifier):
            model.vectors.table.weight[:, 0] = COUNT_SCALE * log_ratios(self.pieces, self.labels).to(self.device)

    def figures(self, model: nn.Module) -> dict[str, Any]:
        development = figures(model, self.development)
        return {
            "training_sentences": len(self.train),
            "development_sentences": development["n"],
            "development_accuracy": development["accuracy"],
            "development_majority_share": development["majority_share"],
        }


def log_ratios(sentences: list[Tensor], labels: Tensor) -> Tensor:
    """Return how much more often each piece and pair occurs in positive than in negative sentences, as a logarithm.

    Sentences are (n_words, N_COLUMNS) each, labels int64 (n,), 1 = positive; the result (N_VECTORS,), 0 for no piece.

    Source: Wang and Manning 2012, "Baselines and bigrams", eq. 1, with smoothing 1.
    """
    counts = torch.ones(2, review_pieces.N_VECTORS)
    for pieces, label in zip(sentences, labels.tolist(), strict=True):
        counts[label, pieces[:, :-1].unique()] += 1
    ratios = (counts[1] / counts[1].sum()).log() - (counts[0] / counts[0].sum()).log()
    ratios[[review_pieces.PAD, review_pieces.UNKNOWN]] = 0
    return ratios


def telling_words(ratios: Tensor) -> list[tuple[str, bool]]:
    """Return words of one piece that tell praise, True, from blame, by the result of log_ratios."""
    words = []
    for word, n in review_pieces.word_lists()[0].items():
        if n < MIN_COUNT or not word.isalpha() or word in review_pieces.NEGATORS:
            continue
        pieces = sentence_of([word]).pieces[0, : review_pieces.MAX_PIECES]
        ratio = float(ratios[pieces[0]])
        if pieces[1] == review_pieces.PAD and abs(ratio) > TELLING:
            words.append((word, ratio > 0))
    return words


def make_up(telling: list[tuple[str, bool]], rng: random.Random) -> tuple[Tensor, bool]:
    """Return the pieces of a sentence such as "it was not very dull here ." and whether it is praise."""
    word, positive = rng.choice(telling)
    negated = rng.random() < NEGATED_SHARE
    start, negation = rng.choice(STARTS), rng.choice(NEGATIONS) if negated else ""
    text = f"{start} {negation} {rng.choice(BETWEEN)} {word} {rng.choice(ENDINGS)}"
    return sentence_of(text.split()).pieces, positive != negated


def epoch_of_batches(lengths: list[int], generator: torch.Generator) -> list[list[int]]:
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches: list[list[int]] = []
    for start in range(0, len(order), POOL * BATCH_SIZE):
        pool = sorted(order[start : start + POOL * BATCH_SIZE], key=lambda index: lengths[index])
        batches += [pool[first : first + BATCH_SIZE] for first in range(0, len(pool), BATCH_SIZE)]
    return [batches[number] for number in torch.randperm(len(batches), generator=generator).tolist()]


RECIPE = Recipe(
    SentimentTask,
    DATA,
    BATCHES_PER_EPOCH,
    epochs=4,
    learning_rate=6e-3,
    weight_decay=0.1,
    slow=("vectors.turn",),
    half=True,
)
RECIPES |= dict.fromkeys((ATTENTION, MEAN, TWO_PHASE), RECIPE)
