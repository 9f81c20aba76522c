"""Questions: list them, look at one, get the next one, keep it from others while you think."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, Response

from csim.errors import QuestionError
from csim.folder import leases
from csim.folder.question_pages import QuestionEntry
from csim.folder.reader import ItemRow, Reader
from csim.utc import utc
from csim.web.images import picture_path
from csim.web.problems import NotFoundError, documented
from csim.web.schemas import LeaseRequest, Question, QuestionPage, Status
from csim.web.service import Service, TheService, now

router = APIRouter(prefix="/v1/questions", tags=["questions"])

QuestionNumber = Annotated[
    int, Path(ge=1, le=2**31, description="The question's id.", examples=[17])
]


@router.get("", response_model=QuestionPage, responses=documented(), operation_id="list_questions")
async def list_questions(
    service: TheService,
    status: Annotated[
        Status | None, Query(description="Only questions with this status; all without it.")
    ] = None,
    after: Annotated[
        int, Query(ge=0, le=2**31, description="Start after this id.", examples=[0])
    ] = 0,
    limit: Annotated[
        int, Query(ge=1, le=500, description="How many, at most.", examples=[50])
    ] = 50,
) -> JSONResponse:
    """List questions in order of id, page by page."""
    entries = await service.read(
        lambda reader: reader.question_pages.page(status, after=after, most=limit + 1)
    )
    shown = entries[:limit]
    following = shown[-1].id if len(entries) > limit else None
    return JSONResponse({"questions": [_summary(entry) for entry in shown], "next": following})


@router.post(
    "/next",
    response_model=Question,
    responses={204: {"description": "No question waits that nobody has."}, **documented()},
    operation_id="take_next_question",
)
async def take_next_question(wanted: LeaseRequest, service: TheService) -> Response:
    """Get the most valuable question that nobody has, and keep it from others for a while.

    Random questions that measure accuracy come first, then those whose answer labels the most
    images. If you have a question already, you get the same one.
    """
    seconds = wanted.seconds or service.limits.lease_seconds
    found = await service.write(
        lambda connection: leases.take_next(connection, wanted.labeller, now=now(), seconds=seconds)
    )
    if found is None:
        return Response(status_code=204)
    return JSONResponse(await _question(service, found))


@router.get(
    "/{question_id}",
    response_model=Question,
    responses=documented(404),
    operation_id="get_question",
)
async def get_question(question_id: QuestionNumber, service: TheService) -> JSONResponse:
    """Return a question with the images of its group."""
    return JSONResponse(await _question(service, question_id))


@router.post(
    "/{question_id}/lease",
    response_model=Question,
    responses=documented(404, 409),
    operation_id="lease_question",
)
async def lease_question(
    question_id: QuestionNumber, wanted: LeaseRequest, service: TheService
) -> JSONResponse:
    """Keep a question from others, or keep it for longer."""
    await _question(service, question_id)
    seconds = wanted.seconds or service.limits.lease_seconds
    other = await service.write(
        lambda connection: leases.take(
            connection, question_id, wanted.labeller, now=now(), seconds=seconds
        )
    )
    if other is not None:
        raise QuestionError(
            f"{other.labeller} has question {question_id} until {utc(other.until)}; "
            "ask for the next question"
        )
    return JSONResponse(await _question(service, question_id))


@router.delete(
    "/{question_id}/lease",
    status_code=204,
    response_class=Response,
    responses=documented(404),
    operation_id="release_question",
)
async def release_question(
    question_id: QuestionNumber,
    service: TheService,
    labeller: Annotated[
        str, Query(min_length=1, max_length=100, description="Who has it.", examples=["ana"])
    ],
) -> Response:
    """Give a question back, so that others may get it."""
    await _question(service, question_id)
    await service.write(lambda connection: leases.release(connection, question_id, labeller))
    return Response(status_code=204)


async def _question(service: Service, question_id: int) -> dict[str, Any]:
    def read(reader: Reader) -> dict[str, Any]:
        with reader.transaction():
            try:
                entry = reader.question_pages.one(question_id)
            except QuestionError as error:
                raise NotFoundError(str(error)) from error
            members = reader.members(question_id)
        return {**_summary(entry), "members": [member(item) for item in members]}

    return await service.read(read)


def member(item: ItemRow) -> dict[str, Any]:
    """Return an image of a group as the service shows it."""
    return {
        "id": item.id,
        "position": max(item.place, 0),
        "picture": picture_path(item.place) if item.has_picture else None,
    }


def _summary(entry: QuestionEntry) -> dict[str, Any]:
    lease = entry.lease
    is_held = lease is not None and lease.until > now() and entry.status in ("open", "undone")
    return {
        "id": entry.id,
        "position": entry.position,
        "time": utc(entry.time),
        "answered": utc(entry.answered),
        "status": entry.status,
        "class": _class(entry.class_id, entry.class_name),
        "is_junk": entry.is_junk,
        "is_audit": entry.is_audit,
        "is_given": entry.is_given,
        "images": entry.size,
        "representative": {
            "id": entry.representative_id,
            "position": max(entry.representative, 0),
            "picture": picture_path(entry.representative),
        },
        "guesses": [
            {"class": _class(guess.class_id, guess.name), "score": guess.score}
            for guess in entry.guesses
        ],
        "lease": {"labeller": lease.labeller, "until": utc(lease.until)}
        if lease is not None and is_held
        else None,
    }


def _class(class_id: int | None, name: str | None) -> dict[str, Any] | None:
    return None if class_id is None else {"id": class_id, "name": name}
