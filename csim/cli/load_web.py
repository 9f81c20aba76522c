"""The service, which needs the extra `web`."""

from __future__ import annotations

from types import ModuleType

from csim.errors import InputError


def load_web(command: str) -> ModuleType:
    """Return the module that launches the service; say what to install if a part is missing."""
    try:
        from csim.web import launch  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InputError(
            f"`{command}` needs the extra `web`, {error.name} is missing; "
            "install it with: pip install 'csim-stream[web]'"
        ) from error
    return launch
