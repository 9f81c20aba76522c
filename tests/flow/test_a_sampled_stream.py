"""A story of a fast stream: csim searches every n-th image, and every image gets a class."""

import functools
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from digit_folder import SETTINGS, arrivals, crash, make_folder, rows, save
from digit_stream import SMALL, digit_stream, fitted, last_classes, of, truth_of
from folder.in_process import InProcessTrainer
from folder.story import knowledge, name_given, tell
from folder.tables import tables

from csim.ask.labellers import TruthLabeller
from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.messages import Named
from csim.records import Accepted, Asked, ClassAdded, Joined, Labelled, Rejected, Revised
from csim.settings import Settings

pytestmark = pytest.mark.slow

RECENT = 40
LOOK = 100
EVERY = 3  # the least that leaves a search at most 40 new images
SAMPLED = Settings(**SMALL | {"recent": RECENT, "ask_every": LOOK}, budget=0.1, audit=0.2)
IMAGES = 900


@functools.cache
def run():
    """Return the classifier and the events of a stream; answers come one search late."""
    clf = fitted(SAMPLED)
    labeller = TruthLabeller(truth_of(digit_stream()))
    events = []
    for first in range(0, IMAGES, 60):
        events += clf.answer_with(labeller)
        events += clf.observe(digit_stream().images[first : first + 60])
    return clf, events + clf.ask_now()


def is_sampled(item_id):
    return int(item_id) % EVERY == 0


def test_every_image_is_decided_once_and_has_a_class_in_the_end():
    _, events = run()
    decided = [event.item_id for event in of((Accepted, Rejected), events)]
    assert decided == [str(position) for position in range(1, IMAGES + 1)]
    assert set(last_classes(events)) == set(decided)
    shown = {event.question.representative.id for event in of(Asked, events)}
    without = {item_id for item_id, class_id in last_classes(events).items() if class_id is None}
    assert without <= shown  # they wait for an answer


def test_an_image_between_the_sampled_ones_is_settled_when_it_leaves_the_window():
    _, events = run()
    between = [event.item_id for event in of(Rejected, events) if not is_sampled(event.item_id)]
    settled = {
        event.item_id: event.position for event in of(Revised, events) if event.before is None
    }
    waited = {item_id: settled[item_id] - int(item_id) for item_id in between if item_id in settled}
    assert len(waited) > 50
    assert max(waited.values()) < RECENT * EVERY + LOOK


def test_an_accepted_image_between_the_sampled_ones_keeps_its_class():
    _, events = run()
    accepted = {event.item_id for event in of(Accepted, events) if not is_sampled(event.item_id)}
    asked = [event.question for event in of(Asked, events)]
    audits = {question.representative.id for question in asked if question.is_audit}
    changed = {event.item_id for event in of((Revised, Labelled), events)} - audits
    assert len(accepted) > 200
    assert not accepted & changed


def test_questions_are_about_sampled_images_but_those_of_the_audit_about_any():
    _, events = run()
    asked = [event.question for event in of(Asked, events)]
    ordinary = {item.id for question in asked if not question.is_audit for item in question.members}
    joined = {item_id for event in of(Joined, events) for item_id in event.item_ids}
    assert ordinary
    assert all(is_sampled(item_id) for item_id in ordinary | joined)
    drawn = {question.representative.id for question in asked if question.is_audit}
    assert any(is_sampled(item_id) for item_id in drawn)
    assert not all(is_sampled(item_id) for item_id in drawn)


def test_new_classes_are_found():
    _, events = run()
    assert len(of(ClassAdded, events)) >= 3


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    settings = replace(SETTINGS, recent=RECENT, ask_every=LOOK, audit=0.2)
    return make_folder(tmp_path_factory.mktemp("sampled") / "stream", settings, retrain_lag=60)


def drive(folder, *, batch, crashes=()):
    """Take images and answer every question 120 images later; crash at some positions."""
    stream = Stream(folder, trainer=InProcessTrainer)
    for start in range(0, 600, batch):
        stream.take(arrivals(600)[start : start + batch])
        answer(folder)
        if start in crashes:
            if start % 20 == 0:
                save(stream)
            before = knowledge(stream)
            crash(stream)
            stream = Stream(folder, trainer=InProcessTrainer)
            assert knowledge(stream) == before
    stream.finish()
    stream.close()
    return tables(folder)


def answer(folder):
    """Answer all questions so far, each once and at a fixed position."""
    query = (
        "SELECT q.id, q.position, i.id FROM questions q JOIN items i ON i.place = representative"
    )
    for question, position, item_id in rows(folder, query):
        message = Named(question, name_given(item_id))
        tell(folder, [message], keys=[f"question {question}"], not_before=position + 120)


def test_crashes_and_batches_change_nothing(fresh, tmp_path):
    whole = drive(shutil.copytree(fresh, tmp_path / "whole"), batch=50)
    parts = drive(
        shutil.copytree(fresh, tmp_path / "parts"), batch=30, crashes=(90, 180, 270, 300, 450)
    )
    assert parts == whole
    assert len(whole["models"]) > 2


def test_csim_keeps_a_picture_of_an_image_that_it_may_show_and_of_no_other(fresh, tmp_path):
    folder = shutil.copytree(fresh, tmp_path / "pictures")
    query = "SELECT place, id, is_accepted, picture IS NOT NULL FROM items WHERE place > 0"
    with Stream(folder, trainer=None) as stream:
        stream.take(arrivals(110))  # one search, and no snapshot
        audit = stream._engine.dialogue.audit
        found = rows(folder, query)
        may_be_shown = {
            place
            for place, item_id, is_accepted, _ in found
            if place % EVERY == 0 or not is_accepted or item_id in audit.ids
        }
        assert {place for place, *_, is_kept in found if is_kept} == may_be_shown
        assert len(may_be_shown) < 100
        drawn = [item.id for item in audit.items()]
        assert drawn
        save(stream)
        kept = {item_id for _, item_id, _, is_kept in rows(folder, query) if is_kept}
        assert set(drawn) <= kept


@pytest.mark.parametrize(
    ("ask_every", "images"), [(1, 512), (2000, 512), (4000, 1024), (8000, 2048), (10**6, 2048)]
)
def test_a_fast_stream_writes_more_images_at_a_time(fresh, tmp_path, ask_every, images):
    folder = shutil.copytree(fresh, tmp_path / "batches")
    change = "UPDATE config SET value = json_set(value, '$.ask_every', ?) WHERE name = 'settings'"
    with closing(sqlite3.connect(Layout(folder).database)) as connection:
        connection.execute(change, (ask_every,))
        connection.commit()
    with Stream(folder, trainer=None) as stream:
        assert stream.batch_size == images
