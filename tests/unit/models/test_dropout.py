import pytest
import torch

from regard.models.dropout import Dropout


@pytest.mark.parametrize("share", [0.001, 0.3, 0.5, 0.9])
def test_the_share_is_dropped_and_the_expectation_stays(share: float) -> None:
    dropout = Dropout(share)
    dropout.generator = torch.Generator().manual_seed(7)
    ones = dropout(torch.ones(1000, 3, 333))
    assert (ones == 0).float().mean().item() == pytest.approx(share, rel=0.05)
    assert ones.mean().item() == pytest.approx(1, rel=0.02)
    assert len(ones.unique()) == 2


def test_numbers_are_dropped_one_by_one() -> None:
    dropout = Dropout(0.5)
    dropout.generator = torch.Generator().manual_seed(7)
    is_kept = (dropout(torch.ones(50, 4, 61)) > 0).float()
    for dimension in range(3):
        agreement = (is_kept == is_kept.roll(1, dimension)).float().mean().item()
        assert agreement == pytest.approx(0.5, abs=0.03)


def test_whole_words_are_dropped() -> None:
    numbers = Dropout(0.5, "word")(torch.ones(5, 40, 7))
    assert torch.equal(numbers, numbers[:, :, :1].expand(-1, -1, 7))
    assert len(numbers[0, :, 0].unique()) == 2


def test_features_are_dropped_at_every_step_alike() -> None:
    dropout = Dropout(0.5, "feature")
    numbers = dropout(torch.ones(5, 4, 7))
    assert torch.equal(numbers, numbers[:, :1].expand(-1, 4, -1))
    assert not torch.equal(numbers[0], numbers[1])


def test_nothing_is_dropped_in_evaluation() -> None:
    numbers = torch.randn(2, 3, 5)
    assert Dropout(0.9).eval()(numbers) is numbers
    assert Dropout(0.0)(numbers) is numbers


def test_same_generator_state_same_mask_and_torchs_own_generator_is_left_alone() -> None:
    dropout = Dropout(0.3)
    before = torch.get_rng_state()
    masks = []
    for _ in range(2):
        dropout.generator = torch.Generator().manual_seed(3)
        masks.append(dropout(torch.ones(3, 5)))
    assert torch.equal(*masks)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_gradient_passes_where_numbers_were_kept() -> None:
    numbers = torch.ones(6, 7, requires_grad=True)
    kept = Dropout(0.4)(numbers)
    kept.sum().backward()
    assert torch.equal(numbers.grad, kept.detach())
