"""The question view: one group, the model's guesses, and what the last answers taught."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from csim.errors import QuestionError
from csim.folder import leases
from csim.folder.class_images import ClassImage
from csim.folder.question_pages import Guess, QuestionEntry
from csim.folder.reader import ItemRow, Reader
from csim.folder.said import SaidRow
from csim.records import QuestionId
from csim.web.page.fresh_guesses import FreshGuesses
from csim.web.page.labeller import Labeller, introduce, new_labeller
from csim.web.page.render import PageRoute, html, see_other
from csim.web.page.wording import Wording, word
from csim.web.problems import NotFoundError
from csim.web.questions import QuestionNumber
from csim.web.service import Service, TheService, now

router = APIRouter(route_class=PageRoute)

_GUESSES = 9  # so that one digit chooses one
_EXAMPLES = 3  # pictures of each guess
_OTHERS = 10  # classes to choose from besides the guesses
_LEAST_SURE_SHARE = 0.2  # of a group are marked
_MIN_MARKED_GROUP = 4
_SHOWN_FIRST = 24  # images of a group; the others load when a person wants to see them
_ANSWERABLE = ("open", "undone")
_ANSWERS_SHOWN = 5
_MOST_BESIDES = 1000


@dataclass(frozen=True, slots=True)
class ShownMember:
    """Describe an image of the group as the page shows it."""

    item: ItemRow
    is_least_sure: bool


@dataclass(frozen=True, slots=True)
class ShownGuess:
    """Describe a guess with pictures of its class."""

    guess: Guess
    examples: list[ClassImage]


@dataclass(frozen=True, slots=True)
class Progress:
    """Say how far the labelling is."""

    today: int  # answers since midnight
    open: int
    skipped: int
    left: int | None  # labels in the budget; None: there is no limit
    images: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """Say what one of the last answers taught."""

    row: SaidRow
    wording: Wording
    images: int  # that got its class since


@router.get("/")
async def start() -> RedirectResponse:
    """Send the browser to the first question."""
    return see_other("/questions")


@router.get("/questions")
async def show_next(
    request: Request,
    service: TheService,
    labeller: Labeller = None,
    said: int | None = None,
    named: bool = False,
) -> Response:
    """Show the most valuable question, or what to do if there is none.

    A new browser gets its name first and asks again with it. Otherwise another browser could take
    the question that is on its screen.
    """
    if labeller is None and said is None and not named:
        response = see_other("/questions?named=true")
        introduce(request, response, new_labeller())
        return response
    found = await _take(service, labeller, None, ())
    return await _page(request, service, labeller, found, said)


@router.get("/questions/taught")
async def show_taught(request: Request, service: TheService) -> HTMLResponse:
    """Show what the last answers taught, as a part of a page."""
    return html(request, "_taught.html", {"lessons": await service.read(_lessons)})


@router.get("/questions/{question_id}")
async def show_one(
    request: Request, service: TheService, question_id: QuestionNumber, labeller: Labeller = None
) -> HTMLResponse:
    """Show one question, answered or not."""
    found = await _take(service, labeller, question_id, ())
    return await _page(request, service, labeller, found, None)


@router.post("/questions/next")
async def show_next_part(
    request: Request,
    service: TheService,
    wanted: Annotated[int | None, Form(ge=1, le=2**31)] = None,
    besides: Annotated[list[int] | None, Form(max_length=_MOST_BESIDES)] = None,
    labeller: Labeller = None,
) -> HTMLResponse:
    """Show a question as a part of a page: the wanted one, or the next besides some."""
    found = await _take(service, labeller, wanted, besides or ())
    fresh: FreshGuesses = request.app.state.guesses
    values = await service.read(lambda reader: _content(reader, service, fresh, found, labeller))
    return html(request, "_question.html" if found else "_empty.html", values)


async def _take(
    service: Service, labeller: str | None, wanted: QuestionId | None, besides: Sequence[QuestionId]
) -> QuestionId | None:
    """Return the question to show; a labeller keeps it from others, if nobody else has it."""
    seconds = service.limits.lease_seconds
    if wanted is not None:
        if labeller is not None and await service.read(lambda reader: _is_open(reader, wanted)):
            await service.write(
                lambda connection: leases.take(
                    connection, wanted, labeller, now=now(), seconds=seconds
                )
            )
        return wanted
    if labeller is None:  # a browser without cookies: it can answer, but keeps nothing
        return await service.write(lambda connection: leases.find_next(connection, "", now=now()))
    return await service.write(
        lambda connection: leases.take_next(
            connection, labeller, now=now(), seconds=seconds, besides=besides
        )
    )


def _is_open(reader: Reader, question_id: QuestionId) -> bool:
    try:
        return reader.question_pages.one(question_id).status in _ANSWERABLE
    except QuestionError as error:
        raise NotFoundError(str(error)) from error


async def _page(
    request: Request,
    service: Service,
    labeller: str | None,
    question_id: QuestionId | None,
    said: int | None,
) -> HTMLResponse:
    fresh: FreshGuesses = request.app.state.guesses

    def read(reader: Reader) -> dict[str, object]:
        with reader.transaction():
            return {
                **_content(reader, service, fresh, question_id, labeller),
                "lessons": _lessons(reader),
                "said": _said(reader, said),
                "names": [row.name for row in reader.classes()],
            }

    values = await service.read(read)
    name = labeller or new_labeller()
    response = html(request, "question.html", {"labeller": name, **values})
    if labeller is None:
        introduce(request, response, name)
    return response


def _content(
    reader: Reader,
    service: Service,
    fresh: FreshGuesses,
    question_id: QuestionId | None,
    labeller: str | None,
) -> dict[str, object]:
    """Return what the templates of a question, or of none, show."""
    with reader.transaction():
        progress = read_progress(reader)
        if question_id is None:
            return {
                "question": None,
                "progress": progress,
                "taken": progress.open,
                "engine": service.engine.state,
                "folder": service.root.name,
            }
        entry = reader.question_pages.one(question_id)
        guesses = fresh.of(reader, entry)[:_GUESSES]
        guessed = [guess.class_id for guess in guesses]
        examples = reader.class_images.examples(guessed, per_class=_EXAMPLES)
        classes = reader.classes()
        # The model has not learned the newest classes yet. So these come first here.
        others = [row for row in reversed(classes) if row.id not in guessed][:_OTHERS]
        return {
            "question": entry,
            "act": _act(entry),
            "holder": _holder(entry, labeller),
            "members": _members(entry, reader.members(question_id)),
            "shown_first": _SHOWN_FIRST,
            "guesses": [ShownGuess(guess, examples[guess.class_id]) for guess in guesses],
            "others": others,
            "other_pictures": reader.class_images.examples([row.id for row in others], 1),
            # As in the terminal: where classes have numbers as names, a digit types a name.
            "has_numbers": any(row.name.isdecimal() for row in classes),
            "progress": progress,
        }


def _act(entry: QuestionEntry) -> str:
    """Return what a name does to a question: it answers it, corrects it, or nothing."""
    if entry.status in _ANSWERABLE:
        return "answer"
    return "correct" if entry.status == "answered" else ""


def _holder(entry: QuestionEntry, labeller: str | None) -> bool:
    """Return whether somebody else has the question now."""
    lease = entry.lease
    return lease is not None and lease.until > now() and lease.labeller != labeller


def _members(entry: QuestionEntry, items: Sequence[ItemRow]) -> list[ShownMember]:
    """Return the group: the representative, the lowest scores, which are marked, the others."""
    first = [item for item in items if item.place == entry.representative]
    others = [item for item in items if item.place != entry.representative]
    by_score = sorted(others, key=lambda item: item.score or 0.0)
    count = round(_LEAST_SURE_SHARE * len(items)) if len(items) >= _MIN_MARKED_GROUP else 0
    marked = {item.place for item in by_score[:count]}
    return [ShownMember(item, item.place in marked) for item in [*first, *by_score]]


def read_progress(reader: Reader) -> Progress:
    """Return how far the labelling is."""
    counts = reader.counts.questions()
    images = reader.history.position()
    budget = reader.config.settings.budget
    spent = len(reader.history.labels_spent())
    return Progress(
        today=reader.said.answers_since(_midnight()),
        open=sum(counts.get(status, 0) for status in _ANSWERABLE),
        skipped=counts.get("skipped", 0),
        left=None if budget >= 1 else max(0, int(budget * images) - spent),
        images=images,
    )


def _midnight() -> float:
    """Return the start of today where the service runs, in seconds since 1970."""
    return datetime.fromtimestamp(time.time()).replace(hour=0, minute=0, second=0).timestamp()


def _lessons(reader: Reader) -> list[Lesson]:
    with reader.transaction():
        rows = reader.said.newest(_ANSWERS_SHOWN)
        taught = reader.said.taught(rows)
        names = {class_id: found.name for class_id, found in reader.current_classes().items()}
        return [Lesson(row, word(row.message, names), taught.get(row.number, 0)) for row in rows]


def _said(reader: Reader, number: int | None) -> Lesson | None:
    """Return the message that a form has just sent."""
    if number is None:
        return None
    rows = reader.said.newest(1, before=number + 1)
    names = {class_id: found.name for class_id, found in reader.current_classes().items()}
    return next((Lesson(row, word(row.message, names), 0) for row in rows), None)
