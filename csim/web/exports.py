"""Exports as downloads: labels, predictions, and the model with its card."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException

from csim.errors import InputError
from csim.export.labels import write_labels
from csim.export.model import write_model
from csim.export.predictions import write_predictions
from csim.folder.reader import Reader
from csim.web.problems import documented
from csim.web.service import Service, TheService

router = APIRouter(prefix="/v1/exports", tags=["exports"])

FileName = Annotated[
    Literal[
        "labels.csv",
        "labels.jsonl",
        "predictions.csv",
        "predictions.jsonl",
        "model.safetensors",
        "model.json",
    ],
    PathParameter(description="Which file.", examples=["labels.csv"]),
]
Camera = Annotated[
    str | None,
    Query(
        description="Only images of this camera; for labels.", examples=["pond"], max_length=1000
    ),
]
_TYPES = {
    ".csv": "text/csv",
    ".jsonl": "application/jsonl",
    ".safetensors": "application/octet-stream",
    ".json": "application/json",
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {"example": "(a file)"} for kind in _TYPES.values()}},
    **documented(404),
}


@router.get(
    "/{file_name}",
    response_class=FileResponse,
    responses=_ANSWERS,
    operation_id="get_export",
)
async def get_export(
    file_name: FileName, service: TheService, source: Camera = None
) -> FileResponse:
    """Download labels or predictions as CSV or JSON lines, or the model in use and its card."""
    if source is not None and not file_name.startswith("labels"):
        raise InputError("only labels can be limited to one camera; leave `source` out")
    if service.heavy.locked():
        raise HTTPException(429, "a report or an export is being made; come back later")
    folder = Path(tempfile.mkdtemp(prefix="csim-export-"))
    try:
        async with service.heavy:
            await service.compute(lambda: _write(service, folder, file_name, source))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    clean = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    file = folder / file_name
    return FileResponse(file, media_type=_TYPES[file.suffix], filename=file_name, background=clean)


def _write(service: Service, folder: Path, file_name: FileName, source: str | None) -> None:
    kind, _, _ = file_name.partition(".")
    with Reader(service.root) as reader:
        if kind == "labels":
            write_labels(reader, folder / file_name, source=source)
        elif kind == "predictions":
            write_predictions(reader, folder / file_name)
        else:
            write_model(reader, folder / "model")
