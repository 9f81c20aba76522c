"""The overview: what the stream does, how it grows, its newest classes and its troubles."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from csim.folder.reader import Reader
from csim.folder.status import Status, read_status
from csim.folder.timeline import Sums
from csim.web.page.activity import activity
from csim.web.page.charts import ceiling
from csim.web.page.render import PageRoute, html
from csim.web.service import Service, TheService

router = APIRouter(route_class=PageRoute)

Span = Literal["hour", "day", "week", "all"]
_LENGTHS: dict[str, tuple[int, int, str]] = {  # minutes of a part, parts, what the start is called
    "hour": (1, 60, "an hour ago"),
    "day": (15, 96, "a day ago"),
    "week": (120, 84, "a week ago"),
}
_DAY_SECONDS = 86_400
_PARTS_OF_ALL = 100
_NEW_CLASSES = 6
_PICTURES = 4
_TROUBLES = 5


@dataclass(frozen=True, slots=True)
class Series:
    """Hold one line of a chart."""

    name: str
    kind: str  # its style
    values: list[float]


@dataclass(frozen=True, slots=True)
class Chart:
    """Hold a chart: its lines, its highest value, and what it says in words."""

    title: str
    series: list[Series]
    top: float
    summary: str


@router.get("/overview")
async def show_overview(
    request: Request, service: TheService, span: Annotated[Span, Query()] = "hour"
) -> HTMLResponse:
    """Show the state of the stream and its charts."""
    return html(request, "overview.html", await _values(service, span))


@router.get("/overview/part")
async def show_part(
    request: Request, service: TheService, span: Annotated[Span, Query()] = "hour"
) -> HTMLResponse:
    """Show the same as a part of a page, for live updates."""
    return html(request, "_overview.html", await _values(service, span))


async def _values(service: Service, span: Span) -> dict[str, object]:
    return await service.read(lambda reader: _read(reader, service, span))


def _read(reader: Reader, service: Service, span: Span) -> dict[str, object]:
    with reader.transaction():
        status = read_status(reader)
        first, minutes, sums, started = _sums(reader, span)
        newest = sorted(status.classes, key=lambda row: -row.id)[:_NEW_CLASSES]
        return {
            "status": status,
            "span": span,
            "started": started,
            "times": _clock(60 * first, 60 * minutes * len(sums)),
            "doing": activity(reader, service),
            "charts": _charts(status, minutes, sums),
            "newest": newest,
            "pictures": reader.class_images.examples((row.id for row in newest), _PICTURES),
            "troubles": reader.samples.troubles(_TROUBLES),
            "accepted": max(0, status.position - status.waiting - status.junk),
        }


def _sums(reader: Reader, span: Span) -> tuple[int, int, list[Sums], str]:
    """Return the first minute, the minutes and sums of the parts, and what the start is called."""
    end = int(time.time() // 60) + 1
    if span == "all":
        first = reader.timeline.first_minute()
        minutes = max(1, -(-(end - (first or end)) // _PARTS_OF_ALL))
        parts = min(_PARTS_OF_ALL, max(2, -(-(end - (first or end)) // minutes)))
        started = "the start"
    else:
        minutes, parts, started = _LENGTHS[span]
    first = end - minutes * parts
    return first, minutes, reader.timeline.parts(first, minutes, parts), started


def _clock(start: float, seconds: float) -> list[str]:
    """Return the wall-clock times, where the service runs, of the start and middle of a span."""
    form = "%H:%M" if seconds <= _DAY_SECONDS else "%d %b %H:%M"
    return [time.strftime(form, time.localtime(start + part * seconds)) for part in (0, 0.5)]


def _charts(status: Status, minutes: int, sums: Sequence[Sums]) -> list[Chart]:
    images = [part.images / minutes for part in sums]
    accepted = [part.accepted / minutes for part in sums]
    rejected = [(part.images - part.accepted) / minutes for part in sums]
    revised = [part.revised / minutes for part in sums]
    position = _until_now(status.position, [part.images for part in sums])
    labels = _until_now(status.told, [part.labels for part in sums])
    budget = [status.budget * images_then for images_then in position]
    classes = _until_now(len(status.classes), [part.classes for part in sums])
    decided = [
        Series("accepted", "main", accepted),
        Series("waiting", "second", rejected),
        Series("revised", "third", revised),
    ]
    spent = [Series("labels", "main", labels)]
    if status.budget < 1:
        spent.append(Series("budget", "limit", budget))
    return [
        _chart("Images per minute", [Series("images", "main", images)], f"{images[-1]:,.0f} now"),
        _chart("Decided per minute", decided, f"{sum(part.revised for part in sums):,} revised"),
        _chart("Labels and budget", spent, f"{status.told:,} labels so far"),
        _chart("Classes", [Series("classes", "main", classes)], f"{len(status.classes):,} now"),
    ]


def _chart(title: str, series: list[Series], summary: str) -> Chart:
    top = ceiling([value for one in series for value in one.values])
    return Chart(title, series, top, summary)


def _until_now(today: float, changes: Sequence[int]) -> list[float]:
    """Return a running figure at the end of each part, from what it is today and its changes.

    >>> _until_now(10, [1, 2, 3])
    [5, 7, 10]
    """
    later = list(accumulate(reversed(changes), initial=0))[:-1]
    return [today - change for change in reversed(later)]
