"""Answers to questions: name, junk, skip, unskip, split, take images out, correct, undo.

An answer is safe in the folder's inbox before csim confirms it. If the engine takes it at once, the
status is 200. If the engine runs elsewhere or is busy, it is 202, and the answer is taken later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse

from csim.ask.catalogue import clean_name
from csim.errors import InputError, QuestionError
from csim.folder.reader import Reader
from csim.folder.submit import Result
from csim.messages import Answer, Correct, Junk, Named, Skip, Split, Undo
from csim.records import ClassId, ItemId
from csim.web.problems import NotFoundError, documented
from csim.web.questions import QuestionNumber
from csim.web.schemas import Naming, NamingOrJunk, Outcome, Said, Splitting, TakingOut
from csim.web.service import Service, TheService

router = APIRouter(prefix="/v1/questions/{question_id}", tags=["answers"])

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="Any text. If you send it again with the same answer, csim takes one.",
        examples=["0b6e2c1e-answer-17"],
    ),
]
ANSWERS = {
    200: {"model": Outcome, "description": "The engine has taken it."},
    202: {"model": Outcome, "description": "It is safe, and the engine takes it later."},
    **documented(404, 409),
}


@router.post("/answer", responses=ANSWERS, operation_id="answer_question")
async def answer_question(
    question_id: QuestionNumber, given: Naming, service: TheService, key: Key = None
) -> JSONResponse:
    """Give the whole group a class, by its name or its id."""
    return await _send(service, Named(question_id, _class_in(given)), key, given.labeller)


@router.post("/junk", responses=ANSWERS, operation_id="junk_question")
async def junk_question(
    question_id: QuestionNumber, said: Said, service: TheService, key: Key = None
) -> JSONResponse:
    """Say that the group is nothing of interest: it and images like it get no class."""
    return await _send(service, Junk(question_id), key, said.labeller)


@router.post("/correct", responses=ANSWERS, operation_id="correct_question")
async def correct_question(
    question_id: QuestionNumber, given: NamingOrJunk, service: TheService, key: Key = None
) -> JSONResponse:
    """Replace an answer; all images that it labelled get the new class, or are junk."""
    return await _send(service, Correct(question_id, class_or_junk(given)), key, given.labeller)


@router.post("/skip", responses=ANSWERS, operation_id="skip_question")
async def skip_question(
    question_id: QuestionNumber, said: Said, service: TheService, key: Key = None
) -> JSONResponse:
    """Leave a question unanswered for now."""
    return await _send(service, Skip(question_id), key, said.labeller)


@router.post("/unskip", responses=ANSWERS, operation_id="unskip_question")
async def unskip_question(
    question_id: QuestionNumber, said: Said, service: TheService, key: Key = None
) -> JSONResponse:
    """Take a skip back, so that the question is handed out again."""
    await _check_status(service, question_id, "skipped")
    return await _send(service, Undo(question_id), key, said.labeller)


@router.post("/undo", responses=ANSWERS, operation_id="undo_question")
async def undo_question(
    question_id: QuestionNumber, said: Said, service: TheService, key: Key = None
) -> JSONResponse:
    """Take back an answer, a skip, or a split whose parts have no answer; then answer again."""
    await _check_status(service, question_id, "answered", "skipped", "split", "undone")
    return await _send(service, Undo(question_id), key, said.labeller)


@router.post("/split", responses=ANSWERS, operation_id="split_question")
async def split_question(
    question_id: QuestionNumber, given: Splitting, service: TheService, key: Key = None
) -> JSONResponse:
    """Ask about the parts of a mixed group instead; the outcome names the new questions."""
    parts = tuple(tuple(part) for part in given.parts)
    return await _send(service, Split(question_id, parts), key, given.labeller)


@router.post("/take-out", responses=ANSWERS, operation_id="take_out_images")
async def take_out_images(
    question_id: QuestionNumber, given: TakingOut, service: TheService, key: Key = None
) -> JSONResponse:
    """Take images out of a group; they and the rest become two questions."""
    parts = await service.read(lambda reader: rest_and_out(reader, question_id, given.images))
    return await _send(service, Split(question_id, parts), key, given.labeller)


def rest_and_out(
    reader: Reader, question_id: int, images: Sequence[ItemId]
) -> tuple[tuple[ItemId, ...], tuple[ItemId, ...]]:
    """Return the ids of the rest of a group, and of the images to take out of it."""
    members = [item.id for item in reader.members(question_id)]
    out = tuple(dict.fromkeys(images))
    rest = tuple(item_id for item_id in members if item_id not in out)
    if not set(out) <= set(members):
        raise InputError("images must be ids of the group's images; look at the question again")
    if not rest:
        raise InputError("some images of the group must stay; take out fewer")
    return rest, out


async def _send(
    service: Service, message: Answer, key: str | None, labeller: str | None
) -> JSONResponse:
    await service.read(lambda reader: _find(reader, message.question_id))
    return confirm(await service.send(message, key=key, labeller=labeller))


def confirm(done: Result) -> JSONResponse:
    """Return what became of an answer, or raise the reason for which it was refused."""
    if done.refusal is not None:
        raise QuestionError(done.refusal)
    body = {"message": done.number, "taken": done.is_taken, "questions": list(done.asked)}
    return JSONResponse(body, 200 if done.is_taken else 202)


def _find(reader: Reader, question_id: int) -> str:
    """Return the status of a question."""
    try:
        return reader.question_pages.one(question_id).status
    except QuestionError as error:
        raise NotFoundError(str(error)) from error


async def _check_status(service: Service, question_id: int, *allowed: str) -> None:
    status = await service.read(lambda reader: _find(reader, question_id))
    if status not in allowed:
        raise QuestionError(f"question {question_id} is {status}; it must be {allowed[0]}")


def class_or_junk(given: NamingOrJunk) -> str | ClassId | None:
    """Return the class that an answer gives, by its name or its id, or None for junk."""
    if not given.junk:
        return _class_in(given)
    if given.name is not None or given.class_id is not None:
        raise InputError("an answer must be junk or have a class, not both; leave one out")
    return None


def _class_in(given: Naming) -> str | ClassId:
    """Return the class that an answer gives: its name, or its id."""
    if given.name is not None and given.class_id is None:
        return clean_name(given.name)
    if given.class_id is not None and given.name is None:
        return given.class_id
    raise InputError("an answer must have a name or a class_id, one of the two")
