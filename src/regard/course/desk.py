"""Where a student's class is built and called. It answers questions and judges nothing."""

import ast
import copy
import inspect
import linecache
import random
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from regard.course.wire import Message, decode, encode

MODULE = "submission"
OWN = frozenset(vars(nn.Module()))
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
        self._plain: list[tuple[Any, dict[str, Any]]] = []
        self._module: nn.Module = nn.Identity()
        self._outside: list[tuple[str, Tensor]] = []
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
            text = str(error)[:300]
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
            kept = [ast.Module([statement], []) for statement in tree.body if _is_definition(statement)]
            names = self._run(kept, ignored=(Exception,))
        for name, value in names.items():
            if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == MODULE:
                self._classes[name] = value
        spaces: list[Any] = [sys.modules[MODULE], *self._classes.values()]
        self._plain = [(space, {k: v for k, v in vars(space).items() if _is_plain(k, v)}) for space in spaces]
        classes = {name: _signature(value) | {"bases": self._bases(value)} for name, value in self._classes.items()}
        return {"classes": classes, "note": note}

    def _bases(self, wanted: type[nn.Module]) -> list[str]:
        return [name for name, base in self._classes.items() if base is not wanted and issubclass(wanted, base)]

    def _run(self, pieces: list[ast.Module], ignored: tuple[type[Exception], ...] = ()) -> dict[str, Any]:
        module = sys.modules[MODULE] = ModuleType(MODULE)
        module.__file__ = self._name
        for piece in pieces:
            with suppress(*ignored):
                exec(compile(piece, self._name, "exec", optimize=1), module.__dict__)
        return dict(vars(module))

    def _build(self, request: Message) -> Message:
        for space, values in self._plain:  # what was kept in globals or on the class is no part of a new object
            for name, value in values.items():
                with suppress(Exception):  # what cannot be copied stays
                    setattr(space, name, copy.deepcopy(value))
        wanted = self._classes[request["class"]]
        _seed(0)
        self._module = wanted(*request["arguments"][: _signature(wanted)["most"]]).eval()
        if any(map(is_lazy, self._module.parameters())):
            self._module(*_inputs(request))  # lazy layers have no weights before
        self._outside = list(self._find_outside())
        return {}

    def _find_outside(self) -> Iterator[tuple[str, Tensor]]:
        """Find weights that the optimiser will not: tensors and layers kept in plain attributes, lists and closures."""
        known = {id(parameter) for parameter in self._module.parameters()}
        for prefix, module in self._module.named_modules():
            for name, value in vars(module).items():
                for found in () if name in OWN else _tensors(value, known):
                    is_mixed = _is_matrix(found) and len(found.unique()) > 2  # ones and eyes are no weights
                    if found.requires_grad or is_mixed:
                        yield f"{prefix}.{name}".lstrip("."), found

    @torch.no_grad()
    def _fill(self, request: Message) -> Message:
        """Set all weights to random numbers, or matrices to one number and vectors to another; list them."""
        named, outside = list(self._module.named_parameters()), self._outside
        is_plain = not any("parametrizations" in name for name, _ in named)  # weight_norm, orthogonal and the like
        generator = torch.Generator().manual_seed(request["seed"])
        for _, tensor in [*(named if is_plain else []), *(outside if request["outside"] else [])]:
            if tensor.numel() < 2:
                continue  # a learned or stored scale, not a projection
            if request["constant"] is None:
                tensor.copy_(0.5 * torch.randn(tensor.shape, generator=generator))
            else:
                tensor.fill_(request["constant"] if _is_matrix(tensor) else request["bias"])
        registered = {name: list(parameter.shape) for name, parameter in named}
        return {"registered": registered, "outside": [name for name, _ in outside], "is_plain": is_plain}

    def _call(self, request: Message) -> Message:
        inputs, before, trace = _inputs(request), _inputs(request), Trace()
        weights, steps = dict(self._module.named_parameters()), request["moves"].items()
        moved = {name: weights[name].detach() + decode(step) for name, step in steps}  # type: ignore[operator]
        _seed(request["seed"])
        with torch.no_grad() if request["no_grad"] else nullcontext(), trace if request["trace"] else nullcontext():
            started = time.perf_counter()
            result = functional_call(self._module, moved, tuple(inputs)) if moved else self._module(*inputs)
            seconds = time.perf_counter() - started
        return {
            "form": type(result).__name__,
            "outputs": [encode(value) for value in _several(result)],
            "changed": any(not torch.equal(a, b) for a, b in zip(inputs, before, strict=True)),
            "trace": {"count": trace.count, "names": sorted(trace.names), "softmaxes": trace.softmaxes[:20]},
            "seconds": seconds,
        }

    def _gradient(self, request: Message) -> Message:
        """Differentiate the sum of outputs times cotangents by every input and weight."""
        inputs = [tensor.requires_grad_() for tensor in _inputs(request)]
        leaves = [*inputs, *self._module.parameters()]
        _seed(0)
        outputs = _several(self._module(*(tensor.clone() for tensor in inputs)))
        pairs = zip(outputs, map(decode, request["cotangents"]), strict=True)
        loss = torch.stack([(out * cotangent).sum() for out, cotangent in pairs if cotangent is not None]).sum()
        asked = [leaf for leaf in leaves if leaf.requires_grad] if loss.requires_grad else []
        found = torch.autograd.grad(loss, asked, allow_unused=True) if asked else ()
        by_leaf = {id(leaf): encode(gradient) for leaf, gradient in zip(asked, found, strict=True)}
        return {"gradients": [by_leaf.get(id(leaf)) for leaf in leaves]}

    def _learn(self, request: Message) -> Message:
        wanted = self._classes.get(request["class"])
        inner = wanted(*self._lesson.sizes) if wanted else self._lesson.known(request["class"])
        result: Message = self._lesson.learn(inner, rounds=request["rounds"], count=request["count"])
        return result


def _seed(seed: int) -> None:
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002


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


def _is_definition(statement: ast.stmt) -> bool:
    """Say whether a statement only defines things; so do a guarded import and a choice of device."""
    if not isinstance(statement, ast.Try | ast.If):
        return isinstance(statement, (*KEPT, ast.Pass))
    handlers = [each for handler in getattr(statement, "handlers", ()) for each in handler.body]
    return all(map(_is_definition, [*statement.body, *statement.orelse, *handlers]))


def _is_plain(name: str, value: object) -> bool:
    """Say whether a global or an attribute of a class may hold state: a number, or a container that is not data."""
    is_small = not isinstance(value, list | dict | set) or len(value) < 100
    return not name.startswith("__") and is_small and isinstance(value, int | float | list | dict | set | None)


def _tensors(value: Any, seen: set[int]) -> Iterator[Tensor]:
    """Yield the tensors that a value leads to, each once."""
    if id(value) in seen:
        return
    seen.add(id(value))
    inner: Iterable[Any] = ()
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.flags.writeable:
        yield torch.from_numpy(value)
    elif isinstance(value, nn.Module):
        inner = value.parameters()
    elif isinstance(value, list | tuple):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, FunctionType):
        inner = [cell.cell_contents for cell in value.__closure__ or ()]
    elif isinstance(value, partial):
        inner = [value.func, *value.args, *value.keywords.values()]
    for each in inner:
        yield from _tensors(each, seen)
