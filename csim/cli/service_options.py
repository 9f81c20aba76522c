"""Options of commands that work on a stream folder here or on a service elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from csim.errors import InputError

if TYPE_CHECKING:
    from csim.client import Client

TOKEN_VARIABLE = "CSIM_TOKEN"  # noqa: S105
FolderOrNone = Annotated[
    Path | None, typer.Argument(help="The stream folder; leave it out with --url.")
]
Url = Annotated[
    str | None,
    typer.Option("--url", help="Work on the service at this address instead of a folder."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        help=f"A file with the service's token. Without it, csim takes ${TOKEN_VARIABLE}.",
    ),
]


def connect(url: str, token_file: Path | None) -> Client:
    """Return a client of a service; its token is in a file or in the environment.

    Parameters
    ----------
    url
        Where the service is.
    token_file
        A file with the token; None takes the one in the environment, if there is one.
    """
    try:
        from csim.client import Client  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InputError(
            f"--url needs the extra `web`, {error.name} is missing; "
            "install it with: pip install 'csim-stream[web]'"
        ) from error
    if not url.startswith(("http://", "https://")):
        raise InputError(f"--url must begin with http:// or https://, got {url!r}")
    return Client(url, token=_token(token_file))


def folder_of(folder: Path | None) -> Path:
    """Return the folder of a command that got no --url."""
    if folder is None:
        raise InputError("a stream folder or --url is needed; give one of them")
    return folder


def refuse_folder(folder: Path | None) -> None:
    """Refuse a folder beside --url."""
    if folder is not None:
        raise InputError(f"{folder} and --url exclude each other; give one of them")


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(TOKEN_VARIABLE)
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} must be a readable file with a token ({error})") from error
