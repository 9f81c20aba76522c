"""Kept measurements: what is in `runs/` and is no run of a stream. Tables read it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from csim.bench.json_lines import Content, read_lines


def read_kept(
    path: Path, name: str, wanted: Content, check: Callable[[Content], object]
) -> Content | None:
    """Return a kept entry; None if there is none or it was made with other settings.

    Parameters
    ----------
    path
        The file.
    name
        Of the entry.
    wanted
        What it must hold to have been made with today's settings.
    check
        Raises an error if something is lacking.
    """
    lines = read_lines(path)
    if name not in lines.entries:
        lines.refuse_damage()
        return None
    content = lines.entries[name].content
    identity = json.loads(json.dumps(wanted))
    try:
        is_right = {key: content[key] for key in identity} == identity
        if is_right:  # an entry of other settings may lack what is checked today
            check(content)
    except (ValueError, TypeError, KeyError) as error:
        raise lines.refuse(name, "an entry of this kind", error) from error
    return content if is_right else None
