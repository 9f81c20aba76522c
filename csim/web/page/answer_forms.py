"""Forms that answer a question: they work without JavaScript, and lead to the next question."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse

from csim.errors import InputError, QuestionError
from csim.folder.submit import Result
from csim.messages import Answer, Correct, Junk, Named, Skip, Split, Undo
from csim.records import ClassId
from csim.web.answers import rest_and_out
from csim.web.page.labeller import Labeller
from csim.web.page.render import PageRoute, see_other
from csim.web.questions import QuestionNumber
from csim.web.schemas import ClassNumber
from csim.web.service import Service, TheService

router = APIRouter(route_class=PageRoute, prefix="/questions/{question_id}")

Name = Annotated[str, Form(max_length=200)]
Choice = Annotated[ClassNumber | None, Form()]
Out = Annotated[list[str] | None, Form(max_length=10_000)]


@router.post("/answer")
async def answer(
    question_id: QuestionNumber,
    service: TheService,
    name: Name = "",
    class_id: Choice = None,
    out: Out = None,
    labeller: Labeller = None,
) -> RedirectResponse:
    """Name a group by a guess or by a name; images that were taken out are asked about again."""
    chosen = _chosen(name, class_id)
    if out:
        parts = await service.read(lambda reader: rest_and_out(reader, question_id, out))
        done = await _send(service, Split(question_id, parts), labeller)
        if not done.asked:  # the engine runs elsewhere: the rest is a new question later
            return _next(done)
        question_id = done.asked[0]
    return _next(await _send(service, Named(question_id, chosen), labeller))


@router.post("/correct")
async def correct(
    question_id: QuestionNumber,
    service: TheService,
    name: Name = "",
    class_id: Choice = None,
    junk: Annotated[bool, Form()] = False,
    labeller: Labeller = None,
) -> RedirectResponse:
    """Replace an answer by another name, or by junk."""
    chosen = None if junk else _chosen(name, class_id)
    return _next(await _send(service, Correct(question_id, chosen), labeller))


@router.post("/junk")
async def junk(
    question_id: QuestionNumber, service: TheService, labeller: Labeller = None
) -> RedirectResponse:
    """Say that a group shows nothing of interest."""
    return _next(await _send(service, Junk(question_id), labeller))


@router.post("/skip")
async def skip(
    question_id: QuestionNumber, service: TheService, labeller: Labeller = None
) -> RedirectResponse:
    """Leave a question for later."""
    return _next(await _send(service, Skip(question_id), labeller))


@router.post("/split")
async def split(
    question_id: QuestionNumber, service: TheService, labeller: Labeller = None
) -> RedirectResponse:
    """Ask about two halves of a mixed group."""
    return _next(await _send(service, Split(question_id), labeller))


@router.post("/undo")
async def undo(
    question_id: QuestionNumber, service: TheService, labeller: Labeller = None
) -> RedirectResponse:
    """Take an answer or a skip back, and show the question again."""
    await _send(service, Undo(question_id), labeller)
    return see_other(f"/questions/{question_id}")


async def _send(service: Service, message: Answer, labeller: str | None) -> Result:
    done = await service.send(message, labeller=labeller)
    if done.refusal is not None:
        raise QuestionError(done.refusal)
    return done


def _next(done: Result) -> RedirectResponse:
    return see_other(f"/questions?said={done.number}")


def _chosen(name: str, class_id: ClassId | None) -> str | ClassId:
    """Return the class that a form gives, by its id or its name."""
    if class_id is not None:
        return class_id
    if not name.strip():
        raise InputError("an answer needs a name; go back and type one, or choose a guess")
    return name
