import json
import os
import signal
from collections import Counter
from dataclasses import asdict, replace

import pytest
from digit_folder import arrivals, rows
from folder.story import tell

from csim.folder.reader import Reader
from csim.folder.status import read_status, status_from
from csim.folder.stream import Stream
from csim.messages import AddClass, Named, RemoveClass
from csim.metrics.audit import AuditFigures, Estimate
from csim.sources.arrival import Trouble

pytestmark = pytest.mark.slow


def seen(folder):
    with Reader(folder) as reader:
        return read_status(reader)


def test_a_fresh_folder_has_classes_and_nothing_else(base):
    status = seen(base)
    assert (status.position, status.engine, status.model, status.training) == (0, None, 1, None)
    assert [entry.told for entry in status.classes] != []
    assert sum(entry.told for entry in status.classes) == 241
    assert (status.questions, status.told, status.waiting, status.messages) == ({}, 0, 0, 0)
    assert (status.refusals, status.troubles) == ((), {})


def test_a_status_survives_json(reference):
    status = seen(reference)
    estimate = Estimate(80.0, 70.0, 90.0)
    for one in (status, replace(status, audit=AuditFigures(12, estimate, estimate))):
        values = json.loads(json.dumps(asdict(one)))
        assert status_from({**values, "service": {"engine": "running"}}) == one


def test_the_numbers_are_those_of_the_tables(reference):
    status = seen(reference)
    assert status.position == 420
    assert status.model == rows(reference, "SELECT max(version) FROM models")[0][0]
    assert status.training is None
    assert status.questions == Counter(
        state for (state,) in rows(reference, "SELECT status FROM questions")
    )
    inbox = rows(reference, "SELECT step, refusal, kind FROM inbox")
    assert status.messages == sum(step is None for step, _, _ in inbox)
    assert len(status.refusals) == sum(refusal is not None for _, refusal, _ in inbox) > 0
    taken = Counter(kind for step, refusal, kind in inbox if step is not None and refusal is None)
    assert status.told == taken["Named"] + taken["Split"] + taken["Correct"]  # labels spent
    assert status.picture_bytes == sum(
        len(file) for (file,) in rows(reference, "SELECT file FROM pictures")
    )
    assert status.bytes == sum(
        file.stat().st_size for file in reference.rglob("*") if file.is_file()
    )
    assert status.budget == 0.1


def test_every_image_has_a_class_or_waits(reference):
    status = seen(reference)
    with Reader(reference) as reader:
        without = sum(item.name is None and item.place > 0 for item in reader.items())
    assert status.waiting == without
    assert sum(entry.images for entry in status.classes) + without == 420


def test_it_can_be_looked_at_while_the_engine_runs(asked):
    tell(asked, [AddClass("later")], not_before=500)
    tell(asked, [Named(1, "heron"), RemoveClass(99)])
    with Stream(asked, trainer=None) as stream:
        stream.note(Trouble("a", "damaged", "why"))
        stream.note(Trouble("b", "damaged", "why"))
        stream.note(Trouble("c", "empty", "why"))
        assert seen(asked).position == 200
        stream.take(arrivals(210)[200:])
        status = seen(asked)
        assert status.engine == os.getpid()
        assert (status.position, status.messages, status.told) == (210, 1, 1)
        assert [refusal.split(";")[0] for refusal in status.refusals] == ["no class has the id 99"]
        assert status.troubles == {"damaged": 2, "empty": 1}
        stream.take(arrivals(211)[210:])  # undisturbed
    assert seen(asked).engine is None


def test_training_that_waits_is_shown(due):
    status = seen(due)
    assert (status.model, status.training, status.due) == (1, None, 2)
    assert [entry.name for entry in status.classes if not entry.is_learned] == ["something new"]


def test_files_that_vanish_while_one_looks_do_no_harm(asked):
    child = os.fork()
    if not child:
        while True:
            for place in range(20):
                (asked / f".half {place}").write_bytes(b"half")
            for place in range(20):
                (asked / f".half {place}").unlink()
    try:
        with Reader(asked) as reader:
            for _ in range(300):
                read_status(reader)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_model_is_in_training_only_while_an_engine_runs(due):
    status = seen(due)
    assert (status.engine, status.training, status.due) == (None, None, 2)
    with Stream(due, trainer=None):
        status = seen(due)
    assert (status.training, status.due) == (2, None)
