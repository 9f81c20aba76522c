"""What commands say to a stream, and how they tell what became of it."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from csim.errors import InputError
from csim.records import Answer, Edit


def tell(folder: Path, message: Answer | Edit, words: str, as_json: bool) -> None:
    """Say one thing to a stream and print what became of it.

    Parameters
    ----------
    folder
        The stream folder.
    message
        What a person says.
    words
        What to print when it is done.
    as_json
        Print the outcome as JSON instead.
    """
    from csim.folder.send import send  # noqa: PLC0415  # torch is slow to load: `csim --help` need not wait

    (outcome,) = send(folder, [message])
    if outcome.refusal is not None:
        raise InputError(outcome.refusal)
    if as_json:
        typer.echo(json.dumps({"message": outcome.number, "taken": outcome.is_taken}))
    else:
        typer.echo(
            words if outcome.is_taken else f"{words}, as soon as the running engine takes it"
        )
