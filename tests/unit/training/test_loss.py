import pytest
import torch
from torch import Tensor, nn

from regard.training import loss as module
from regard.training.loss import linear_cross_entropy

L, F, V = 7, 5, 11


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("sizes", [(3 * V, 2), (1, 3), (module.HELD, module.BLOCK)])
def test_loss_and_gradients_are_those_of_torch(
    smoothing: float, sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in zip(("HELD", "BLOCK"), sizes, strict=True):
        monkeypatch.setattr(module, name, size)
    output, features, targets = nn.Linear(F, V), torch.randn(L, F, requires_grad=True), torch.randint(0, V, (L,))
    reference = nn.functional.cross_entropy(output(features), targets, label_smoothing=smoothing, reduction="sum")
    of = features, output.weight, output.bias
    ours, nats = linear_cross_entropy(features, output, targets, smoothing=smoothing)
    torch.testing.assert_close(ours, reference)
    assert not nats.requires_grad
    torch.testing.assert_close(nats, nn.functional.cross_entropy(output(features), targets, reduction="sum").detach())
    for factor in (1.0, 3.0):
        got = torch.autograd.grad(factor * ours, of, retain_graph=True)
        wanted = torch.autograd.grad(factor * reference, of, retain_graph=True)
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("held", [1, 8 * V, module.HELD])
def test_products_have_whole_blocks_and_no_more_than_is_held(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD", held)
    monkeypatch.setattr(module, "BLOCK", 4)
    rows, mm = [], torch.mm
    monkeypatch.setattr(torch, "mm", lambda left, right, **out: rows.append(left.shape[0]) or mm(left, right, **out))
    linear_cross_entropy(torch.randn(13, F), nn.Linear(F, V), torch.randint(0, V, (13,)))
    sizes = {1: [4, 4, 4, 4], 8 * V: [8, 8]}.get(held, [16])
    assert rows == [sizes[0], sizes[0], V, *(size for size in sizes[1:] for _ in range(2))]


def test_a_word_held_for_impossible_has_a_finite_loss_and_the_right_gradient() -> None:
    output, features, targets = nn.Linear(F, V), torch.full((1, F), 300.0, requires_grad=True), torch.tensor([4])
    with torch.no_grad():
        output.weight.copy_(torch.linspace(1, -1, V)[:, None].expand(V, F))
    reference = nn.functional.cross_entropy(output(features), targets, reduction="sum")
    ours, nats = linear_cross_entropy(features, output, targets)
    assert 87 < nats < reference
    torch.testing.assert_close(torch.autograd.grad(ours, features), torch.autograd.grad(reference, features))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("held", [2**25, 7 * 32])
def test_gradients_by_differences(smoothing: float, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.training.loss.HELD", held)
    output = nn.Linear(3, 7).double()
    features = torch.randn(40, 3, dtype=torch.float64, requires_grad=True)
    targets = torch.arange(40) % 7

    def loss(features: Tensor, *_: Tensor) -> Tensor:
        return linear_cross_entropy(features, output, targets, smoothing=smoothing)[0]

    assert torch.autograd.gradcheck(loss, (features, *output.parameters()))
