"""The classes: all of them with pictures, and those that were removed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from csim.errors import ClassError
from csim.folder.reader import Reader
from csim.messages import AddClass, Edit, RestoreClass
from csim.web.classes import ClassPath
from csim.web.page.render import PageRoute, html, see_other
from csim.web.service import Service, TheService

router = APIRouter(route_class=PageRoute, prefix="/classes")

_PICTURES = 6


@router.get("")
async def show_classes(request: Request, service: TheService) -> HTMLResponse:
    """Show all classes, the largest first."""

    def read(reader: Reader) -> dict[str, object]:
        with reader.transaction():
            rows = sorted(reader.classes(), key=lambda row: (-row.images, row.id))
            return {
                "classes": rows,
                "pictures": reader.class_images.examples((row.id for row in rows), _PICTURES),
                "removed": reader.history.removed_classes(),
            }

    return html(request, "classes.html", await service.read(read))


@router.post("")
async def add(
    service: TheService, name: Annotated[str, Form(min_length=1, max_length=200)]
) -> RedirectResponse:
    """Add a class."""
    await send_edit(service, AddClass(name))
    return see_other("/classes")


@router.post("/{class_id}/restore")
async def restore(class_id: ClassPath, service: TheService) -> RedirectResponse:
    """Bring a removed class back."""
    await send_edit(service, RestoreClass(class_id))
    return see_other(f"/classes/{class_id}")


async def send_edit(service: Service, edit: Edit) -> None:
    """Send an edit to the stream; raise the reason if it is refused."""
    done = await service.send(edit)
    if done.refusal is not None:
        raise ClassError(done.refusal)
