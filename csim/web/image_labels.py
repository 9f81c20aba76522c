"""Labels that a person gives to images without being asked, as on a class page or a map."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from csim.messages import LabelImages
from csim.web.answers import ANSWERS, Key, class_or_junk, confirm
from csim.web.schemas import ImageNaming
from csim.web.service import TheService

router = APIRouter(prefix="/v1/images", tags=["answers"])


@router.post("/label", responses=ANSWERS, operation_id="label_images")
async def label_images(given: ImageNaming, service: TheService, key: Key = None) -> JSONResponse:
    """Say what images are, all or, if one is refused, none.

    Each becomes an answered question of its own. The outcome names these questions, so that you can
    undo or correct them. An image must be recent, stored or shown by a question.
    """
    message = LabelImages(tuple(given.images), class_or_junk(given))
    return confirm(await service.send(message, key=key))
