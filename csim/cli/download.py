"""Exports of a service, written to files here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from csim.cli.service_options import connect
from csim.errors import InputError
from csim.export.destination import atomic_output
from csim.export.model import files_of


def folder_and_out(paths: Sequence[Path]) -> tuple[Path, Path]:
    """Return the stream folder and the file to write."""
    if len(paths) != 2:
        raise InputError(f"a stream folder and a file to write are needed, got {len(paths)} paths")
    return paths[0], paths[1]


def only_out(paths: Sequence[Path]) -> Path:
    """Return the file to write, beside --url."""
    if len(paths) != 1:
        raise InputError(
            f"with --url, only the file to write is needed, got {len(paths)} paths; "
            "leave out the stream folder"
        )
    return paths[0]


def download(file_name: str, out: Path, url: str, token_file: Path | None, *, force: bool) -> None:
    """Write an export of a service to a file.

    Parameters
    ----------
    file_name
        What the service calls it.
    out
        The file to write.
    url, token_file
        As for `connect`.
    force
        Replace an existing file.
    """
    if out.suffix not in (".csv", ".jsonl"):
        raise InputError(f"the file must end in .csv or .jsonl, got {out}")
    with connect(url, token_file) as client:
        _write(out, client.export(file_name), force=force)


def download_model(out: Path, url: str, token_file: Path | None, *, force: bool) -> dict[str, Any]:
    """Write the model of a service and its card; return the card. Parameters as for `download`."""
    with connect(url, token_file) as client:
        payload = client.export("model.safetensors")
        card: dict[str, Any] = json.loads(client.export("model.json"))
    if hashlib.sha256(payload).hexdigest() != card["sha256"]:
        raise InputError("the service changed its model meanwhile; run the command again")
    path, card_path = files_of(out)
    card["file"] = path.name
    text = json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    _write(card_path, text.encode(), force=force)
    _write(path, payload, force=force)
    return card


def _write(path: Path, content: bytes, *, force: bool) -> None:
    with atomic_output(path, outside=None, overwrite=force) as file:
        file.write_bytes(content)
