r"""Make names of files and folders from any text: safe on every system, and never a path.

Characters that some system forbids (`/ \ : * ? " < > |` and all that are not printable) become
`_`. So do a dot at the beginning and a dot or space at the end. A name of more than 200 bytes is
cut, and one that Windows reserves gets `_` in front. All other names stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

_FORBIDDEN = set('/\\:*?"<>|')
_MOST_BYTES = 200  # of 255: leaves room for a number and an extension
_DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)),
}


def safe_name(text: str) -> str:
    """Return a text as the name of a file or folder; two texts may give the same name.

    >>> safe_name("grey heron"), safe_name("../etc/passwd"), safe_name("aux.png")
    ('grey heron', '_._etc_passwd', '_aux.png')
    """
    name = "".join(
        character if character.isprintable() and character not in _FORBIDDEN else "_"
        for character in text
    )
    name = name.encode()[:_MOST_BYTES].decode(errors="ignore")
    if not name or name[0] == ".":
        name = "_" + name[1:]
    if name[-1] in ". ":
        name = name[:-1] + "_"
    return f"_{name}" if name.split(".")[0].rstrip().casefold() in _DEVICES else name


def folder_names(names: Iterable[str]) -> dict[str, str]:
    """Return a folder name for each class name, different even on systems that ignore case.

    A safe class name is the name of its folder. A changed name never takes that folder.

    >>> folder_names(["a/b", "a_b", "A_B"])
    {'a_b': 'a_b', 'A_B': 'A_B~2', 'a/b': 'a_b~3'}
    """
    used: set[str] = set()
    found: dict[str, str] = {}
    for name in sorted(names, key=lambda name: safe_name(name) != name):
        safe = safe_name(name)
        tries = (safe if number == 1 else f"{safe}~{number}" for number in count(1))
        found[name] = next(folder for folder in tries if folder.casefold() not in used)
        used.add(found[name].casefold())
    return found
