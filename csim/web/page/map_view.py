"""The map view: images as points that you can look at, select and label."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from csim.folder.reader import Reader
from csim.records import JUNK
from csim.web.page.projection import ImageMap, MapThread
from csim.web.page.render import PageRoute, html
from csim.web.service import TheService

router = APIRouter(route_class=PageRoute, prefix="/map")


@router.get("")
async def show_map(request: Request, service: TheService) -> HTMLResponse:
    """Show the map; the script draws it."""
    _thread(request).want()
    names = await service.read(lambda reader: [row.name for row in reader.classes()])
    return html(request, "map.html", {"names": names})


@router.get("/points")
async def get_points(request: Request, service: TheService) -> JSONResponse:
    """Return the points with the classes that their images have now."""
    thread = _thread(request)
    thread.want()
    found = thread.newest
    if found is None:
        done, total = thread.progress
        state = {"points": None, "trouble": thread.trouble, "done": done, "total": total}
        return JSONResponse(state)
    return JSONResponse(await service.read(lambda reader: _points(reader, found)))


def _points(reader: Reader, found: ImageMap) -> dict[str, object]:
    with reader.transaction():
        items = {item.place: item for item in reader.samples.at(found.places)}
        asked = reader.question_pages.showing(found.places)
        names = {row.id: row.name for row in reader.classes()}
    return {
        "model": found.model,
        "classes": {**names, JUNK: "junk"},
        "points": [
            {
                "x": round(float(point[0]), 4),
                "y": round(float(point[1]), 4),
                "place": place,
                "id": items[place].id,
                "class": JUNK if items[place].is_junk else items[place].class_id,
                "told": items[place].is_told,
                "question": asked.get(place),
            }
            for place, point in zip(found.places, found.points, strict=True)
            if place in items
        ],
    }


def _thread(request: Request) -> MapThread:
    thread: MapThread = request.app.state.map
    return thread
