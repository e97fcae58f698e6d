import torch

from regard.models.dropout import Dropout
from regard.models.embedding import Embedding, add_words


def test_what_is_looked_up_has_the_gradient_instead_of_the_table() -> None:
    table = Embedding(7, 3, gain=2.0, dropout=Dropout(0.0))
    words = torch.tensor([[4, 5, 4], [6, 0, 0]])
    table(words).square().sum().backward()
    expected = table.weight.grad
    assert expected is not None
    assert (expected[0] == 0).all()
    table.weight.grad, table.found = None, []
    table(words).square().sum().backward()
    assert table.weight.grad is None
    (found,) = table.forget()
    assert table.found is None
    assert table.forget() == []
    gradient = torch.zeros(7, 3)
    assert found.vectors.grad is not None
    add_words(gradient, found.words, found.vectors.grad)
    torch.testing.assert_close(gradient, expected)


def test_padding_keeps_the_gradient_it_had() -> None:
    gradient = torch.ones(5, 2)
    add_words(gradient, torch.tensor([0, 3, 3]), torch.ones(3, 2))
    assert gradient.tolist() == [[1, 1], [1, 1], [1, 1], [3, 3], [1, 1]]
