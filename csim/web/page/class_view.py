"""One class: its images, corrections, rename, merge and remove with a preview, its history."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from csim.errors import InputError
from csim.folder.preview import Preview, preview
from csim.folder.reader import Reader
from csim.folder.said import ClassChange
from csim.messages import LabelImages, MergeClasses, RemoveClass, RenameClass
from csim.records import ClassId
from csim.web.classes import ClassPath
from csim.web.page.classes_view import send_edit
from csim.web.page.render import PageRoute, html, see_other
from csim.web.problems import NotFoundError
from csim.web.schemas import ClassNumber
from csim.web.service import TheService

router = APIRouter(route_class=PageRoute, prefix="/classes/{class_id}")

Order = Literal["newest", "least-sure", "told"]
_IMAGES = 60
_CHANGES = 20


@router.get("")
async def show_class(
    request: Request,
    service: TheService,
    class_id: ClassPath,
    order: Annotated[Order, Query()] = "newest",
    before: Annotated[int | None, Query(ge=-(2**62), le=2**62)] = None,
    source: Annotated[str, Query(max_length=1000)] = "",
) -> HTMLResponse:
    """Show a class with its images, of all cameras or of one."""
    camera = source or None

    def read(reader: Reader) -> dict[str, object]:
        with reader.transaction():
            rows = {row.id: row for row in reader.classes()}
            if class_id not in rows:
                raise NotFoundError(f"no class has the id {class_id}; look at the list of classes")
            images = {
                "newest": lambda: reader.class_images.newest(
                    class_id, _IMAGES, before=before, source=camera
                ),
                "least-sure": lambda: reader.class_images.least_sure(
                    class_id, _IMAGES, source=camera
                ),
                "told": lambda: reader.class_images.told(class_id, _IMAGES, source=camera),
            }[order]()
            return {
                "row": rows.pop(class_id),
                "others": sorted(rows.values(), key=lambda row: row.name),
                "images": images,
                "asked": reader.question_pages.showing([image.place for image in images]),
                "order": order,
                "source": source,
                "sources": reader.counts.sources(),
                "has_more": order == "newest" and len(images) == _IMAGES,
                "changes": _changes(reader, class_id),
            }

    return html(request, "class.html", await service.read(read))


@router.post("/rename")
async def rename(
    class_id: ClassPath,
    service: TheService,
    name: Annotated[str, Form(min_length=1, max_length=200)],
) -> RedirectResponse:
    """Give a class another name."""
    await send_edit(service, RenameClass(class_id, name))
    return see_other(f"/classes/{class_id}")


@router.post("/correct")
async def correct(
    class_id: ClassPath,
    service: TheService,
    image: Annotated[list[str] | None, Form(max_length=_IMAGES)] = None,
    name: Annotated[str, Form(max_length=200)] = "",
    junk: Annotated[bool, Form()] = False,
) -> RedirectResponse:
    """Say what wrong images of a class show."""
    if not image:
        raise InputError("choose the images that are wrong; go back and click one")
    if not junk and not name.strip():
        raise InputError("the images need a name; go back and type one, or choose junk")
    await send_edit(service, LabelImages(tuple(image), None if junk else name))
    return see_other(f"/classes/{class_id}")


@router.get("/merge")
async def preview_merge(
    request: Request, service: TheService, class_id: ClassPath, into: ClassNumber
) -> HTMLResponse:
    """Show what a merge would change."""
    edit = MergeClasses(class_id, into)
    found = await service.read(lambda reader: preview(reader, edit))
    return _confirm(request, "merge", class_id, found, {"into": into})


@router.post("/merge")
async def merge(
    class_id: ClassPath, service: TheService, into: Annotated[ClassNumber, Form()]
) -> RedirectResponse:
    """Merge a class into another."""
    await send_edit(service, MergeClasses(class_id, into))
    return see_other(f"/classes/{into}")


@router.get("/remove")
async def preview_remove(
    request: Request, service: TheService, class_id: ClassPath
) -> HTMLResponse:
    """Show what a removal would change."""
    found = await service.read(lambda reader: preview(reader, RemoveClass(class_id)))
    return _confirm(request, "remove", class_id, found, {})


@router.post("/remove")
async def remove(class_id: ClassPath, service: TheService) -> RedirectResponse:
    """Remove a class."""
    await send_edit(service, RemoveClass(class_id))
    return see_other("/classes")


def _confirm(
    request: Request, act: str, class_id: ClassId, found: Preview, fields: dict[str, int]
) -> HTMLResponse:
    values = {"act": act, "class_id": class_id, "preview": found, "fields": fields}
    return html(request, "confirm.html", values)


def _changes(reader: Reader, class_id: ClassId) -> list[ClassChange]:
    """Return what happened to a class, newest first."""
    ids = ("class_id", "source", "target")
    about = [
        change
        for change in reader.said.class_changes()
        if class_id in (change.body.get(key) for key in ids)
    ]
    return about[:_CHANGES]
