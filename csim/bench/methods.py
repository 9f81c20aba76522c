"""The methods that can be compared, by name.

Each of ours is the engine with settings of its own. `least-sure` and `random` are the default in everything but the
choice of questions and the spreading of answers, so they improve whenever the default does.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from csim.bench.run import OpenMethod
from csim.classifier import StreamClassifier
from csim.errors import InputError
from csim.settings import Settings

_PRESETS: dict[str, Settings] = {
    "paper": Settings.paper(),
    "default": Settings(),
    "least-sure": Settings(questions="least-sure", budget=0.02),
    "random": Settings(questions="random", budget=0.02),
}

METHODS = tuple(_PRESETS)


def settings_of(method: str, *, seed: int, budget: float | None = None, changes: Mapping[str, Any]) -> Settings:
    """Return the settings of a method.

    Parameters
    ----------
    method
        One of `METHODS`.
    seed
        Of everything that draws.
    budget
        Questions per image of the stream. Raising it asks more. If not given, `paper` and `default` ask as they see
        fit, `least-sure` and `random` about 2 % of the images.
    changes
        Settings to change, the seed and the budget aside.
    """
    if method not in _PRESETS:
        near = difflib.get_close_matches(method.lower(), METHODS, n=1)
        hint = f"; is it {near[0]}?" if near else ""
        raise InputError(f"the method must be one of {', '.join(METHODS)}; got {method!r}{hint}")
    if twice := sorted({"seed", "budget"} & set(changes)):
        raise InputError(f"{twice[0]} must not be among the changed settings; give it on its own, with --{twice[0]}")
    given = {} if budget is None else {"budget": budget}
    return Settings.from_dict(_PRESETS[method].to_dict() | given | dict(changes) | {"seed": seed})


def open_with(settings: Settings) -> OpenMethod:
    """Return what opens a method with these settings, for `run`."""
    return lambda on_event: StreamClassifier(settings, on_event=on_event)
