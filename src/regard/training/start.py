"""Word vectors to begin with: words that occur in the same pairs of sentences begin alike, in both languages."""

import warnings

import numpy as np
import torch

from regard.data.batches import EncodedPairs, Flat, Ints
from regard.models.seq2seq import Seq2Seq
from regard.types import Float, Tensor

MOST_PAIRS = 50_000
"""Pairs of sentences that are looked at."""


@torch.no_grad()
def begin_with_cooccurrence(model: Seq2Seq, pairs: EncodedPairs, *, shared: bool) -> None:
    """Set the embeddings of words that occur in the pairs; ``shared`` says whether both sides number words alike.

    This is latent semantic analysis over both languages: a word is the pairs it occurs in, rare words counting more, in
    as many dimensions as an embedding has. A word and its translation occur in the same pairs.
    """
    source, target = model.encoder.embedding.weight, model.decoder.embedding.weight
    offset = 0 if shared else len(source)
    words, rows = _occurrences(pairs, offset)
    vectors = _vectors(words, rows, words_in_all=offset + len(target), size=source.shape[1]).to(source)
    for table, first in ((source, 0), (target, offset)):
        begun = vectors[first : first + len(table)]
        table.copy_(torch.where(begun.any(dim=1, keepdim=True), begun, table))


def _occurrences(pairs: EncodedPairs, offset: int) -> tuple[Ints, Ints]:
    """Return which word occurs in which pair, each once."""
    chosen = np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), MOST_PAIRS)).astype(np.int64))
    sides = (_side(pairs.source, chosen, 0), _side(pairs.target, chosen, offset))
    words, rows = (np.concatenate(both) for both in zip(*sides, strict=True))
    once = np.unique(words * len(chosen) + rows)
    return once // len(chosen), once % len(chosen)


def _side(sentences: Flat, chosen: Ints, offset: int) -> tuple[Ints, Ints]:
    is_chosen = np.isin(np.arange(len(sentences)), chosen).repeat(sentences.lengths)
    return sentences.ids[is_chosen].astype(np.int64) + offset, np.arange(len(chosen)).repeat(sentences.lengths[chosen])


def _vectors(words: Ints, rows: Ints, *, words_in_all: int, size: int) -> Float[Tensor, "V E"]:
    """Return vectors of length 1; 0 for words that do not occur, or occur everywhere."""
    count = int(rows.max()) + 1
    weight = np.log(count / np.bincount(words, minlength=words_in_all).clip(1))
    values = torch.from_numpy(weight[words]).float()
    places = torch.from_numpy(np.stack((words, rows)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that sparse matrices are young in torch
        table = torch.sparse_coo_tensor(places, values, (words_in_all, count), check_invariants=False).to_sparse_csr()
    rank = min(size, words_in_all, count)
    left, strength, _ = torch.svd_lowrank(table, q=rank, niter=4)
    vectors = torch.nn.functional.pad(left * strength.sqrt(), (0, size - rank))
    is_known = np.bincount(words, weights=weight[words], minlength=words_in_all) > 0
    return torch.nn.functional.normalize(vectors, dim=1) * torch.from_numpy(is_known)[:, None]
