import pytest

from regard.config import ModelConfig, load_config
from regard.errors import RegardError
from regard.models.build import build_model


def test_the_homework_model_has_the_sizes_of_its_equations() -> None:
    model = build_model(load_config("homework").model, source_words=7853, target_words=5893)
    embeddings = 256 * (7853 + 5893)
    encoder = 2 * 3 * 512 * (256 + 512 + 2) + 512 * 1024 + 512
    decoder = 3 * 512 * (256 + 512 + 2)
    attention = 512 * 512 + 512 * 1024
    output = 5893 * (1024 + 512 + 1)
    assert sum(p.numel() for p in model.parameters()) == embeddings + encoder + decoder + attention + output


def test_tied_embeddings_are_one_parameter() -> None:
    config = ModelConfig(embedding=8, readout=8, tie="all", hidden=6, encoder_hidden=5, attention_size=4)
    model = build_model(config, source_words=20, target_words=20)
    assert model.output.weight is model.decoder.embedding.weight
    assert model.output.weight is model.encoder.embedding.weight
    config = config.model_copy(update={"tie": "output"})
    model = build_model(config, source_words=21, target_words=20)
    assert model.output.weight is model.decoder.embedding.weight
    assert model.encoder.embedding.weight.shape == (21, 8)


def test_embeddings_that_do_not_fit_cannot_be_tied() -> None:
    with pytest.raises(RegardError) as caught:
        build_model(ModelConfig(embedding=8, tie="output", hidden=6, encoder_hidden=5), source_words=9, target_words=9)
    assert str(caught.value) == (
        "model.tie: got 'output', but the output layer sees 16 numbers and an embedding has 8; "
        "set model.readout=8, or model.tie=none."
    )
