"""Pictures of images, in several sizes; browsers may keep them without limit."""

from __future__ import annotations

import io
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from PIL import Image

from csim.sources.arrival import Trouble
from csim.sources.open_picture import format_of, open_picture
from csim.web.problems import NotFoundError, documented
from csim.web.service import TheService

router = APIRouter(prefix="/v1/pictures", tags=["pictures"])

_SIDES = {"small": 96, "medium": 320}  # pixels of the longer side
_MIN_SIDE = 64  # smaller images are enlarged, pixel by pixel, so that people can see them
_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WebP": "image/webp", "BMP": "image/bmp"}
_KEEP = {"Cache-Control": "private, max-age=31536000, immutable"}


@router.get(
    "/{place}",
    response_class=Response,
    responses={
        200: {"content": {kind: {"example": "(bytes of a file)"} for kind in _TYPES.values()}},
        **documented(404),
    },
    operation_id="get_picture",
)
async def get_picture(
    place: Annotated[int, Path(description="The image's position.", examples=[512])],
    service: TheService,
    size: Annotated[
        Literal["small", "medium", "full"],
        Query(description="small: 96 pixels a side; medium: 320; full: as csim keeps it."),
    ] = "full",
) -> Response:
    """Return the picture of an image.

    `place` is the image's position in the stream, or negative for the labelled images that the
    stream started with. csim drops old pictures that nobody needs; they are 404 then.
    """
    if not -(2**62) < place < 2**62:
        raise NotFoundError(f"no picture is kept of the image at {place}")
    file = await service.read(lambda reader: reader.picture(place))
    if file is None:
        raise NotFoundError(f"no picture is kept of the image at {place}")
    if size == "full":
        return Response(file, media_type=_TYPES.get(format_of(file) or ""), headers=_KEEP)
    smaller = await service.decode(lambda: _resized(file, _SIDES[size]))
    return Response(smaller, media_type="image/png", headers=_KEEP)


def _resized(file: bytes, side: int) -> bytes:
    """Return a picture as PNG whose longer side is at most `side` pixels."""
    picture = open_picture("picture", file, least=side)
    if isinstance(picture, Trouble):
        raise NotFoundError(f"the picture cannot be shown: {picture.reason}")
    picture.thumbnail((side, side))
    if max(picture.size) < _MIN_SIDE:
        factor = side // max(picture.size)
        size = (picture.width * factor, picture.height * factor)
        picture = picture.resize(size, Image.Resampling.NEAREST)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
