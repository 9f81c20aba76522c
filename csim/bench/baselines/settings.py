"""The base class of all baseline settings, and the checks of their values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from csim.errors import SettingsError


@dataclass(frozen=True)
class BaselineSettings:
    """Hold the settings of one baseline. Each baseline adds its fields in a subclass."""

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values by name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Create settings from plain values. Raise `SettingsError` for an unknown name."""
        names = [field.name for field in fields(cls)]
        if unknown := sorted(set(values) - set(names)):
            raise SettingsError(
                f"{unknown[0]!r} is not a setting of this baseline; choose from {', '.join(names)}"
            )
        return cls(**values)


def check_at_least(settings: BaselineSettings, **bounds: float) -> None:
    """Raise `SettingsError` for a setting below its bound, or of another type than its default."""
    defaults = {field.name: field.default for field in fields(settings)}
    for name, bound in bounds.items():
        value = getattr(settings, name)
        is_integer = isinstance(defaults[name], int)
        if (
            isinstance(value, bool)
            or not isinstance(value, int if is_integer else (int, float))
            or not value >= bound
        ):
            kind = "a whole number" if is_integer else "a number"
            raise SettingsError(f"{name} must be {kind} of at least {bound:g}, got {value!r}")


def check_at_most_one(settings: BaselineSettings, *names: str) -> None:
    """Raise `SettingsError` for a setting above 1."""
    for name in names:
        if (value := getattr(settings, name)) > 1:
            raise SettingsError(f"{name} must be at most 1, got {value}")


def check_one_of(settings: BaselineSettings, **choices: tuple[str, ...]) -> None:
    """Raise `SettingsError` for a setting that is none of its allowed values."""
    for name, allowed in choices.items():
        if (value := getattr(settings, name)) not in allowed:
            raise SettingsError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
