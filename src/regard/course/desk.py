"""Where a student's class is built and called. It answers questions and judges nothing."""

import ast
import inspect
import linecache
import random
import sys
import timeit
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from regard.course.wire import Message, decode, encode

MODULE = "submission"
KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


class Trace(TorchFunctionMode):
    """Counts operations and notes along which axis softmax ran: evidence for the explanation, not for the grade."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.names: set[str] = set()
        self.softmaxes: list[dict[str, Any]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Take note and pass on."""
        kwargs = kwargs or {}
        name = str(getattr(func, "__name__", func))
        self.count += 1
        self.names.add(name)
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if name in ("softmax", "log_softmax") and isinstance(axis, int) and args:
            self.softmaxes.append({"shape": list(args[0].shape), "axis": axis % max(args[0].ndim, 1)})
        return func(*args, **kwargs)


class Desk:
    """Holds one submission; `answer` takes a request, whose ``op`` names a method below, and never raises."""

    def __init__(self, lesson: Any = None) -> None:
        self.refused: list[str] = []
        self._name = ""
        self._classes: dict[str, type[nn.Module]] = {}
        self._module: nn.Module = nn.Identity()
        self._lesson = lesson

    def answer(self, request: Message) -> Message:
        """Do what is asked; what the student's code raises is part of the answer."""
        try:
            reply = {"ok": getattr(self, f"_{request['op']}")(request)}
        except BaseException as error:
            reply = {"error": self._tell(error)}
        return reply | {"refused": list(dict.fromkeys(self.refused))[:20]}

    def _tell(self, error: BaseException) -> Message:
        try:
            text = str(error)[:600]
        except BaseException:
            text = "(its message raises, too)"
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
        frame = error.__traceback__
        while frame:
            line = frame.tb_lineno if frame.tb_frame.f_code.co_filename == self._name else line
            frame = frame.tb_next
        code = linecache.getline(self._name, line).strip() if line else ""
        return {"type": type(error).__name__, "text": text, "line": line, "source": code[:200]}

    def _load(self, request: Message) -> Message:
        source, self._name = request["source"], request["name"]
        linecache.cache[self._name] = (len(source), None, source.splitlines(keepends=True), self._name)
        tree = ast.parse(source, self._name)
        note = None
        try:
            names = self._run([tree])
        except BaseException as error:
            if not any(isinstance(statement, ast.ClassDef) for statement in tree.body):
                raise
            note = self._tell(error)  # a script that does not run here as a whole: take the classes out of it
            kept = [ast.Module([statement], []) for statement in tree.body if isinstance(statement, KEPT)]
            names = self._run(kept, ignored=(Exception,))
        for name, value in names.items():
            if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == MODULE:
                self._classes[name] = value
        return {"classes": {name: _signature(value) for name, value in self._classes.items()}, "note": note}

    def _run(self, pieces: list[ast.Module], ignored: tuple[type[Exception], ...] = ()) -> dict[str, Any]:
        module = sys.modules[MODULE] = ModuleType(MODULE)
        module.__file__ = self._name
        for piece in pieces:
            with suppress(*ignored):
                exec(compile(piece, self._name, "exec", optimize=1), module.__dict__)
        return dict(vars(module))

    def _build(self, request: Message) -> Message:
        wanted = self._classes[request["class"]]
        self._seed(0)
        self._module = wanted(*request["arguments"][: _signature(wanted)["most"]]).eval()
        return {"is_lazy": any(map(is_lazy, self._module.parameters()))}

    def _describe(self, _: Message) -> Message:
        parameters = [{"name": name, "shape": list(p.shape)} for name, p in self._module.named_parameters()]
        outside = [name for name, _ in self._outside()]
        return {"parameters": parameters, "outside": outside, "is_plain": not self._is_parametrized()}

    def _is_parametrized(self) -> bool:
        """Weights behind weight_norm, orthogonal and the like are not to be overwritten."""
        return any("parametrizations" in name for name, _ in self._module.named_parameters())

    def _outside(self) -> Iterator[tuple[str, Tensor]]:
        """Find weights that the optimiser will not: tensors and layers kept in plain attributes and lists."""
        for prefix, module in self._module.named_modules():
            for name, value in vars(module).items():
                for found in () if name.startswith("_") else _tensors(value):
                    is_mixed = _is_matrix(found) and len(found.unique()) > 2  # ones and eyes are no weights
                    if found.requires_grad or is_mixed:
                        yield f"{prefix}.{name}".lstrip("."), found

    @torch.no_grad()
    def _fill(self, request: Message) -> Message:
        tensors: list[Tensor] = [] if self._is_parametrized() else list(self._module.parameters())
        if request.get("outside"):
            tensors += [value for _, value in self._outside()]
        generator = torch.Generator().manual_seed(request.get("seed", 0))
        for tensor in tensors:
            if tensor.numel() < 2:
                continue  # a learned or stored scale, not a projection
            if request["how"] == "random":
                tensor.copy_(request["value"] * torch.randn(tensor.shape, generator=generator))
            else:
                tensor.fill_(request["value"] if _is_matrix(tensor) else request["bias"])
        return {}

    @torch.no_grad()
    def _nudge(self, request: Message) -> Message:
        list(self._module.parameters())[request["index"]].add_(decode(request["delta"]))  # type: ignore[arg-type]
        return {}

    def _call(self, request: Message) -> Message:
        inputs, keep = _inputs(request), _inputs(request)
        self._seed(request.get("seed", 0))
        trace = Trace() if request.get("trace") else None
        with torch.no_grad() if request.get("no_grad") else nullcontext(), trace or nullcontext():
            result = self._module(*inputs)
        reply: Message = {"form": type(result).__name__, "outputs": [encode(value) for value in _several(result)]}
        reply["changed"] = any(not torch.equal(a, b) for a, b in zip(inputs, keep, strict=True))
        if trace:
            reply["trace"] = {"count": trace.count, "names": sorted(trace.names), "softmaxes": trace.softmaxes[:20]}
        return reply

    def _gradient(self, request: Message) -> Message:
        inputs = [tensor.requires_grad_() for tensor in _inputs(request)]
        parameters = list(self._module.parameters())
        self._seed(0)
        outputs = _several(self._module(*(tensor.clone() for tensor in inputs)))
        pairs = zip(outputs, map(decode, request["cotangents"]), strict=True)
        terms = [(out * cotangent).sum() for out, cotangent in pairs if cotangent is not None]
        loss = torch.stack(terms).sum()
        leaves = [*inputs, *(p for p in parameters if p.requires_grad)]
        found = torch.autograd.grad(loss, leaves, allow_unused=True) if loss.requires_grad else [None] * len(leaves)
        by_leaf = {id(leaf): encode(gradient) for leaf, gradient in zip(leaves, found, strict=True)}
        return {what: [by_leaf.get(id(x)) for x in of] for what, of in (("inputs", inputs), ("weights", parameters))}

    def _time(self, request: Message) -> Message:
        inputs = _inputs(request)
        return {"seconds": min(timeit.repeat(lambda: self._module(*inputs), number=1, repeat=3))}

    def _begin(self, request: Message) -> Message:
        wanted = self._classes.get(request["class"])
        self._lesson.begin(wanted(*request["arguments"]) if wanted else self._lesson.known(request["class"]))
        return {}

    def _steps(self, request: Message) -> Message:
        return {"loss": self._lesson.steps(request["count"])}

    def _validate(self, _: Message) -> Message:
        return {"loss": self._lesson.validate()}

    def _seed(self, seed: int) -> None:
        random.seed(seed)
        torch.default_generator.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)


def _inputs(request: Message) -> list[Tensor]:
    return [tensor for tensor in map(decode, request["inputs"]) if tensor is not None]


def _several(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


def _signature(wanted: type[nn.Module]) -> Message:
    """Return how many arguments the constructor takes at least and at most, and those of forward."""
    takes = {}
    for method, name in ((wanted.__init__, ""), (wanted.forward, "forward_")):
        parameters = list(inspect.signature(method).parameters.values())[1:]
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        takes[f"{name}least"] = sum(p.default is p.empty for p in positional)
        takes[f"{name}most"] = 99 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)
    return takes


def _is_matrix(tensor: Tensor) -> bool:
    return sum(size > 1 for size in tensor.shape) > 1


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, nn.Module):
        yield from value.parameters()
    elif isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _tensors(each)
