"""Files in `runs/` of what is neither a stream nor a table: made once, read by the tables that show them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from csim.errors import InputError

Content = dict[str, Any]  # of a file


def read_kept(
    path: Path, wanted: Content, check: Callable[[Content], object], what: str
) -> Content | None:
    """Return what a file holds, None if there is none or it was made with other settings.

    Parameters
    ----------
    path
        The file.
    wanted
        What it must say of itself, as it would be made today.
    check
        Raises an error if something is lacking.
    what
        The kind of file, for the message about a damaged one.
    """
    try:
        content: Content = json.loads(path.read_text(encoding="utf-8"))
        own = json.loads(json.dumps(wanted))
        is_right = {key: content[key] for key in own} == own
        if is_right:  # one of other settings may lack what is wanted today
            check(content)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path} is not a file of {what} ({error!r}); delete it to have it made again"
        ) from error
    return content if is_right else None
