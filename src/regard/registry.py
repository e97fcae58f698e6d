"""Names for exchangeable parts. Values are import paths, so listing them costs nothing."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from regard.errors import RegardError, did_you_mean


class Registry(Mapping[str, Any]):
    """A closed, lazy mapping from a name to the object at ``module:attribute``.

    ``Registry("cell", {"gru": "torch.nn:GRU"})["gru"]`` imports ``torch.nn`` only when asked.
    """

    def __init__(self, kind: str, places: Mapping[str, str]) -> None:
        self.kind = kind
        self._places = dict(places)

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.place(name).partition(":")
        return getattr(import_module(module), attribute)

    def place(self, name: str) -> str:
        """Return where a part lives without importing it; an unknown name is a user's error."""
        if name not in self._places:
            raise RegardError(f"Unknown {self.kind} '{name}'. {did_you_mean(name, self._places)}")
        return self._places[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def summary(self, name: str) -> str:
        """Return the first line of the part's docstring."""
        return (getattr(self[name], "__doc__", None) or "").strip().partition("\n")[0]
