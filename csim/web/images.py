"""Images: send them and get decisions; look one up later."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from csim.errors import InputError
from csim.export.labels import who_decided
from csim.folder.decisions import DecisionRow
from csim.folder.layout import Config
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.decode import decode
from csim.utc import utc
from csim.web.engine_thread import NotRunningError
from csim.web.problems import NotFoundError, documented
from csim.web.schemas import ImageAnswers, ImageId, ImageState
from csim.web.service import Service, TheService

router = APIRouter(prefix="/v1/images", tags=["images"])

_FINGERPRINT_BYTES = 16
_MAX_ID_LENGTH = 200
_RAW_TYPES = ("image/", "application/octet-stream")
_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {
                    "images": {
                        "type": "array",
                        "items": {"type": "string", "format": "binary"},
                        "minItems": 1,
                    },
                    "ids": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1, "maxLength": 200},
                        "description": "One per image, in the same order, or none.",
                    },
                },
                "required": ["images"],
            },
            "example": {"images": ["(bytes of a file)"], "ids": ["camera-2/000017.png"]},
        },
        "application/octet-stream": {
            "schema": {"type": "string", "format": "binary"},
            "example": "(bytes of a file)",
        },
    },
}


@router.post(
    "",
    response_model=ImageAnswers,
    responses=documented(409, 415),
    openapi_extra={"requestBody": _BODY},
    operation_id="send_images",
)
async def send_images(
    request: Request,
    service: TheService,
    id: str | None = Query(
        default=None,
        max_length=_MAX_ID_LENGTH,
        min_length=1,
        description="The image's id, if the body is one image.",
        examples=["camera-2/000017.png"],
    ),
) -> JSONResponse:
    """Classify images; the answer comes when they are durable.

    Send one image as the body, or many as `multipart/form-data`. csim reads JPEG, PNG, WebP, BMP
    and TIFF. If you send an id again with the same bytes, you get the same decision. With other
    bytes you get 409. If one image cannot be used, csim takes none of the request.
    """
    _check_engine(service)
    contents, ids = await _read(request, service, id)
    end = time.monotonic() + service.limits.request_seconds
    rows = await service.take(partial(_decode, contents, ids, service.config, end))
    return JSONResponse({"images": [answer(row) for row in rows]})


@router.get(
    "/{image_id:path}",
    response_model=ImageState,
    responses=documented(404),
    operation_id="get_image",
)
async def get_image(image_id: ImageId, service: TheService) -> JSONResponse:
    """Return what csim decided about an image at arrival, and its class today."""
    rows = await service.read(lambda reader: reader.decisions.of([image_id]))
    if image_id not in rows:
        raise NotFoundError(f"no image has the id {image_id!r}")
    return JSONResponse(state(rows[image_id]))


def answer(row: DecisionRow) -> dict[str, Any]:
    """Return a decision as the service shows it."""
    given = row.nearest if row.is_accepted else None
    return {
        "id": row.id,
        "position": max(row.place, 0),
        "time": utc(row.time),
        "decision": "accepted" if row.is_accepted else "rejected",
        "class": None if given is None else {"id": given, "name": row.nearest_name},
        "score": row.score,
        "model": row.model,
        "question": row.asked_in,
    }


def state(row: DecisionRow) -> dict[str, Any]:
    """Return a decision and what is true today as the service shows it."""
    today = None if row.class_id is None else {"id": row.class_id, "name": row.class_name}
    return {
        **answer(row),
        "today": today,
        "is_junk": row.is_junk,
        "decided_by": who_decided(
            has_label=today is not None or row.is_junk,
            is_told=row.is_told,
            question_id=row.answered_by,
        ),
        "answered_by": row.answered_by,
        "picture": picture_path(row.place) if row.has_picture else None,
    }


def picture_path(place: int) -> str:
    """Return the path of the picture of the image at a place."""
    return f"/v1/pictures/{place}"


def _check_engine(service: Service) -> None:
    """Refuse early, before the body is read."""
    if service.is_stopping:
        raise NotRunningError("the service is stopping; send it again to the next one")
    if service.engine.state == "waiting":
        raise HTTPException(
            409, f"another process takes the images of this stream: {service.engine.reason}"
        )
    if service.engine.state != "running":
        raise NotRunningError(service.engine.reason)


async def _read(
    request: Request, service: Service, item_id: str | None
) -> tuple[list[bytes], list[str]]:
    """Return the files and ids of a request."""
    kind = request.headers.get("content-type", "").lower()
    if kind.startswith("multipart/form-data"):
        most = service.limits.request_images
        async with request.form(
            max_files=most, max_fields=most, max_part_size=_MAX_ID_LENGTH * 8
        ) as form:
            return await _from_form(form, item_id)
    if kind.startswith(_RAW_TYPES):
        return [await request.body()], [_checked(item_id or uuid4().hex)]
    raise HTTPException(
        415,
        "the content type must be multipart/form-data, an image type or "
        "application/octet-stream; set the header Content-Type",
    )


async def _from_form(form: FormData, item_id: str | None) -> tuple[list[bytes], list[str]]:
    for name, value in form.multi_items():
        if name not in ("images", "ids") or isinstance(value, str) != (name == "ids"):
            raise InputError(
                "a form must have files called images and, if you want, texts called ids; "
                f"got {name[:40]!r}"
            )
    contents = [await file.read() for file in form.getlist("images") if not isinstance(file, str)]
    ids = [str(text) for text in form.getlist("ids")]
    if item_id is not None:
        ids.insert(0, item_id)
    if not contents:
        raise InputError("a form must have at least one file called images; got none")
    if ids and len(ids) != len(contents):
        raise InputError(
            f"ids must be one per image or none, got {len(ids)} for {len(contents)} images"
        )
    return contents, [_checked(text) for text in ids] or [uuid4().hex for _ in contents]


def _checked(item_id: str) -> str:
    is_plain = item_id == item_id.strip() and item_id.isprintable()
    has_dots = any(part in ("", ".", "..") for part in item_id.split("/"))
    if not is_plain or has_dots or len(item_id) > _MAX_ID_LENGTH:
        raise InputError(
            f"an id must have 1 to {_MAX_ID_LENGTH} printable characters, without blanks around "
            f"it and without the parts . and .. between slashes; got {item_id[:40]!r}"
        )
    return item_id


def _decode(
    contents: Sequence[bytes], ids: Sequence[str], config: Config, end: float
) -> list[Decoded]:
    """Return the images of a request; raise if one cannot be used, or if it takes too long."""
    images = []
    for index, (item_id, content) in enumerate(zip(ids, contents, strict=True), start=1):
        if time.monotonic() > end:
            raise NotRunningError("decoding took too long; send fewer or smaller images")
        found = decode(Arrival(item_id, content), config.image_shape, config.bits)
        if isinstance(found, Trouble):
            raise InputError(
                f"image {index} of {len(ids)} ({found.kind}): {found.reason}; nothing was taken"
            )
        fingerprint = blake2b(content, digest_size=_FINGERPRINT_BYTES).digest()
        images.append(Decoded(found.id, found.image, found.kept, fingerprint))
    return images
