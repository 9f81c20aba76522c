"""The client for asyncio; each method returns what you await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import Any, TypeVar

import httpx

import csim.client.calls as calls
from csim.client.calls import Call, EventReader, Retries
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

T = TypeVar("T")


class AsyncClient:
    """Call a service with asyncio.

    Parameters
    ----------
    url
        Where the service is, as `http://127.0.0.1:8000`.
    token
        The service's token, if it has one.
    retries
        How often to repeat a request that failed on the way or met a busy service.
    timeout
        Seconds to wait for an answer. Higher waits longer for a busy service.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        retries: Retries | None = None,
        timeout: float = 60.0,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, timeout=timeout, headers=calls.headers_of(token)
        )
        self._retries = retries or Retries()
        self.images = AsyncImages(self)
        self.questions = AsyncQuestions(self)
        self.classes = AsyncClasses(self)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def run(self, call: Call[T]) -> T:
        """Carry out a call, and repeat it if it failed on the way; return what it reads."""
        for attempt in count():
            answer = error = None
            try:
                answer = await self._http.request(call.method, call.path, **call.options)
            except httpx.TransportError as failure:
                error = failure
            if answer is not None and answer.is_success:
                break
            pause = self._retries.pause_after(attempt, answer)
            if pause is None:
                break
            await asyncio.sleep(pause)
        return calls.settle(call, answer, error)

    async def events(
        self, after: str | None = None, *, until_end: bool = False
    ) -> AsyncIterator[Event]:
        """Yield events as they happen, from now on or after the event with an id.

        Parameters
        ----------
        after
            The id of an event; "0" starts with the first.
        until_end
            End after the newest event, instead of waiting.
        """
        params = calls.event_params(after, until_end=until_end)
        reader = EventReader()
        timeout = httpx.Timeout(10, read=None)
        async with self._http.stream("GET", "/v1/events", params=params, timeout=timeout) as answer:
            if not answer.is_success:
                await answer.aread()
                calls.settle(Call("GET", "", lambda _: None), answer, None)
            async for line in answer.aiter_lines():
                for event in reader.feed(line):
                    yield event

    def status(self) -> Awaitable[dict[str, Any]]:
        """Return the state of the stream and of the service."""
        return self.run(calls.get_status())

    def export(self, file_name: str) -> Awaitable[bytes]:
        """Return an export by its file name, as labels.csv, predictions.jsonl or model.json."""
        return self.run(calls.get_export(file_name))


class AsyncImages:
    """Send images, and look them up."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def send(self, images: Mapping[str, bytes] | Iterable[bytes]) -> Awaitable[list[Decision]]:
        """Classify image files, given by id or without ids; return the decisions in order."""
        return self._client.run(calls.send_images(images))

    def get(self, item_id: str) -> Awaitable[ImageState]:
        """Return what csim decided about an image, and its class today."""
        return self._client.run(calls.get_image(item_id))

    def label(self, item_ids: Sequence[str], name: str | None) -> Awaitable[Outcome]:
        """Say what images are, without being asked; None for junk. Each counts as one label."""
        return self._client.run(calls.label_images(item_ids, name))

    def picture(self, place: int, size: str = "full") -> Awaitable[bytes]:
        """Return the picture of the image at a position: "small", "medium" or "full"."""
        return self._client.run(calls.get_picture(place, size))


class AsyncQuestions:
    """List and answer questions."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def page(
        self, status: str | None = None, *, after: int = 0, limit: int = 50
    ) -> Awaitable[tuple[list[QuestionSummary], int | None]]:
        """Return some questions, and the id after which the next page starts, if there is one.

        Parameters
        ----------
        status
            Only questions with this status.
        after
            The id before the first question. Higher starts later.
        limit
            How many, at most. Higher returns more.
        """
        return self._client.run(calls.list_questions(status, after, limit))

    def get(self, question_id: int) -> Awaitable[Question]:
        """Return a question with its group."""
        return self._client.run(calls.get_question(question_id))

    def next(self, labeller: str, seconds: float | None = None) -> Awaitable[Question | None]:
        """Take the most valuable question that nobody has; None if there is none.

        Parameters
        ----------
        labeller
            Who gets it.
        seconds
            How long to keep it from others. Higher gives you more time.
        """
        return self._client.run(calls.take_next(labeller, seconds))

    def release(self, question_id: int, labeller: str) -> Awaitable[None]:
        """Give a question back."""
        return self._client.run(calls.release(question_id, labeller))

    def answer(
        self,
        question_id: int,
        name: str | None = None,
        *,
        class_id: int | None = None,
        labeller: str | None = None,
    ) -> Awaitable[Outcome]:
        """Give the group a class, by its name or its id."""
        return self._client.run(
            calls.say(question_id, "answer", name=name, class_id=class_id, labeller=labeller)
        )

    def correct(
        self, question_id: int, name: str | None, *, labeller: str | None = None
    ) -> Awaitable[Outcome]:
        """Replace an answer; None for junk."""
        return self._client.run(calls.correct(question_id, name, labeller))

    def junk(self, question_id: int, *, labeller: str | None = None) -> Awaitable[Outcome]:
        """Say that a group is nothing of interest."""
        return self._client.run(calls.say(question_id, "junk", labeller=labeller))

    def skip(self, question_id: int, *, labeller: str | None = None) -> Awaitable[Outcome]:
        """Leave a question unanswered for now."""
        return self._client.run(calls.say(question_id, "skip", labeller=labeller))

    def unskip(self, question_id: int, *, labeller: str | None = None) -> Awaitable[Outcome]:
        """Take a skip back."""
        return self._client.run(calls.say(question_id, "unskip", labeller=labeller))

    def undo(self, question_id: int, *, labeller: str | None = None) -> Awaitable[Outcome]:
        """Take an answer back."""
        return self._client.run(calls.say(question_id, "undo", labeller=labeller))

    def split(
        self,
        question_id: int,
        parts: Sequence[Sequence[str]] = (),
        *,
        labeller: str | None = None,
    ) -> Awaitable[Outcome]:
        """Ask about the parts (image ids) of a mixed group instead; by default, its halves."""
        lists = [list(part) for part in parts]
        return self._client.run(calls.say(question_id, "split", parts=lists, labeller=labeller))

    def take_out(
        self, question_id: int, images: Sequence[str], *, labeller: str | None = None
    ) -> Awaitable[Outcome]:
        """Take images out of a group; they become a question of their own."""
        return self._client.run(
            calls.say(question_id, "take-out", images=list(images), labeller=labeller)
        )


class AsyncClasses:
    """List and edit classes; with `dry_run`, an edit only says what it would change."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def list(self, *, examples: int = 3) -> Awaitable[list[ClassEntry]]:
        """Return the classes of today; more `examples` show more images of each."""
        return self._client.run(calls.list_classes(examples))

    def add(self, name: str, *, dry_run: bool = False) -> Awaitable[EditOutcome]:
        """Add a class before its first image comes."""
        return self._client.run(calls.edit("POST", "", {"name": name}, dry_run))

    def rename(self, class_id: int, name: str, *, dry_run: bool = False) -> Awaitable[EditOutcome]:
        """Give a class another name; its id stays the same."""
        return self._client.run(calls.edit("PATCH", f"/{class_id}", {"name": name}, dry_run))

    def merge(self, class_id: int, into: int, *, dry_run: bool = False) -> Awaitable[EditOutcome]:
        """Merge a class into another."""
        path = f"/{class_id}/merge"
        return self._client.run(calls.edit("POST", path, {"into": into}, dry_run))

    def remove(self, class_id: int, *, dry_run: bool = False) -> Awaitable[EditOutcome]:
        """Remove a class and its stored images."""
        return self._client.run(calls.edit("DELETE", f"/{class_id}", None, dry_run))

    def restore(self, class_id: int, *, dry_run: bool = False) -> Awaitable[EditOutcome]:
        """Bring a removed class back."""
        return self._client.run(calls.edit("POST", f"/{class_id}/restore", None, dry_run))
