"""The methods that can be compared, by name.

csim's own methods are the engine with different settings. `least-sure` and `random` are the default
in everything but the choice of questions and the spreading of answers, so they improve whenever the
default does. With a pretrained encoder these three start from `Settings.photographs()`. The
baselines are other people's methods. One whose name ends in `-vectors` gets the vectors of csim's
network, trained on the warm-up and frozen, instead of pixels.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from csim.bench.baselines.echo_d import EchoD, EchoSettings
from csim.bench.baselines.ecsminer import EcsMiner, EcsMinerSettings
from csim.bench.baselines.logistic import Logistic, LogisticSettings
from csim.bench.baselines.senc_mas import SencMas, SencSettings
from csim.bench.baselines.settings import BaselineSettings
from csim.bench.run import OpenMethod
from csim.bench.vector_cache import open_cached
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
    "logistic": LogisticSettings(),
}

OURS = tuple(_PRESETS)
BASELINES = tuple(_BASELINES)
METHODS = OURS + BASELINES
PUBLISHED = METHODS[:-1]  # those of the paper's tables: logistic is for encoders' vectors


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
        Questions per image of the stream. Higher asks more. If not given, `paper` has no limit,
        `default` asks about 5 % of the images, `least-sure`, `random` and `logistic` about 2 %. For
        `echo-d` it is the share of known images to ask about. The other baselines have no budget.
    changes
        Settings to change, the seed and the budget aside.
    """
    if method not in METHODS:
        near = difflib.get_close_matches(method.lower(), METHODS, n=1)
        hint = f"; is it {near[0]}?" if near else ""
        raise InputError(f"the method must be one of {', '.join(METHODS)}; got {method!r}{hint}")
    if twice := sorted({"seed", "budget"} & set(changes)):
        raise InputError(
            f"{twice[0]} must not be among the changed settings; give it with --{twice[0]} instead"
        )
    if method in _PRESETS:
        preset = _PRESETS[method]
        given = {"budget": preset.budget if budget is None else budget}
        if method != "paper" and changes.get("encoder", "own") != "own":
            preset = Settings.photographs(questions=preset.questions, **given)
        return Settings.from_dict(preset.to_dict() | given | dict(changes) | {"seed": seed})
    settings = _BASELINES[method]
    given = {} if budget is None else {"share": budget}
    if given and not isinstance(settings, EchoSettings | LogisticSettings):
        raise InputError(
            f"{method} has no budget, its settings decide what it asks; leave out --budget"
        )
    if "encoder" in changes and not isinstance(settings, LogisticSettings):
        raise InputError(
            f"{method} takes no encoder; leave out --encoder, or choose one of "
            f"{', '.join(OURS)}, logistic"
        )
    return settings.from_dict(settings.to_dict() | given | dict(changes) | {"seed": seed})


# The settings that decide what a network learns from given images; others concern the stream.
_NETWORK = (
    *("encoder", "conv_layers", "channels", "kernel", "batch_norm", "hidden_units"),
    *("embedding_size", "scale", "margin", "beta", "mining", "class_loss", "batch_size", "epochs"),
    *("learning_rate", "batches", "shift", "flip", "device", "seed"),
)


def network_settings(method: str, seed: int) -> dict[str, Any]:
    """Return the settings that decide what the network of one of csim's methods learns.

    >>> network_settings("paper", seed=3)["seed"], "budget" in network_settings("paper", seed=3)
    (3, False)
    """
    every = settings_of(method, seed=seed, changes={}).to_dict()
    return {name: every[name] for name in _NETWORK}


def budget_in(settings: Mapping[str, Any]) -> float | None:
    """Return the budget in a method's settings; None if it has none or no limit.

    >>> budget_in(settings_of("random", seed=0, changes={}).to_dict())
    0.02
    >>> budget_in(settings_of("paper", seed=0, changes={}).to_dict())
    """
    budget: float = settings.get("budget", settings.get("share", 1.0))
    return None if budget == 1 else budget


def open_with(settings: Settings | BaselineSettings) -> OpenMethod:
    """Return the function that opens a method with these settings, for `run`."""
    match settings:
        case EcsMinerSettings():
            return lambda on_event: EcsMiner(settings, on_event)
        case EchoSettings():
            return lambda on_event: EchoD(settings, on_event)
        case SencSettings():
            return lambda on_event: SencMas(settings, on_event)
        case LogisticSettings():
            return lambda on_event: Logistic(settings, open_cached(settings.engine), on_event)
        case Settings():
            return lambda on_event: StreamClassifier(
                settings, encoder=open_cached(settings), on_event=on_event
            )
    raise InputError(
        f"settings must be Settings or those of a baseline, got {type(settings).__name__}"
    )
