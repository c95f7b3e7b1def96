"""Recipes of the translators: the same pairs in the same order for all of them."""

from dataclasses import replace
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from attention_core.data.pieces import END, PAD, START, Pair, load_vocabulary, pair_words, read_pairs, split_pairs
from attention_core.data.sentence_presets import LEARNED
from attention_core.models.translator import CanTranslate, Labels, TiedTranslator, Translator
from attention_core.train.loop import RECIPES, Recipe, ShuffledBatches, TrainingProgress

BATCH_SIZE = 128
LABEL_SMOOTHING = 0.1
LONGEST = 40  # pieces of the longest sentence that is trained on
LONG = 11  # source pieces, end included, from which on a pair is met twice: the corpus is short of long sentences
N_JOINED = 6000  # pairs made of two, so that a full stop is not always the end and length is nothing new
WITHOUT_STOP = 0.06  # share of the pairs that lose their full stop on both sides: people forget to type it

DATA = (
    "136,952 English-French sentence pairs of tatoeba.org, selected by manythings.org/anki (2017-09-29), CC-BY 2.0; "
    "split by English sentence: 582 pairs for development, 564 for test, stratified by length 3 to 20, the rest for "
    "training"
)


class Batch:
    """Sentence pairs with equally long sources."""

    def __init__(self, pairs: list[tuple[list[int], list[int]]], device: str) -> None:
        self.source = torch.tensor([source for source, _ in pairs], device=device)  # (batch, n_source), the end last
        targets = [torch.tensor([START, *target, END]) for _, target in pairs]
        # (batch, n_target), the start, then the target; the target, then the end; behind both padding
        self.fed = pad_sequence([ids[:-1] for ids in targets], True, PAD).to(device)
        self.next_pieces = pad_sequence([ids[1:] for ids in targets], True, PAD).to(device)


class TranslationTask:
    """The next French piece, given an English sentence and the French pieces before it."""

    batch_size = BATCH_SIZE

    def __init__(self, data: str | None, seed: int, device: str) -> None:
        self.device = device
        split = split_pairs(read_pairs(data))
        self.development, self.test = split.development, split.test
        self.pairs = training_pairs(split.train, seed)
        self.batches = ShuffledBatches(lambda generator: epoch_of_batches(self.pairs, generator), seed)

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        batch = Batch([self.pairs[index] for index in self.batches.at(progress.batch)], self.device)
        translator = cast(TiedTranslator, model)
        features = translator.features(batch.source, batch.fed)
        is_piece = batch.next_pieces != PAD
        loss = smoothed_cross_entropy(
            features[is_piece], translator.embedding.weight, translator.output_bias, batch.next_pieces[is_piece]
        )
        return loss * min(1.0, len(batch.source) / self.batch_size)  # few sentences teach less surely

    @torch.inference_mode()
    def snapshot(self, model: nn.Module) -> dict[str, Tensor]:
        """Return the attention (n_target, n_source) for each sentence of LEARNED as it is now, as "weights.NUMBER"."""
        vocabulary = load_vocabulary()
        model.eval()
        snapshot = {}
        for number, (source, target) in enumerate(pair_words(list(LEARNED))):
            source_ids = torch.tensor([*vocabulary.cut(source).ids, END], device=self.device)
            fed = torch.tensor([START, *vocabulary.cut(target).ids], device=self.device)
            labels = Labels(["" for _ in source_ids], ["" for _ in fed])
            snapshot[f"weights.{number}"] = model.trace(source_ids, fed, labels).weights()  # type: ignore[operator]
        model.train()
        return snapshot

    def figures(self, model: nn.Module) -> dict[str, Any]:
        from attention_core.evaluate.translation import evaluate_bleu

        splits = {"development": self.development, "test": self.test}
        figures = {split: evaluate_bleu(cast(CanTranslate, model), pairs) for split, pairs in splits.items()}
        if isinstance(model, Translator) and model.config.has_input_feeding:
            figures["without_feeding"] = evaluate_bleu(model.without_feeding(), self.test)
        return figures


def training_pairs(pairs: list[Pair], seed: int) -> list[tuple[list[int], list[int]]]:
    """Return the pairs as pieces, source with its end piece, with long ones twice and some joined or without stop."""
    vocabulary = load_vocabulary()
    cut = [(vocabulary.cut(source).ids, vocabulary.cut(target).ids) for source, target in pair_words(pairs)]
    generator = torch.Generator().manual_seed(seed)
    stop = vocabulary.cut(["."]).ids[0]
    keeps = (torch.rand(len(cut), generator=generator) >= WITHOUT_STOP).tolist()
    plain = [
        (source[:-1], target[:-1])
        if not keep and source[-1] == target[-1] == stop and len(source) > 1
        else (source, target)
        for (source, target), keep in zip(cut, keeps, strict=True)
    ]
    long = [pair for pair in cut if len(pair[0]) >= LONG]
    first, second = torch.randint(len(cut), (2, N_JOINED), generator=generator).tolist()
    joined = [(cut[a][0] + cut[b][0], cut[a][1] + cut[b][1]) for a, b in zip(first, second, strict=True)]
    fitting = [pair for pair in plain + long + joined if max(len(pair[0]), len(pair[1])) < LONGEST]
    return [([*source, END], target) for source, target in fitting]


def epoch_of_batches(
    pairs: list[tuple[list[int], list[int]]], generator: torch.Generator, size: int = BATCH_SIZE
) -> list[list[int]]:
    """Return batches of positions in `pairs`, sources of one length together, targets of similar lengths."""
    order = torch.randperm(len(pairs), generator=generator).tolist()
    order.sort(key=lambda index: (len(pairs[index][0]), len(pairs[index][1])))
    batches: list[list[int]] = []
    for index in order:
        same_length = batches and len(pairs[batches[-1][0]][0]) == len(pairs[index][0])
        if not same_length or len(batches[-1]) == size:
            batches.append([])
        batches[-1].append(index)
    return [batches[number] for number in torch.randperm(len(batches), generator=generator).tolist()]


def smoothed_cross_entropy(features: Tensor, vectors: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Return the label-smoothed cross-entropy without ever holding all logits (n, n_classes).

    Torch's chunked kernel knows no smoothing, but smoothing only adds eps (z_wanted - mean z) to the loss.
    """
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=128)
    sharp = F.linear_cross_entropy(features, vectors, targets, linear_bias=bias, options=options)
    contrast = (features * (vectors[targets] - vectors.mean(0))).sum(1) + bias[targets] - bias.mean()
    return sharp + LABEL_SMOOTHING * contrast.mean()


BATCHES_PER_EPOCH = 1285
SNAPSHOTS = (0.0, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 1.0)
RECURRENT = Recipe(TranslationTask, DATA, BATCHES_PER_EPOCH, epochs=5, learning_rate=2e-3, weight_decay=0.01, half=True)
RECIPES |= {
    "translator-transformer": replace(RECURRENT, epochs=8, learning_rate=1.2e-3),
    "translator-additive": replace(RECURRENT, snapshot_at=SNAPSHOTS),
    **{f"translator-{name}": RECURRENT for name in ("none", "mean", "dot", "plain", "input-feeding")},
}
