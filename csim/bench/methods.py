"""The methods that can be compared, by name.

Each of ours is the engine with settings of its own. `least-sure` and `random` are the default in everything but the
choice of questions and the spreading of answers, so they improve whenever the default does. The baselines are methods
of other people; a name that ends in `-vectors` is one that is given the vectors of our network, trained on the warm-up
and frozen, instead of pixels.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from csim.bench.baselines.echo_d import EchoD, EchoSettings
from csim.bench.baselines.ecsminer import EcsMiner, EcsMinerSettings
from csim.bench.baselines.senc_mas import SencMas, SencSettings
from csim.bench.baselines.settings import BaselineSettings
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
_BASELINES: dict[str, BaselineSettings] = {
    "ecsminer": EcsMinerSettings(),
    "ecsminer-vectors": EcsMinerSettings(features="network"),
    "echo-d": EchoSettings(),
    "echo-d-vectors": EchoSettings(features="network"),
    "senc-mas": SencSettings(),
    "senc-mas-vectors": SencSettings(features="network"),
}

OURS = tuple(_PRESETS)
BASELINES = tuple(_BASELINES)
METHODS = OURS + BASELINES


def settings_of(
    method: str, *, seed: int, budget: float | None = None, changes: Mapping[str, Any]
) -> Settings | BaselineSettings:
    """Return the settings of a method.

    Parameters
    ----------
    method
        One of `METHODS`.
    seed
        Of everything that draws.
    budget
        Questions per image of the stream. Raising it asks more. If not given, `paper` and `default` ask as they see
        fit, `least-sure` and `random` about 2 % of the images. For `echo-d` it is the share of known images to ask
        about; the other baselines have none.
    changes
        Settings to change, the seed and the budget aside.
    """
    if method not in METHODS:
        near = difflib.get_close_matches(method.lower(), METHODS, n=1)
        hint = f"; is it {near[0]}?" if near else ""
        raise InputError(f"the method must be one of {', '.join(METHODS)}; got {method!r}{hint}")
    if twice := sorted({"seed", "budget"} & set(changes)):
        raise InputError(
            f"{twice[0]} must not be among the changed settings; give it on its own, with --{twice[0]}"
        )
    if method in _PRESETS:
        given = {} if budget is None else {"budget": budget}
        return Settings.from_dict(
            _PRESETS[method].to_dict() | given | dict(changes) | {"seed": seed}
        )
    own = _BASELINES[method]
    given = {} if budget is None else {"share": budget}
    if given and not isinstance(own, EchoSettings):
        raise InputError(
            f"{method} has no budget, what it asks follows from its settings; leave --budget out"
        )
    return own.from_dict(own.to_dict() | given | dict(changes) | {"seed": seed})


def budget_in(settings: Mapping[str, Any]) -> float | None:
    """Return the budget among all settings of a method; None if it has none, or no limit.

    >>> budget_in(settings_of("random", seed=0, changes={}).to_dict())
    0.02
    >>> budget_in(settings_of("paper", seed=0, changes={}).to_dict())
    """
    budget: float = settings.get("budget", settings.get("share", 1.0))
    return None if budget == 1 else budget


def open_with(settings: Settings | BaselineSettings) -> OpenMethod:
    """Return what opens a method with these settings, for `run`."""
    match settings:
        case EcsMinerSettings():
            return lambda on_event: EcsMiner(settings, on_event)
        case EchoSettings():
            return lambda on_event: EchoD(settings, on_event)
        case SencSettings():
            return lambda on_event: SencMas(settings, on_event)
        case Settings():
            return lambda on_event: StreamClassifier(settings, on_event=on_event)
    raise InputError(f"no method has settings of the kind {type(settings).__name__}")
