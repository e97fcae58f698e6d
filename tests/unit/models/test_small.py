import torch

from regard.models.small import restore, shrink


def test_rows_come_back_to_half_a_step_of_their_own_scale() -> None:
    matrix = torch.randn(5, 7) * torch.tensor([[1e-3], [1.0], [100.0], [0.0], [0.1]])
    back = restore(shrink({"weight": matrix}))
    step = matrix.abs().amax(dim=1, keepdim=True) / 127
    assert set(back) == {"weight"}
    assert ((back["weight"] - matrix).abs() <= 0.501 * step).all()


def test_a_quarter_of_the_space() -> None:
    small = shrink({"weight": torch.randn(300, 256), "bias": torch.randn(300)})
    assert small["weight"].dtype == torch.int8
    assert sum(tensor.nbytes for tensor in small.values()) < 0.27 * 300 * 257 * 4


def test_what_was_not_shrunk_stays() -> None:
    weights = {"weight": torch.randn(3, 4), "bias": torch.randn(3)}
    back = restore(weights)
    assert all(back[name] is weights[name] for name in weights)
