"""Calls of the service as plain values: what to send, and how to read the answer.

Both clients carry them out. So each path of the service is written once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx

from csim.client.records import (
    ClassEntry,
    Decision,
    EditOutcome,
    Event,
    ImageState,
    Outcome,
    Question,
    QuestionSummary,
)
from csim.errors import CsimError

T = TypeVar("T")
_BUSY = (429, 503)
_LONGEST_PAUSE = 10.0


class ServiceError(CsimError):
    """Report that the service refused a request, or could not be reached.

    `status` is the HTTP status, or None if no answer came.
    """

    def __init__(self, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """Hold a request, which is safe to send twice, and what reads its answer."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retries:
    """Say how often and when to repeat a request.

    Parameters
    ----------
    most
        How often to repeat, at most. Higher survives longer outages.
    pause
        Seconds before the first repetition; it doubles each time. Higher waits longer.
    """

    most: int = 6
    pause: float = 0.1

    def pause_after(self, attempt: int, answer: httpx.Response | None) -> float | None:
        """Return the seconds to wait after an attempt, or None if it was the last."""
        if attempt >= self.most or (answer is not None and answer.status_code not in _BUSY):
            return None
        wanted = "" if answer is None else answer.headers.get("retry-after", "")
        pause = float(wanted) if wanted.isdecimal() else self.pause * 2.0**attempt
        return min(pause, _LONGEST_PAUSE)


def settle(call: Call[T], answer: httpx.Response | None, error: Exception | None) -> T:
    """Return what an answer says, or raise why there is none."""
    if answer is None:
        raise ServiceError(
            f"the service cannot be reached ({error}); check its address and that it runs"
        ) from error
    if answer.is_success:
        return call.read(answer)
    try:
        detail = str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        detail = f"the service answered {answer.status_code}"
    raise ServiceError(detail, answer.status_code)


def send_images(images: Mapping[str, bytes] | Iterable[bytes]) -> Call[list[Decision]]:
    """Return the call that sends image files: by id, or without ids, which are then made."""
    pairs = (
        list(images.items())
        if isinstance(images, Mapping)
        else [(uuid4().hex, file) for file in images]
    )

    def read(answer: httpx.Response) -> list[Decision]:
        found: list[Decision] = answer.json()["images"]
        return found

    return Call("POST", "/v1/images", read, _image_body(pairs))


def _image_body(pairs: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    """Return one image as the body, and several as a form, which costs more time to read."""
    kind = "application/octet-stream"
    if len(pairs) == 1:
        ((item_id, file),) = pairs
        return {"params": {"id": item_id}, "content": file, "headers": {"Content-Type": kind}}
    files = [("images", ("image", file, kind)) for _, file in pairs]
    return {"files": files, "data": {"ids": [item_id for item_id, _ in pairs]}}


def get_image(item_id: str) -> Call[ImageState]:
    """Return the call that looks an image up."""
    return Call("GET", f"/v1/images/{quote(item_id)}", _json)


def get_picture(place: int, size: str) -> Call[bytes]:
    """Return the call that gets a picture; `place` is its image's position."""
    return Call("GET", f"/v1/pictures/{place}", _content, {"params": {"size": size}})


def list_questions(
    status: str | None, after: int, limit: int
) -> Call[tuple[list[QuestionSummary], int | None]]:
    """Return the call that gets a page of questions, and the id after which the next starts."""
    params = {"after": after, "limit": limit} | ({} if status is None else {"status": status})

    def read(answer: httpx.Response) -> tuple[list[QuestionSummary], int | None]:
        body = answer.json()
        return body["questions"], body["next"]

    return Call("GET", "/v1/questions", read, {"params": params})


def get_question(question_id: int) -> Call[Question]:
    """Return the call that gets one question."""
    return Call("GET", f"/v1/questions/{question_id}", _json)


def take_next(labeller: str, seconds: float | None) -> Call[Question | None]:
    """Return the call that takes the next question; it reads None if there is none."""
    body = {"labeller": labeller} | ({} if seconds is None else {"seconds": seconds})
    return Call(
        "POST",
        "/v1/questions/next",
        lambda answer: None if answer.status_code == 204 else answer.json(),
        {"json": body},
    )


def release(question_id: int, labeller: str) -> Call[None]:
    """Return the call that gives a question back."""
    path = f"/v1/questions/{question_id}/lease"
    return Call("DELETE", path, lambda _: None, {"params": {"labeller": labeller}})


def say(question_id: int, what: str, **body: object) -> Call[Outcome]:
    """Return the call of an answer: answer, junk, skip, unskip, undo, split, take-out."""
    given = {name: value for name, value in body.items() if value is not None}
    path = f"/v1/questions/{question_id}/{what}"
    return Call("POST", path, _json, {"json": given, "headers": _key()})


def correct(question_id: int, name: str | None, labeller: str | None) -> Call[Outcome]:
    """Return the call that replaces an answer by a class, or by junk if the name is None."""
    return say(question_id, "correct", **_name_or_junk(name), labeller=labeller)


def label_images(item_ids: Sequence[str], name: str | None) -> Call[Outcome]:
    """Return the call that says what images are; None for junk."""
    body = {"images": list(item_ids), **_name_or_junk(name)}
    return Call("POST", "/v1/images/label", _json, {"json": body, "headers": _key()})


def list_classes(examples: int) -> Call[list[ClassEntry]]:
    """Return the call that lists the classes."""

    def read(answer: httpx.Response) -> list[ClassEntry]:
        found: list[ClassEntry] = answer.json()["classes"]
        return found

    return Call("GET", "/v1/classes", read, {"params": {"examples": examples}})


def edit(
    method: str, path: str, body: dict[str, object] | None, dry_run: bool
) -> Call[EditOutcome]:
    """Return the call of an edit; `path` follows that of the classes."""
    options: dict[str, Any] = {"params": {"dry_run": dry_run}, "headers": _key()}
    if body is not None:
        options["json"] = body
    return Call(method, f"/v1/classes{path}", _json, options)


def get_status() -> Call[dict[str, Any]]:
    """Return the call that gets the status."""
    return Call("GET", "/v1/status", _json)


def get_export(file_name: str) -> Call[bytes]:
    """Return the call that downloads an export by its file name."""
    return Call("GET", f"/v1/exports/{file_name}", _content)


def event_params(after: str | None, *, until_end: bool) -> dict[str, Any]:
    """Return the parameters of a request for events."""
    return {"until_end": until_end} | ({} if after is None else {"after": after})


class EventReader:
    """Join the lines of a stream of events to events."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def feed(self, line: str) -> Iterator[Event]:
        """Take a line; yield the event that it completes, if it does."""
        name, _, value = line.partition(": ")
        if line and name:
            self._fields[name] = value
        elif not line and "data" in self._fields:
            yield {
                "id": self._fields["id"],
                "kind": self._fields["event"],
                "body": json.loads(self._fields["data"]),
            }
            self._fields = {}


def headers_of(token: str | None) -> dict[str, str]:
    """Return the headers that show a token."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def _key() -> dict[str, str]:
    return {"Idempotency-Key": uuid4().hex}


def _name_or_junk(name: str | None) -> dict[str, object]:
    return {"junk": True} if name is None else {"name": name}


def _json(answer: httpx.Response) -> Any:  # noqa: ANN401
    return answer.json()


def _content(answer: httpx.Response) -> bytes:
    return answer.content
