"""What the settings of all baselines have in common."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from csim.errors import SettingsError


@dataclass(frozen=True)
class BaselineSettings:
    """Settings of a baseline."""

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the settings of these values; names that it does not know are refused."""
        names = [field.name for field in fields(cls)]
        if unknown := sorted(set(values) - set(names)):
            raise SettingsError(
                f"{unknown[0]!r} is no setting of this baseline; it has {', '.join(names)}"
            )
        return cls(**values)


def at_least(settings: BaselineSettings, **bounds: float) -> None:
    """Refuse settings below their bounds, or of another type than the default's."""
    for name, bound in bounds.items():
        value = getattr(settings, name)
        whole = isinstance(
            next(field.default for field in fields(settings) if field.name == name), int
        )
        if (
            isinstance(value, bool)
            or not isinstance(value, int if whole else (int, float))
            or not value >= bound
        ):
            kind = "a whole number" if whole else "a number"
            raise SettingsError(f"{name} must be {kind} of at least {bound:g}, got {value!r}")


def one_of(settings: BaselineSettings, **choices: tuple[str, ...]) -> None:
    """Refuse settings that are none of the words they may be."""
    for name, words in choices.items():
        if (value := getattr(settings, name)) not in words:
            raise SettingsError(f"{name} must be one of {', '.join(words)}; got {value!r}")
