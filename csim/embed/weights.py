"""Files of weights: their sha256, and the errors of an encoder that cannot be opened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

from csim.errors import EncoderError

_CHUNK = 1 << 20


def digest(files: Iterable[Path]) -> str:
    """Return the sha256 of the content of some files, in order; of one file, its own."""
    sha256 = hashlib.sha256()
    for path in files:
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    sha256.update(chunk)
        except OSError as error:
            raise EncoderError(f"{path} cannot be read ({error}); check the path") from error
    return sha256.hexdigest()


def import_extra(module: str, encoder: str, extra: str) -> ModuleType:
    """Return a module of an optional extra, or raise an `EncoderError` with the line to type."""
    try:
        return import_module(module)
    except ImportError as error:
        raise EncoderError(
            f"the encoder {encoder} needs the extra {extra!r}, which is not installed ({error}); "
            f"type: pip install 'csim-stream[{extra}]'"
        ) from error


def refuse_damaged(what: str, error: Exception) -> EncoderError:
    """Return the error of weights that cannot be loaded."""
    return EncoderError(
        f"{what} must hold the complete weights of the encoder; csim cannot load it: "
        f"{first_line(error)}; install or copy it again"
    )


def first_line(error: Exception) -> str:
    r"""Return the first line of an error's message, or its type if it has none.

    >>> first_line(OSError("no such file.\nTry another one."))
    'no such file'
    """
    return str(error).split("\n")[0].rstrip(". ") or type(error).__name__
