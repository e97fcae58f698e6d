"""Where a student's class is built and called. It answers questions and judges nothing."""

import ast
import inspect
import linecache
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
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
    """Holds one submission; `answer` takes a request and never raises."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._name = ""
        self._classes: dict[str, type[nn.Module]] = {}
        self._module: nn.Module = nn.Identity()
        self._handlers: dict[str, Callable[[Message], Message]] = {
            "load": self._load,
            "build": self._build,
            "describe": self._describe,
            "fill": self._fill,
            "nudge": self._nudge,
            "call": self._call,
            "gradient": self._gradient,
            "time": self._time,
        }

    def teach(self, lesson: Any, known: dict[str, Callable[[], nn.Module]]) -> None:
        """Get ready to train: ``lesson`` trains, ``known`` are classes to compare with."""

        def begin(request: Message) -> Message:
            name, make = request["class"], known.get(request["class"])
            lesson.begin(make() if make else self._classes[name](*request["arguments"]))
            return {}

        self._handlers["begin"] = begin
        self._handlers["steps"] = lambda request: {"loss": lesson.steps(request["count"])}
        self._handlers["validate"] = lambda _: {"loss": lesson.validate()}

    def answer(self, request: Message) -> Message:
        """Do what is asked; what the student's code raises is part of the answer."""
        try:
            reply = {"ok": self._handlers[request["op"]](request)}
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
        module = self._fresh_module()
        try:
            exec(compile(tree, self._name, "exec", optimize=1), module.__dict__)
        except BaseException as error:
            if not any(isinstance(statement, ast.ClassDef) for statement in tree.body):
                raise
            note = self._tell(error)
            module = self._fresh_module()
            self._run_definitions(tree, module)
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == MODULE:
                self._classes[name] = value
        return {"classes": {name: _signature(value) for name, value in self._classes.items()}, "note": note}

    def _fresh_module(self) -> ModuleType:
        module = ModuleType(MODULE)
        module.__file__ = self._name
        sys.modules[MODULE] = module
        return module

    def _run_definitions(self, tree: ast.Module, module: ModuleType) -> None:
        """Take the classes out of a script or notebook that does not run here as a whole."""
        for statement in tree.body:
            if isinstance(statement, KEPT):
                try:
                    exec(compile(ast.Module([statement], []), self._name, "exec", optimize=1), module.__dict__)
                except Exception:
                    continue

    def _build(self, request: Message) -> Message:
        wanted = self._classes[request["class"]]
        accepted = _signature(wanted)["most"]
        torch.default_generator.manual_seed(request.get("seed", 0))
        self._module = wanted(*request["arguments"][:accepted]).eval()
        return {"is_lazy": any(map(is_lazy, self._module.parameters()))}

    def _describe(self, request: Message) -> Message:
        named = dict(self._module.named_parameters())
        parameters = [
            {"name": name, "shape": list(p.shape), "finite": bool(p.isfinite().all())} for name, p in named.items()
        ]
        return {
            "parameters": parameters,
            "outside": [name for name, _ in self._outside()],
            "is_plain": not self._is_parametrized(),
        }

    def _is_parametrized(self) -> bool:
        """Weights behind weight_norm, orthogonal and the like are not to be overwritten."""
        return any("parametrizations" in name for name, _ in self._module.named_parameters())

    def _outside(self) -> Iterator[tuple[str, Tensor]]:
        """Find weights that the optimiser will not: tensors and layers kept in plain attributes and lists."""
        for prefix, module in self._module.named_modules():
            for name, value in vars(module).items():
                for found in () if name.startswith("_") else _tensors(value):
                    if found.requires_grad or (
                        _is_matrix(found) and len(found.unique()) > 2
                    ):  # ones and eyes are no weights
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
        by_leaf = {id(leaf): gradient for leaf, gradient in zip(leaves, found, strict=True)}
        return {
            "inputs": [encode(by_leaf[id(x)]) for x in inputs],
            "parameters": [encode(by_leaf.get(id(p))) for p in parameters],
        }

    def _time(self, request: Message) -> Message:
        inputs = _inputs(request)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            self._module(*inputs)
            seconds.append(time.perf_counter() - start)
        return {"seconds": min(seconds)}

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
