"""The names of encoders, and what to write instead of a wrong one."""

from __future__ import annotations

from difflib import SequenceMatcher

from csim.errors import SettingsError

_NAMES = ("own", "lite0", "lite1", "lite2")
_KINDS = ("hf", "onnx")  # "kind:" and a name or a path
_HF_FAMILIES = ("dino", "clip", "siglip", "convnext", "vit")  # in names of models
_ALIKE = 0.6  # of 1, as in difflib; higher suggests fewer names


def check_encoder(name: str) -> None:
    """Raise a `SettingsError` if csim knows no encoder of a name."""
    kind, colon, rest = name.partition(":")
    if name in _NAMES or (colon and kind in _KINDS and rest):
        return
    raise SettingsError(
        f"encoder must be {', '.join(_NAMES)}, hf:NAME, hf:DIRECTORY or onnx:FILE; "
        f"got {name!r}{_hint(name.lower())}"
    )


def _hint(name: str) -> str:
    if any(family in name for family in _HF_FAMILIES):
        return "; for a model of transformers write hf:NAME, as hf:facebook/dinov2-small"
    alike = [SequenceMatcher(None, name, known).ratio() for known in _NAMES]
    nearest = _NAMES[alike.index(max(alike))]  # the first of equals
    return f"; is it {nearest}?" if max(alike) >= _ALIKE else ""
