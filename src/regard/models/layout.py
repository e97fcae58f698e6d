"""How weights lie in memory while a model translates."""

from torch import nn

from regard.models.seq2seq import Seq2Seq


def lay_out_for_search(model: Seq2Seq) -> None:
    """Store the matrices that are multiplied with column by column, and the output layer apart from the embeddings.

    A search multiplies few rows with large matrices, and reads them faster this way. Embeddings are looked up by rows;
    the kernel of the LSTM would copy its weights back at every step.
    """
    by_rows = [module for module in model.modules() if isinstance(module, nn.Embedding | nn.LSTM)]
    kept = {id(parameter) for module in by_rows for parameter in module.parameters(recurse=False)}
    if id(model.output.weight) in kept:
        model.output.weight = nn.Parameter(model.output.weight.detach().clone(), requires_grad=False)
    for parameter in model.parameters():
        if parameter.dim() == 2 and id(parameter) not in kept:
            parameter.data = parameter.data.t().contiguous().t()
