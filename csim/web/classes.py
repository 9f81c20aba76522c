"""Classes: list, add, rename, merge and remove; each edit can first say what it would change."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from csim.errors import ClassError
from csim.folder.preview import preview
from csim.folder.reader import Reader
from csim.messages import AddClass, ClassEdit, MergeClasses, RemoveClass, RenameClass, RestoreClass
from csim.web.answers import Key
from csim.web.images import picture_path
from csim.web.problems import NotFoundError, documented
from csim.web.schemas import ClassList, ClassNaming, EditOutcome, Merging
from csim.web.service import Service, TheService

router = APIRouter(prefix="/v1/classes", tags=["classes"])

ClassPath = Annotated[int, Path(ge=0, le=2**31, description="The class's id.", examples=[3])]
DryRun = Annotated[bool, Query(description="Only say what would change.", examples=[True])]
_EXAMPLES = 8  # pictures per class, at most
_EDITS: dict[int | str, dict[str, Any]] = {
    200: {"model": EditOutcome, "description": "It is done, or would be."},
    202: {"model": EditOutcome, "description": "It is safe, and the engine takes it later."},
    **documented(404, 409),
}


@router.get("", response_model=ClassList, responses=documented(), operation_id="list_classes")
async def list_classes(
    service: TheService,
    examples: Annotated[
        int, Query(ge=0, le=_EXAMPLES, description="Pictures per class.", examples=[3])
    ] = 3,
) -> JSONResponse:
    """List the classes of today with their numbers of images and their newest pictures."""
    return JSONResponse({"classes": await service.read(lambda reader: _list(reader, examples))})


@router.post("", responses=_EDITS, operation_id="add_class")
async def add_class(
    given: ClassNaming, service: TheService, dry_run: DryRun = False, key: Key = None
) -> JSONResponse:
    """Add a class before its first image comes."""
    return await _edit(service, AddClass(given.name), dry_run, key)


@router.patch("/{class_id}", responses=_EDITS, operation_id="rename_class")
async def rename_class(
    class_id: ClassPath,
    given: ClassNaming,
    service: TheService,
    dry_run: DryRun = False,
    key: Key = None,
) -> JSONResponse:
    """Give a class another name; its id stays the same."""
    return await _edit(service, RenameClass(class_id, given.name), dry_run, key, class_id)


@router.post("/{class_id}/merge", responses=_EDITS, operation_id="merge_class")
async def merge_class(
    class_id: ClassPath,
    given: Merging,
    service: TheService,
    dry_run: DryRun = False,
    key: Key = None,
) -> JSONResponse:
    """Merge a class into another; its images get the other class."""
    return await _edit(service, MergeClasses(class_id, given.into), dry_run, key, class_id)


@router.delete("/{class_id}", responses=_EDITS, operation_id="remove_class")
async def remove_class(
    class_id: ClassPath, service: TheService, dry_run: DryRun = False, key: Key = None
) -> JSONResponse:
    """Remove a class and its stored images."""
    return await _edit(service, RemoveClass(class_id), dry_run, key, class_id)


@router.post("/{class_id}/restore", responses=_EDITS, operation_id="restore_class")
async def restore_class(
    class_id: ClassPath, service: TheService, dry_run: DryRun = False, key: Key = None
) -> JSONResponse:
    """Bring a removed class back, with its id, its name and its stored images."""
    return await _edit(service, RestoreClass(class_id), dry_run, key)


def _list(reader: Reader, examples: int) -> list[dict[str, Any]]:
    with reader.transaction():
        rows = reader.classes()
        newest = reader.samples.newest(_EXAMPLES) if examples else []
    shown: defaultdict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for item in newest:
        shown[item.class_id].append(
            {
                "id": item.id,
                "position": max(item.place, 0),
                "picture": picture_path(item.place),
            }
        )
    return [
        {
            "id": row.id,
            "name": row.name,
            "images": row.images,
            "told": row.told,
            "is_learned": row.is_learned,
            "examples": shown[row.id][:examples],
        }
        for row in rows
    ]


async def _edit(
    service: Service, edit: ClassEdit, dry_run: bool, key: str | None, class_id: int | None = None
) -> JSONResponse:
    def look(reader: Reader) -> dict[str, Any]:
        if class_id is not None and class_id not in {row.id for row in reader.classes()}:
            raise NotFoundError(f"no class has the id {class_id}; list the classes")
        found = preview(reader, edit)
        return {"change": found.text, "images": found.images, "told": found.told}

    change = await service.read(look)
    if dry_run:
        return JSONResponse({"dry_run": True, **change, "message": None, "taken": False})
    done = await service.send(edit, key=key)
    if done.refusal is not None:
        raise ClassError(done.refusal)
    body = {"dry_run": False, **change, "message": done.number, "taken": done.is_taken}
    return JSONResponse(body, 200 if done.is_taken else 202)
