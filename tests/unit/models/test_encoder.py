import torch
from torch import nn

from regard.models.dropout import Dropout
from regard.models.encoder import Encoder


def test_the_homework_encoder_by_its_equations() -> None:
    embedding = nn.Embedding(9, 4)
    none = Dropout(0.0)
    encoder = Encoder(
        embedding, cell="gru", hidden=3, layers=1, bidirectional=True, sentence=5, dropout=none, memory_dropout=none
    )
    tokens = torch.tensor([[4, 5, 6, 7], [8, 4, 0, 0]])
    is_token = torch.tensor([[True] * 4, [True, True, False, False]])
    memory, sentence = encoder(tokens, is_token)
    for row, length in enumerate((4, 2)):
        outputs, _ = encoder.layers[0](embedding(tokens[row : row + 1, :length]))
        torch.testing.assert_close(memory[row, :length], outputs[0])
        ends = torch.cat((outputs[0, -1, :3], outputs[0, 0, 3:]))  # forward_last, backward_first
        torch.testing.assert_close(sentence[row], torch.relu(encoder.bridge(ends)))
    assert (memory[1, 2:] == 0).all()
