"""The script, the stylesheet and the icon of the page."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from csim.web.page.render import asset, asset_path
from csim.web.problems import NotFoundError

router = APIRouter()

_TYPES = {
    "csim.js": "text/javascript",
    "questions.js": "text/javascript",
    "map.js": "text/javascript",
    "csim.css": "text/css",
    "icon.svg": "image/svg+xml",
}
_KEEP = {"Cache-Control": "public, max-age=31536000, immutable"}


@router.get("/static/{version}/{name}")
async def get_asset(version: str, name: str) -> Response:
    """Return a static file; its path holds its version."""
    if name not in _TYPES or asset_path(name) != f"/static/{version}/{name}":
        raise NotFoundError("no file has this path; load the page again")
    return Response(asset(name), media_type=_TYPES[name], headers=_KEEP)
