"""Who teaches a run: other runs of the same data, checked before anything is made and again before they are asked."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from regard.data.tokenizers import TokenizerPair
from regard.errors import RegardError
from regard.models.seq2seq import Seq2Seq
from regard.run import Run


@dataclass(frozen=True, slots=True)
class Teachers:
    """Runs that learnt from the same data in the same direction."""

    runs: tuple[Run, ...]

    @classmethod
    def of(cls, paths: tuple[str, ...], corpus_sha256: str) -> "Teachers":
        """Open them; refuse those that learnt from other data, perhaps from what is held out here."""
        with _telling():
            runs = tuple(map(Run.open, paths))
        for run in runs:
            if run.description["corpus_sha256"] != corpus_sha256:
                raise RegardError(
                    f"train.teachers: {run.path} learnt from other data than this run will, or in the other direction; "
                    "what is held out here may be known there. Want runs of the same data."
                )
        return cls(runs)

    def models(self, tokenizers: TokenizerPair) -> list[Seq2Seq]:
        """Read their best weights; refuse those that number their tokens otherwise."""
        with _telling():
            for run in self.runs:
                if not run.tokenizers.is_like(tokenizers):
                    raise RegardError(f"{run.path} has other tokens than this run; want the same tokenizer.")
            return [run.model() for run in self.runs]

    @property
    def cells(self) -> set[str]:
        """Kinds of their recurrent cells."""
        return {run.config.model.cell for run in self.runs}

    @property
    def sha256(self) -> str:
        """Fingerprint of what they know, in their order."""
        return sha256("".join(run.weights_sha256() for run in self.runs).encode()).hexdigest()


@contextmanager
def _telling() -> Iterator[None]:
    """Say which setting names the run that is wrong."""
    try:
        yield
    except RegardError as error:
        raise RegardError(f"train.teachers: {error}") from None
