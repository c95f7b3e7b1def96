"""Recipes of the models that judge sentences of film reviews."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.data.review_pieces import N_VECTORS, PAD, UNKNOWN, read_reviews, split_reviews
from attention_core.evaluate.classification import figures
from attention_core.models import load
from attention_core.models.sentence_attention import SentenceClassifier, TwoPhaseClassifier
from attention_core.topics.matter import sentences as matter
from attention_core.topics.matter.sentences import batch_of, explain, read_sentence, remove_each
from attention_core.train.loop import RECIPES, Recipe, ShuffledBatches, TrainingProgress
from attention_core.weights import WeightsError, fill, read_weights

BATCH_SIZE = 256
POOL = 8  # batches of similar lengths are drawn from so many batches' worth of shuffled sentences
LABEL_SMOOTHING = 0.1
BATCHES_PER_EPOCH = 35
COUNTED = 0.5  # how strongly the first number of each word vector starts from counts alone; the rest starts at random
AGREEMENT_SENTENCES = 200
ATTENTION, MEAN, TWO_PHASE = "sentence-attention", "sentence-mean", "sentence-two-phase"
DATA = (
    "Movie Review sentence polarity data (Pang and Lee 2005, public for research): 9,662 sentences, of which one in "
    "ten (by the SHA-256 of the sentence) is kept for development; the 1,000 sentences kept out by others are not read"
)


class SentimentTask:
    def __init__(self, data: str | None, seed: int, device: str) -> None:
        self.device = device
        split = split_reviews(read_reviews(data))
        self.train, self.development = split.train, split.development
        self.pieces = [read_sentence(review.sentence).pieces for review in self.train]
        self.labels = torch.tensor([int(review.positive) for review in self.train])
        lengths = [len(pieces) for pieces in self.pieces]
        self.batches = ShuffledBatches(lambda generator: epoch_of_batches(lengths, generator), seed)

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        places = self.batches.at(progress.step)
        pieces, mask = batch_of([self.pieces[place] for place in places])
        pieces, mask, labels = pieces.to(self.device), mask.to(self.device), self.labels[places].to(self.device)
        if isinstance(model, TwoPhaseClassifier):
            return F.cross_entropy(model(pieces, mask).logits, labels, label_smoothing=LABEL_SMOOTHING)
        answer, helper = model.training_logits(pieces, mask)  # type: ignore[operator]
        own = F.cross_entropy(answer, labels, label_smoothing=LABEL_SMOOTHING)
        return (own + F.cross_entropy(helper, labels, label_smoothing=LABEL_SMOOTHING)) / 2

    @torch.no_grad()
    def start(self, model: nn.Module) -> None:
        """Start word vectors from counts; give a second network the trained first one."""
        if isinstance(model, TwoPhaseClassifier):
            fill(model.guide, ATTENTION, read_weights(ATTENTION))
        elif isinstance(model, SentenceClassifier):
            model.vectors.table.weight[:, 0] = COUNTED * log_ratios(self.pieces, self.labels).to(self.device)

    def figures(self, model: nn.Module) -> dict[str, Any]:
        own = figures(model, self.development)
        result = {
            "training_sentences": len(self.train),
            "development_sentences": own["n"],
            "development_accuracy": own["accuracy"],
            "development_majority_share": own["majority_share"],
        }
        if isinstance(model, SentenceClassifier) and model.config.pooling == "attention":
            result["rank_agreement_of_weight_and_removal"] = self._agreement(model)
            beside: dict[str, float | str] = {ATTENTION: own["accuracy"]}
            for name in (MEAN, TWO_PHASE):
                try:
                    beside[name] = figures(load(name, self.device), self.development)["accuracy"]
                except WeightsError:
                    beside[name] = "train it first to see its figure here"
            result["side_by_side"] = beside
        return result

    def _agreement(self, model: nn.Module) -> dict[str, float]:
        """Return how far heavy words and words whose removal changes the answer are the same ones, on average."""
        figures: list[float] = []
        for review in self.development:
            sentence = read_sentence(review.sentence)
            if len(figures) < AGREEMENT_SENTENCES and len(sentence.words) >= 4:
                weights, removed = explain(model, sentence).weights()[0], remove_each(model, sentence)
                figures.append(matter.rank_agreement(weights.tolist(), removed.abs().tolist()))
        return {"sentences": len(figures), "mean": round(sum(figures) / max(len(figures), 1), 3)}


def log_ratios(sentences: list[Tensor], labels: Tensor) -> Tensor:
    """Return how much more often each piece and pair occurs in positive than in negative sentences, as a logarithm.

    Sentences are (n_words, N_COLUMNS) each, labels int64 (n,), 1 = positive; the result (N_VECTORS,), 0 for no piece.

    Source: Wang and Manning 2012, "Baselines and bigrams", eq. 1, with smoothing 1.
    """
    counts = torch.ones(2, N_VECTORS)
    for pieces, label in zip(sentences, labels.tolist(), strict=True):
        counts[label, pieces.unique()] += 1
    ratios = (counts[1] / counts[1].sum()).log() - (counts[0] / counts[0].sum()).log()
    ratios[[PAD, UNKNOWN]] = 0
    return ratios


def epoch_of_batches(lengths: list[int], generator: torch.Generator) -> list[list[int]]:
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches: list[list[int]] = []
    for start in range(0, len(order), POOL * BATCH_SIZE):
        pool = sorted(order[start : start + POOL * BATCH_SIZE], key=lambda place: lengths[place])
        batches += [pool[first : first + BATCH_SIZE] for first in range(0, len(pool), BATCH_SIZE)]
    return [batches[number] for number in torch.randperm(len(batches), generator=generator).tolist()]


RECIPE = Recipe(SentimentTask, DATA, BATCHES_PER_EPOCH, epochs=4, learning_rate=6e-3, weight_decay=0.1, half=True)
RECIPES |= dict.fromkeys((ATTENTION, MEAN, TWO_PHASE), RECIPE)
