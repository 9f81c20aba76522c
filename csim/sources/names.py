"""The name of a file as text. On Linux a name is any bytes, so not every name is text as it stands."""

from __future__ import annotations

import os


def text_of(path: str | bytes | os.PathLike[str]) -> str:
    r"""Return a path as text; two paths never give the same.

    A backslash is doubled and a byte that is not UTF-8 becomes \xNN. All else, line ends included, stays as it is.

    Examples
    --------
    >>> text_of("herons/pond 3.png")
    'herons/pond 3.png'
    >>> print(text_of(b"caf\xe9.png"), text_of(r"a\xe9.png"))
    caf\xe9.png a\\xe9.png
    """
    return os.fsencode(path).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
