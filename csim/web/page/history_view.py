"""The history: everything that people said, with its outcome, what it taught, and undo."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from csim.errors import QuestionError
from csim.folder.reader import Reader
from csim.messages import LabelImages, UndoAnswers
from csim.web.page.render import PageRoute, html, see_other
from csim.web.page.wording import word
from csim.web.service import TheService

router = APIRouter(route_class=PageRoute)

_ROWS = 50


@router.get("/history")
async def show_history(
    request: Request,
    service: TheService,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    show: Annotated[Literal["all", "skipped"], Query()] = "all",
) -> HTMLResponse:
    """Show the messages, newest first, or the skipped questions."""

    def read(reader: Reader) -> dict[str, object]:
        with reader.transaction():
            rows = reader.said.newest(_ROWS, before=before)
            names = {class_id: found.name for class_id, found in reader.current_classes().items()}
            names |= {
                class_id: name
                for class_id, name in reader.history.removed_classes().items()
                if class_id not in names
            }
            skipped = reader.question_pages.page("skipped", after=0, most=_ROWS)
            return {
                "rows": [(row, word(row.message, names)) for row in rows],
                "taught": reader.said.taught(rows),
                "given": {
                    row.number: reader.said.given(row.step)
                    for row in rows
                    if isinstance(row.message, LabelImages) and row.step is not None
                },
                "skipped": skipped,
                "skipped_count": reader.count("skipped"),
                "removed": set(reader.history.removed_classes()),
                "older": rows[-1].number if len(rows) == _ROWS else None,
                "show": show,
            }

    return html(request, "history.html", await service.read(read))


@router.post("/history/undo")
async def undo_labels(
    service: TheService, question: Annotated[list[int], Form(min_length=1, max_length=1000)]
) -> RedirectResponse:
    """Take labels of images back that were given unasked; each is a question of its own."""
    done = await service.send(UndoAnswers(tuple(question)))
    if done.refusal is not None:
        raise QuestionError(done.refusal)
    return see_other("/history")
