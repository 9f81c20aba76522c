"""Sending one answer or edit to a stream and printing the outcome."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from csim.errors import InputError
from csim.folder.send import send
from csim.messages import Answer, Edit


def send_and_print(folder: Path, message: Answer | Edit, done_text: str, as_json: bool) -> None:
    """Send one message to a stream and print whether the stream took it.

    Parameters
    ----------
    folder
        The stream folder.
    message
        The answer or edit.
    done_text
        What to print when the stream has taken the message.
    as_json
        Print the outcome as JSON instead.
    """
    (outcome,) = send(folder, [message])
    if outcome.refusal is not None:
        raise InputError(outcome.refusal)
    if as_json:
        typer.echo(json.dumps({"message": outcome.number, "taken": outcome.is_taken}))
    elif outcome.is_taken:
        typer.echo(done_text)
    else:
        typer.echo(f"{done_text}, as soon as the running engine takes it")
