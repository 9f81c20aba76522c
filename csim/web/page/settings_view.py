"""The settings of the stream, with their meaning; they cannot be changed here."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from functools import cache

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from csim.folder.reader import Reader
from csim.settings import Settings
from csim.web.page.render import PageRoute, html
from csim.web.service import TheService

router = APIRouter(route_class=PageRoute)

_FIELD = re.compile(r"((?:^    # .*\n)+)^    (\w+): ", re.MULTILINE)


@router.get("/settings")
async def show_settings(request: Request, service: TheService) -> HTMLResponse:
    """Show every setting with its value and its meaning."""

    def read(reader: Reader) -> dict[str, object]:
        default = Settings()
        rows = [
            (field.name, getattr(reader.config.settings, field.name), getattr(default, field.name))
            for field in fields(Settings)
        ]
        return {"rows": rows, "config": reader.config, "root": str(reader.layout.root.resolve())}

    values = await service.read(read)
    return html(request, "settings.html", {"meanings": meanings(), **values})


@cache
def meanings() -> dict[str, str]:
    """Return what each setting means: the comment above it in the source.

    >>> meanings()["margin"]
    'γ. Higher pushes classes farther apart; above 1 the paper overfits.'
    """
    source = inspect.getsource(Settings)
    return {
        name: " ".join(line.strip().removeprefix("# ") for line in comment.splitlines())
        for comment, name in _FIELD.findall(source)
    }
