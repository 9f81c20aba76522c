"""Kill a service under a load of images and answers; everything confirmed must be there once."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from csim.bench.durability.killing import SETTINGS
from csim.bench.durability.material import make_stream
from csim.bench.service.process import ServiceProcess, png_files
from csim.client import Client, ServiceError
from csim.client.calls import Retries
from csim.client.records import Decision
from csim.folder.history import QuestionState
from csim.folder.reader import Reader
from csim.messages import Named

_IMAGES_PER_REQUEST = 4
_KILL_SECONDS = 0.2  # after an image was confirmed, at most
_ONCE = Retries(most=0)


@dataclass(frozen=True)
class Outcome:
    """Report what was confirmed before the kills, and what was not as it must be after them."""

    kills: int
    images: int  # confirmed
    answers: int  # confirmed
    faults: tuple[str, ...]


def kill(work: Path, *, images: int, kills: int, seed: int) -> Outcome:
    """Serve a stream, kill it at random moments of a load, and check it after each restart.

    Parameters
    ----------
    work
        An empty folder.
    images
        The length of the stream. Higher takes longer.
    kills
        How often to kill. Higher takes longer and tests more.
    seed
        Draws the images and the moments.
    """
    folder = work / "stream"
    make_stream(folder, SETTINGS, seed)
    files, names = png_files(images, seed)
    rng = random.Random(seed)  # noqa: S311
    confirmed = Confirmed()
    for number in range(1, kills + 1):
        process = ServiceProcess(folder)
        load = _Load(process.url, files, names)
        enough = number * images // (kills + 1) + rng.randrange(2 * _IMAGES_PER_REQUEST)
        load.run_until(enough)
        time.sleep(rng.random() * _KILL_SECONDS)
        process.stop(signal.SIGKILL)
        load.join()
        confirmed.add(load.decisions, load.answers)
        confirmed.check(folder, load.events)
    return Outcome(kills, len(confirmed.decisions), len(confirmed.answers), tuple(confirmed.faults))


class _Load:
    """Clients that send images, answer questions and follow events, until the service dies."""

    def __init__(self, url: str, files: Mapping[str, bytes], names: Mapping[str, str]) -> None:
        self.decisions: dict[str, Decision] = {}
        self.answers: dict[int, str] = {}
        self.events: list[str] = []
        self._url = url
        self._files = list(files.items())
        self._names = names
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._until_it_dies, args=(act,))
            for act in (self._send, self._answer, self._follow)
        ]
        for thread in self._threads:
            thread.start()

    def run_until(self, images: int) -> None:
        """Return when so many images are confirmed, or the sender has ended."""
        with self._changed:
            self._changed.wait_for(
                lambda: len(self.decisions) >= images or not self._threads[0].is_alive()
            )

    def join(self) -> None:
        """Return when all clients have noticed that the service is gone."""
        for thread in self._threads:
            thread.join()

    def _until_it_dies(self, act: Callable[[Client], None]) -> None:
        gone = suppress(ServiceError, httpx.HTTPError)
        with gone, Client(self._url, retries=_ONCE) as client:
            act(client)
        with self._changed:
            self._changed.notify_all()

    def _send(self, client: Client) -> None:
        for start in range(0, len(self._files), _IMAGES_PER_REQUEST):
            some = dict(self._files[start : start + _IMAGES_PER_REQUEST])
            for decision in client.images.send(some):
                self.decisions[decision["id"]] = decision
            with self._changed:
                self._changed.notify_all()

    def _answer(self, client: Client) -> None:
        while True:
            question = client.questions.next("ana")
            if question is None:
                client.status()  # fails when the service is gone
                continue
            name = self._names[question["representative"]["id"]]
            try:
                client.questions.answer(question["id"], name, labeller="ana")
            except ServiceError as error:
                if error.status != 409:  # it left or was answered meanwhile
                    raise
                continue
            self.answers[question["id"]] = name

    def _follow(self, client: Client) -> None:
        for event in client.events("0"):
            self.events.append(event["id"])


class Confirmed:
    """Keep what clients were told, over all runs of the service, and find what is missing."""

    def __init__(self) -> None:
        self.decisions: dict[str, Decision] = {}
        self.answers: dict[int, str] = {}
        self.faults: list[str] = []

    def add(self, decisions: Mapping[str, Decision], answers: Mapping[int, str]) -> None:
        """Add what a load was told; what it sent again must have the same decision."""
        for item_id, decision in decisions.items():
            before = self.decisions.setdefault(item_id, decision)
            for name in ("position", "decision", "class", "score", "model", "time"):
                if decision[name] != before[name]:
                    self.faults.append(f"image {item_id} has another {name} when it is sent again")
        self.answers |= answers

    def check(self, folder: Path, followed: list[str]) -> None:
        """Start the service again and compare."""
        process = ServiceProcess(folder)
        with Client(process.url) as client:
            everything = [event["id"] for event in client.events("0", until_end=True)]
            if followed != everything[: len(followed)]:
                self.faults.append("events differ from those that were followed")
            last = followed[-1] if followed else "0"
            rest = [event["id"] for event in client.events(last, until_end=True)]
            # Between the two calls the service may have taken in a model, for example.
            if (followed + rest)[: len(everything)] != everything:
                self.faults.append("events have a gap where they were resumed")
        if process.stop() != 0:
            self.faults.append("the service did not stop cleanly")
        with Reader(folder) as reader:
            self.compare(reader)

    def compare(self, reader: Reader) -> None:
        """Note what was confirmed and is not in the folder, or is there twice."""
        rows = reader.decisions.of(list(self.decisions))
        for item_id, decision in self.decisions.items():
            if item_id not in rows or rows[item_id].place != decision["position"]:
                self.faults.append(f"image {item_id} is lost")
        messages = reader.history.messages()
        if any(not row.is_taken for row in messages):
            self.faults.append("an answer still waits after a clean stop")
        sent = {row.message for row in messages}
        states = reader.history.question_states()
        for question_id, name in self.answers.items():
            is_there = states[question_id] == QuestionState("answered", name)
            if Named(question_id, name) not in sent or not is_there:
                self.faults.append(f"the answer to question {question_id} is lost")
        taken = Counter(row.message for row in messages if row.refusal is None)
        if any(count > 1 for count in taken.values()):
            self.faults.append("an answer was taken twice")
