"""Whatever is done to a stream folder, and wherever it is stopped, its promises hold.

Hypothesis draws hundreds of sequences of images, messages, new models, crashes and restarts. After
every step the tables are compared with the engine, which keeps the same facts in another form, and
with the input.
"""

import shutil
import tempfile
from collections import Counter
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from digit_folder import crash, save
from folder.in_process import InProcessTrainer
from folder.story import knowledge, tell
from folder.tables import dump
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sklearn.datasets import load_digits

from csim.folder.database import open_for_reading
from csim.folder.layout import Config, Layout
from csim.folder.lines import lines
from csim.folder.make import make
from csim.folder.stream import Stream
from csim.messages import (
    AddClass,
    Correct,
    Junk,
    LabelImages,
    MergeClasses,
    Named,
    RemoveClass,
    RenameClass,
    RestoreClass,
    Skip,
    Split,
    Undo,
)
from csim.records import JUNK
from csim.settings import Settings
from csim.sources.arrival import Decoded, Trouble

SEQUENCES = 300
STEPS = 12
SMALL = Settings(
    conv_layers=1, channels=1, kernel=3, hidden_units=8, embedding_size=4, epochs=2,
    update_steps=2, batch_size=8, threshold="mean-bound", alpha=0.5, recent=16, ask_every=5,
    spread=4, budget=0.7, buffer_size=20, ledger_size=20, store_size=10, store_inferred=5,
    update_size=1, update_labels=3,
)  # fmt: skip
NAMES = st.sampled_from(("0", "1", "heron", "owl", "coot"))  # two are known from the start
NUMBERS = st.integers(0, 9)
MESSAGES = {
    "named": lambda question, class_id, other, name: Named(question, name),
    "correct": lambda question, class_id, other, name: Correct(question, name),
    "junk": lambda question, class_id, other, name: Junk(question),
    "correct to junk": lambda question, class_id, other, name: Correct(question, None),
    "label": lambda position, class_id, other, name: LabelImages((f"image {position}",), name),
    "label junk": lambda position, *_: LabelImages((f"image {position}",), None),
    "skip": lambda question, class_id, other, name: Skip(question),
    "split": lambda question, class_id, other, name: Split(question),
    "undo": lambda question, class_id, other, name: Undo(question),
    "undo a split": lambda question, class_id, other, name: Undo(question),
    "add": lambda question, class_id, other, name: AddClass(name),
    "rename": lambda question, class_id, other, name: RenameClass(class_id, name),
    "merge": lambda question, class_id, other, name: MergeClasses(class_id, other),
    "remove": lambda question, class_id, other, name: RemoveClass(class_id),
    "restore": lambda question, class_id, other, name: RestoreClass(class_id),
}

# Answers come most often: most other messages are about an answered question.
KINDS = st.sampled_from((*MESSAGES, "named", "named", "named", "split", "undo", "correct"))


class Stopped(BaseException):
    """The process ends here."""


def stop(*_, **__):
    raise Stopped


def stop_once_written(stream):
    """Return a replacement of `write_troubles` that stops after the next step, not before it."""
    last = stream._log.last
    write = stream._log.write_troubles

    def write_or_stop():
        if stream._log.last is not last:
            raise Stopped
        write()

    return write_or_stop


# Where a step may be cut short: before it is written, and at the actions after it is written.
MOMENTS = {
    "step": lambda stream: (stream._log, "write", stop),
    "troubles": lambda stream: (stream._log, "write_troubles", stop_once_written(stream)),
    "training": lambda stream: (stream._training, "begin_due", stop),
}


@cache
def digits():
    bunch = load_digits()
    return np.rint(bunch.images * (255 / 16)).astype(np.uint8), bunch.target


@cache
def work():
    """Return where folders are made: in memory if possible, because there are hundreds."""
    memory = Path("/dev/shm")  # noqa: S108
    return Path(tempfile.mkdtemp(prefix="csim-", dir=memory if memory.is_dir() else None))


@cache
def base():
    """Return a folder that knows two digits and has asked some questions; read-only."""
    images, labels = digits()
    chosen = [index for digit in (0, 1) for index in np.flatnonzero(labels == digit)[:8]]
    labelled = [Decoded(f"labelled {index}", images[index], b"%d" % index) for index in chosen]
    make(work() / "base", Config(SMALL, (8, 8)), labelled, [str(labels[index]) for index in chosen])
    with Stream(work() / "base", trainer=None) as stream:
        stream.take(arrivals(1, 12))
    return work() / "base"


def arrivals(first, count):
    """Return images of all ten digits; each tenth repeats the one before it under another id."""
    images, _ = digits()
    indices = [
        7 * (position - (position % 10 == 0)) % len(images)
        for position in range(first, first + count)
    ]
    return [
        Decoded(f"image {position}", images[index], b"%d" % index)
        for position, index in enumerate(indices, start=first)
    ]


class Folder(RuleBasedStateMachine):
    """Do to a stream folder all that can be done."""

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir=work())) / "stream"
        shutil.copytree(base(), self.root)
        self.stream = Stream(self.root, trainer=InProcessTrainer)
        self.posted = 0
        self.troubles = 0
        self.classes = set()

    @rule(count=st.integers(1, 8))
    def observe(self, count):
        self.stream.take(arrivals(self.stream.position + 1, count))

    @rule(messages=st.lists(st.tuples(KINDS, NUMBERS, NUMBERS, NAMES), min_size=1, max_size=4))
    def post_fitting(self, messages):
        """Post messages that can be taken now, unless an earlier one of them prevents it."""
        for kind, one, other, name in messages:
            questions = self.fitting(kind)
            classes = list(self.stream._engine.dialogue.catalogue.names()) or [0]
            if questions:
                question = questions[one % len(questions)]
                class_id = classes[one % len(classes)]
                another = classes[other % len(classes)]
                tell(self.root, [MESSAGES[kind](question, class_id, another, name)])
                self.posted += 1
        self.stream.attend()

    @rule(kind=KINDS, one=NUMBERS, other=NUMBERS, name=NAMES, wait=st.integers(0, 5))
    def post_any(self, kind, one, other, name, wait):
        """Post any message, for now or later; often csim must refuse it."""
        tell(
            self.root,
            [MESSAGES[kind](one, one, other, name)],
            not_before=self.stream.position + wait,
        )
        self.posted += 1

    @rule(what=st.sampled_from(("attend", "finish", "note", "save")))
    def tidy(self, what):
        """Do what a run does now and then."""
        if what == "attend":
            self.stream.attend()
            query = "SELECT count(*) FROM inbox WHERE step IS NULL AND not_before <= ?"
            assert self.value(query, self.stream.position) == 0
        elif what == "finish":
            self.stream.finish()
        elif what == "note":
            self.stream.note(Trouble(f"trouble {self.troubles}", "damaged", "why"))
            self.troubles += 1
            self.stream._log.write_troubles()
        else:
            save(self.stream)

    @rule()
    @precondition(lambda self: self.under_way() is not None)
    def install(self):
        """Let the model that is due take over now, and not at its position."""
        version = self.under_way()
        self.stream._training._is_live = True
        self.stream.attend()
        self.stream._training._is_live = False
        assert self.stream._engine.model.version >= version

    @rule(how=st.sampled_from(("close", "crash", *MOMENTS)), count=st.integers(1, 6))
    def restart(self, how, count):
        """End the process in some way and start another, which must know what the first wrote."""
        before = knowledge(self.stream)
        rows = dump(self.root)
        is_written = False
        if how == "close":
            self.stream.close()
        else:
            if how in MOMENTS:
                is_written = how != "step"
                setattr(*MOMENTS[how](self.stream))
                with suppress(Stopped):
                    self.stream.take(arrivals(self.stream.position + 1, count))
                before = knowledge(self.stream) if is_written else before
            crash(self.stream)
        self.stream = Stream(self.root, trainer=InProcessTrainer)
        assert knowledge(self.stream) == before
        assert how == "close" or (dump(self.root) != rows) == is_written

    def teardown(self):
        self.restart(how="crash", count=1)
        self.stream.close()
        names = dict(
            self.read("SELECT c.id, t.name FROM classes c LEFT JOIN classes t ON t.id = c.today")
        )
        with closing(open_for_reading(Layout(self.root).database)) as connection:
            last = {line["item"]: line["class"] for _, line in lines(connection)}
        for item_id, class_id in self.read("SELECT id, class_id FROM items WHERE place > 0"):
            assert last[item_id] == names.get(class_id), item_id
        shutil.rmtree(self.root.parent)

    def fitting(self, kind):
        """Return the questions or images that a message can be about; any, if it is of classes."""
        if kind.startswith("label"):
            return [item.position for item in self.stream._engine.discovery.pool.items()]
        status = {
            "named": "open",
            "junk": "open",
            "skip": "open",
            "split": "open",
            "undo": "answered",
            "undo a split": "split",
            "correct": "answered",
            "correct to junk": "answered",
        }.get(kind)
        ledger = self.stream._engine.dialogue.ledger
        return [question.id for question in ledger.questions(status)] if status else [0]

    def under_way(self):
        return self.value("SELECT max(version) FROM models WHERE installed_at IS NULL")

    def rows(self, query, *values):
        return self.stream._connection.execute(query, values).fetchall()

    def value(self, query, *values):
        return self.rows(query, *values)[0][0]

    def read(self, query):
        with closing(open_for_reading(Layout(self.root).database)) as connection:
            return connection.execute(query).fetchall()


class CheckedFolder(Folder):
    """Compare the tables with the engine and the input after every rule."""

    @invariant()
    def every_image_has_its_position_and_at_most_one_class_that_exists(self):
        found = self.rows("SELECT place, id, class_id FROM items WHERE place > 0 ORDER BY place")
        assert [row[:2] for row in found] == [
            (position, f"image {position}") for position in range(1, self.stream.position + 1)
        ]
        today = dict([*self.rows("SELECT id, today FROM classes"), (JUNK, JUNK)])
        images = Counter(None if class_id is None else today[class_id] for _, _, class_id in found)
        assert set(images) <= {None, JUNK} | set(self.stream._engine.dialogue.catalogue.names())
        assert images.total() == self.stream.position

    @invariant()
    def images_have_the_class_that_the_engine_thinks(self):
        pool = self.stream._engine.discovery.pool
        classes = dict(self.rows("SELECT id, class_id FROM items"))
        assert {item_id: classes[item_id] for item_id in pool.classes} == dict(pool.classes)

    @invariant()
    def a_class_id_never_goes_and_leads_to_a_class_of_today_or_none(self):
        catalogue = self.stream._engine.dialogue.catalogue
        found = self.rows("SELECT id, name, today FROM classes")
        ids = {class_id for class_id, _, _ in found}
        assert ids >= self.classes
        self.classes = ids
        assert {class_id: today for class_id, _, today in found} == {
            class_id: catalogue.current(class_id) for class_id in ids
        }
        names = {class_id: name for class_id, name, today in found if class_id == today}
        assert names == catalogue.names()
        assert len(set(catalogue.names().values())) == len(catalogue.names())

    @invariant()
    def questions_are_as_the_engine_knows_them(self):
        ledger = self.stream._engine.dialogue.ledger
        members = {}
        for question, item_id in self.rows(
            "SELECT m.question_id, i.id FROM members m JOIN items i USING (place)"
        ):
            members.setdefault(question, set()).add(item_id)
        found = self.rows(
            "SELECT q.id, q.position, i.id, q.status, q.class_id FROM questions q"
            " JOIN items i ON i.place = q.representative"
        )
        assert [row[0] for row in found] == list(range(1, ledger._last_id + 1))
        for question_id, position, representative, status, class_id in found:
            if question_id in ledger._entries:
                entry = ledger._entries[question_id]
                question = entry.question
                assert (status, class_id) == (entry.status, entry.class_id)
                assert (position, representative) == (question.position, question.representative.id)
                assert members[question_id] == {item.id for item in question.members}
            else:  # forgotten to make room
                assert status in ("answered", "split", "expired")
        asked = self.value("SELECT count(*) FROM questions WHERE NOT given")
        assert self.stream._engine.dialogue.budget._spent == asked

    @invariant()
    def a_candidate_is_in_at_most_one_open_question(self):
        query = "SELECT place FROM members JOIN questions ON id = question_id WHERE status = 'open'"
        assert set(Counter(self.rows(query)).values()) <= {1}

    @invariant()
    def a_told_image_is_the_representative_of_an_answered_question(self):
        told = self.rows("SELECT place, question_id FROM items WHERE is_told AND place > 0")
        answered = self.rows("SELECT representative, id FROM questions WHERE status = 'answered'")
        assert set(told) <= set(answered)
        known = {
            question.id for question in self.stream._engine.dialogue.ledger.questions("answered")
        }
        assert {row for row in answered if row[1] in known} <= set(told)

    @invariant()
    def each_message_is_taken_once_refused_or_waits(self):
        found = self.rows(
            "SELECT i.number, i.kind, i.not_before, s.kind, s.position, s.body, i.refusal"
            " FROM inbox i LEFT JOIN steps s ON s.step = i.step ORDER BY i.number"
        )
        assert len(found) == self.posted
        taken = [row for row in found if row[3] is not None]
        assert self.value("SELECT count(*) FROM steps WHERE kind = 'inbox'") == len(taken)
        for number, _, not_before, step, position, body, _ in taken:
            assert (step, body) == ("inbox", number)
            assert position >= not_before
        told = sum(
            kind in ("Named", "Correct", "Junk", "LabelImages")
            for _, kind, *_, refusal in taken
            if refusal is None
        )
        assert told == self.stream._engine.dialogue.told

    @invariant()
    def counts_are_those_of_what_was_put_in(self):
        assert self.value("SELECT count(*) FROM troubles") == self.troubles
        assert self.value("SELECT count(*) FROM models WHERE installed_at IS NULL") <= 1
        assert self.value("SELECT max(position) FROM steps") == self.stream.position
        observed = self.value("SELECT coalesce(sum(body), 0) FROM steps WHERE kind = 'observe'")
        assert observed == self.stream.position


@pytest.mark.slow
@pytest.mark.long
def test_drawn_sequences_keep_the_promises():
    try:
        run_state_machine_as_test(
            CheckedFolder,
            settings=settings(
                max_examples=SEQUENCES,
                stateful_step_count=STEPS,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        shutil.rmtree(work())
