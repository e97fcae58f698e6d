# %% [markdown]
# # From one query to a translator
#
# Equation, class, picture: attention in the order in which it is understood. Every number and every picture on this
# page comes from running `examples/tutorial.py`, which takes two minutes on a laptop; the file opens as a notebook in
# editors that know `# %%` cells.

# %%
import math
import sys
from pathlib import Path
from tempfile import mkdtemp

import torch
from matplotlib.figure import Figure
from torch import nn

from regard.attention.functional import attend, attend_by_loops, multi_head_self_attention
from regard.lab.exercises import HEADS, QUERY, W_O, X
from regard.lab.experiments import Settings, average, copy, heads
from regard.pictures.curves import draw_curves
from regard.pictures.diagram import Diagram, draw_attention, draw_side_by_side

TEMPORARY = Path(mkdtemp(prefix="regard-tutorial-"))
OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else TEMPORARY
OUT.mkdir(parents=True, exist_ok=True)


def show(figure: Figure, name: str) -> None:
    """Keep a picture under a name."""
    figure.savefig(OUT / f"{name}.png", dpi=90)
    print(f"[picture {name}.png]")


# %% [markdown]
# ## One query
#
# A query `q` is compared with keys `k_1 ... k_m`; the better a key fits, the more of its value goes into the answer:
#
#     alpha_i = softmax_i(q · k_i / √d)          a = Σ_j alpha_j v_j
#
# Four vectors serve as keys and as values here. The first and the third fit the query equally well and get the same
# weight.

# %%
output, weights = attend(QUERY, X, X)
print("weights", [round(w, 4) for w in weights.tolist()])
print("output ", [round(x, 4) for x in output.tolist()])

# %% [markdown]
# The same from scalars and vectors only, with no product of two matrices: nothing is hidden in the `@`.

# %%
by_hand, _ = attend_by_loops(QUERY.tolist(), X.tolist(), X.tolist())
differences = [abs(a - b) for a, b in zip(by_hand, output.tolist(), strict=True)]
print("the same up to rounding:", max(differences) < 1e-12)

# %% [markdown]
# ## What one query can do
#
# Point it along a key, `q = c k_j`, and it copies that key's value. The error falls exponentially in `c / √d`:

# %%
copying = copy(Settings())
show(copying.figure, "copy")
print(copying.sentences[1])

# %% [markdown]
# Point it between two keys, `q = c (k_a + k_b)`, and it averages their values. Without the factor `c` it does not:

# %%
averaging = average(Settings())
show(averaging.figure, "average")
print(averaging.sentences[1])

# %% [markdown]
# ## Why several heads
#
# Let the keys have random lengths. One query between two keys now swings from one to the other with every draw; two
# queries, one for each key, hold still. This is the case for more than one head:

# %%
two = heads(Settings())
show(two.figure, "heads")
print(two.sentences[0])

# %% [markdown]
# ## Every position asks
#
# In self-attention each row of `X` is projected to a query, a key and a value, in every head anew; the heads' answers
# are joined and projected once more: `Z = [Z^1, ..., Z^N] W_O` with `Z^n = softmax(Q K' / √d) V`.

# %%
_, maps = multi_head_self_attention(X, HEADS, W_O)
positions = ("x1", "x2", "x3", "x4")
show(draw_attention(Diagram(positions, positions, maps.numpy(), title="self-attention"), heads="all"), "self-attention")

# %% [markdown]
# ## A class for the decoder
#
# A translator's decoder asks with its state `h`, the encoder's outputs `e_t` are the keys and the values:
#
#     q = W_q h     k_t = W_k e_t     alpha = softmax(q · k_t / √d)     a = Σ_t alpha_t e_t
#
# Batched, with the shapes of the homework: `hidden` is [B, H], `encoder_outputs` is [S, B, M].


# %%
class Attention(nn.Module):
    def __init__(self, enc_hid_dim: int, dec_hid_dim: int, kq_dim: int = 512) -> None:
        super().__init__()
        self.query = nn.Linear(dec_hid_dim, kq_dim)
        self.key = nn.Linear(2 * enc_hid_dim, kq_dim)

    def forward(self, hidden: torch.Tensor, encoder_outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        query, keys = self.query(hidden), self.key(encoder_outputs)
        scores = torch.einsum("bk,sbk->bs", query, keys) / math.sqrt(keys.shape[-1])
        alpha = torch.softmax(scores, dim=1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha


value, alpha = Attention(enc_hid_dim=3, dec_hid_dim=5, kq_dim=4)(torch.randn(2, 5), torch.randn(7, 2, 6))
print("value", list(value.shape), "weights", list(alpha.shape), "sums", [round(s, 6) for s in alpha.sum(1).tolist()])

# %% [markdown]
# `regard check FILE.py` grades such a class from the outside: it finds out from the weights alone whether the score is
# a scaled dot product of two projections, whatever the layers are called, and names the mistake if it is not. Here the
# scale is forgotten:

# %%
from regard.course.check import check  # noqa: E402

student = TEMPORARY / "student.py"
student.write_text(
    """import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.query = nn.Linear(dec_hid_dim, kq_dim)
        self.key = nn.Linear(2 * enc_hid_dim, kq_dim)

    def forward(self, hidden, encoder_outputs):
        scores = torch.einsum("bk,sbk->bs", self.query(hidden), self.key(encoder_outputs))
        alpha = torch.softmax(scores, dim=1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
"""
)
report = check(student)
print(f"{report.total} / {report.full} points:", report.findings[0].title)

# %% [markdown]
# ## A translator
#
# Now the whole: a bidirectional GRU reads a German sentence, a GRU writes the English one, and at every step attention
# says where to look. `scenes` are made-up sentences with German word order and known word alignments. Three models,
# which differ in nothing but their attention: none (all the decoder knows is one vector), mean (it looks everywhere
# alike), scaled dot.

# %%
from regard.config import load_config  # noqa: E402
from regard.training.events import EpochEnded  # noqa: E402
from regard.training.session import Session  # noqa: E402

SMALL = ["data.train=6000", "data.validation=300", "data.test=300", "model.embedding=96", "model.encoder_hidden=64"]
SMALL += ["model.hidden=96", "model.attention_size=64", "model.readout=96", "model.dropout=0.1"]
SMALL += ["model.embedding_gain=1", "train.batch=32", "train.epochs=6", "train.learning_rate=6e-3"]
runs = TEMPORARY / "runs"
runs.mkdir()
curves = {}
for mechanism in ("none", "mean", "scaled_dot"):
    session = Session.begin(load_config("scenes", [*SMALL, f"model.attention={mechanism}"]), runs / mechanism)
    ends = [event for event in session.fit() if isinstance(event, EpochEnded)]
    curves[mechanism] = [([e.epoch for e in ends], [e.validation_nats_per_token for e in ends])]
    print(f"{mechanism:10} validation loss {ends[-1].validation_nats_per_token:.3f} nats per token")
show(draw_curves({"validation loss, nats per token": curves}, x_label="epoch"), "curves")

# %% [markdown]
# What was learned shows in the attention: German begins with the place and ends with the verb, and each is fetched
# when English needs it.

# %%
from regard.data.corpus import load_corpus  # noqa: E402
from regard.pictures.examples import diagram_of  # noqa: E402
from regard.translate import Translator  # noqa: E402

test = load_corpus(load_config("scenes", SMALL).data)["test"]
row = test.sources.index("Auf der Terrasse hat die schwarze Lampe gestanden.")
print("source      ", test.sources[row])
print("reference   ", test.targets[row])
diagrams = []
for mechanism in ("mean", "scaled_dot"):
    translation = Translator.open(runs / mechanism).translate(test.sources[row])
    print(f"{mechanism:12}", translation.text)
    seen = diagram_of(translation)
    diagrams.append(Diagram(seen.source, seen.target, seen.weights, title=mechanism))
show(draw_side_by_side(diagrams), "attention")

# %% [markdown]
# A single vector is not enough: without attention hardly a sentence of more than six words comes out right.

# %%
import numpy as np  # noqa: E402

from regard.metrics.base import buckets  # noqa: E402
from regard.metrics.bleu import Bleu  # noqa: E402

rows = buckets([len(source.split()) for source in test.sources], [6, 9])
by_length = {}
for mechanism in ("none", "scaled_dot"):
    translations = [t.text for t in Translator.open(runs / mechanism).translate_all(test.sources)]
    scores = Bleu().score_buckets(Bleu().statistics(translations, test.targets), rows)
    by_length[mechanism] = [(list(scores), [score.value for score in scores.values()])]
    print(f"{mechanism:12}", {label: round(score.value, 1) for label, score in scores.items()})
show(draw_curves({"BLEU by words in the source": by_length}, x_label="words"), "length")

# %% [markdown]
# Next: `regard lab` for the experiments with your own numbers, `regard train scenes` for the full corpus, and
# [Models](models.md) for the other mechanisms.

# %%
best, worst = (curves[name][0][1][-1] for name in ("scaled_dot", "none"))
assert best < worst - 0.3, "attention should help"
assert np.isfinite(best)
