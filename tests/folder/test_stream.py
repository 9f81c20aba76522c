import os
import random
import shutil
import signal
import sqlite3
import threading
from contextlib import closing, suppress

import numpy as np
import pytest
from digit_folder import arrivals, crash, decoded, make_folder, rows
from digit_stream import digit_stream
from folder.in_process import InProcessTrainer
from folder.story import IMAGES, knowledge, retell, run_reference, tell
from folder.tables import dump, files, tables

from csim.errors import (
    BusyError,
    CheckpointError,
    CsimError,
    FolderError,
    InputError,
    StorageError,
)
from csim.folder.codec import event_to_text
from csim.folder.jobs import train
from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.folder.trainer_process import TrainerProcess
from csim.messages import AddClass, Correct, Named, RemoveClass, RenameClass, Skip
from csim.records import (
    Accepted,
    Rejected,
    TrainingDue,
)
from csim.sources.arrival import Trouble


class Stopped(BaseException):
    """The process ends here."""


def stop(*_, **__):
    raise Stopped


def go_on(folder, until, batch=64, **options):
    """Take the images of the stream up to one, and close."""
    with Stream(folder, **options) as stream:
        while stream.position < until:
            stream.take(arrivals(until)[stream.position :][:batch])


def assert_same(folder, other):
    ours = tables(folder)
    theirs = tables(other)
    for name in theirs:
        assert ours[name] == theirs[name], name


def flip(path, seed=0):
    """Change one bit of a file, somewhere in its second half."""
    content = bytearray(path.read_bytes())
    content[random.Random(seed).randrange(len(content) // 2, len(content))] ^= 4  # noqa: S311
    path.write_bytes(content)


# Where a step may be cut short: before the transaction, and at each action after it.
MOMENTS = {
    "the step": lambda stream: (stream._log, "write"),
    "troubles": lambda stream: (stream._log, "write_troubles"),
    "training": lambda stream: (stream._training, "begin_due"),
    "snapshot": lambda stream: (stream._snapshots, "save"),
}


def disturbed(folder, seed, crashes):
    """Take all images, with crashes at random moments, after which nothing more is written."""
    rng = random.Random(seed)  # noqa: S311
    while True:
        stream = Stream(folder, trainer=InProcessTrainer)
        batches = rng.randrange(3)  # before the crash
        moment = rng.choice(list(MOMENTS))
        try:
            while stream.position < IMAGES:
                if crashes and not batches:
                    setattr(*MOMENTS[moment](stream), stop)
                    if moment == "snapshot":
                        stream._snapshots._last_end = -100  # the next one is due
                batches -= 1
                start = stream.position
                stream.take(arrivals(IMAGES)[start : start + rng.randrange(1, 40)])
            stream.finish()
            stream.close()
        except Stopped:
            crashes -= 1
            crash(stream)
        else:
            return crashes


@pytest.mark.slow
def test_a_stream_that_is_stopped_again_and_again_ends_as_one_that_never_was(reference, folder):
    assert disturbed(retell(reference, folder), seed=4, crashes=12) == 0
    assert_same(folder, reference)


@pytest.mark.slow
def test_every_trainer_gives_the_same_stream(reference, folder):
    run_reference(folder, TrainerProcess)
    assert_same(folder, reference)


def test_the_story_has_every_kind_of_message_and_event(reference):
    taken = {
        kind
        for (kind,) in rows(
            reference, "SELECT DISTINCT kind FROM inbox WHERE step AND refusal IS NULL"
        )
    }
    assert taken == {
        "AddClass", "Correct", "MergeClasses", "Named", "RemoveClass", "RenameClass",
        "RestoreClass",
        "Skip", "Split", "Undo",
    }  # fmt: skip
    happened = {kind for (kind,) in rows(reference, "SELECT DISTINCT kind FROM events")}
    assert happened >= {
        "Asked",
        "Joined",
        "Labelled",
        "Revised",
        "Skipped",
        "Divided",
        "Undone",
        "Corrected",
    }
    assert rows(reference, "SELECT count(*) FROM inbox WHERE refusal IS NOT NULL")[0][0] > 3
    assert rows(reference, "SELECT count(*) FROM models WHERE installed_at IS NOT NULL")[0][0] > 3


def logged(folder):
    """Return what the log says happened in the stream, step by step."""
    found = []
    for (step,) in rows(folder, "SELECT step FROM steps WHERE kind != 'warm-up' ORDER BY step"):
        found += rows(folder, "SELECT id, is_accepted FROM items WHERE step = ?", step)
        found += rows(folder, "SELECT kind, body FROM events WHERE step = ? ORDER BY number", step)
    return found


def as_logged(events):
    """Return events in the form of `logged`, the decisions of a step before its other events."""
    found = []
    for event in events:
        if isinstance(event, Accepted | Rejected):
            found.append((event.item_id, int(isinstance(event, Accepted))))
        elif not isinstance(event, TrainingDue):
            found.append(event_to_text(event))
    return found


def test_all_that_happens_is_returned_in_order(reference, folder):
    retell(reference, folder)
    events = []
    with Stream(folder, trainer=InProcessTrainer) as stream:
        for start in range(0, IMAGES, 10):  # so that a search ends a batch
            events += stream.take(arrivals(IMAGES)[start : start + 10])
        assert stream.take([]) == []
        events += stream.attend()
        events += stream.finish()
        assert stream.finish() == []
    assert as_logged(events) == logged(folder)
    happened = {type(event).__name__ for event in events}
    assert happened >= {"Accepted", "Rejected", "Asked", "Labelled", "Retrained", "TrainingDue"}


def test_each_message_is_taken_at_exactly_its_position(folder):
    places = [7, 7, 13, 13, 40, 41]
    for number, place in enumerate(places):
        tell(folder, [AddClass(f"class {number}")], not_before=place)
    with Stream(folder, trainer=None) as stream:
        stream.take(arrivals(40))
        stream.attend()
    taken = rows(
        folder, "SELECT s.position FROM inbox i JOIN steps s ON s.step = i.step ORDER BY s.step"
    )
    assert [place for (place,) in taken] == places[:-1]
    assert rows(folder, "SELECT number FROM inbox WHERE step IS NULL") == [(6,)]
    added = rows(
        folder,
        "SELECT position FROM events WHERE kind = 'ClassAdded' AND position > 0 ORDER BY number",
    )
    assert [place for (place,) in added] == places[:-1]
    before = [
        place
        for (place,) in rows(
            folder, "SELECT place FROM items WHERE step < (SELECT step FROM inbox)"
        )
    ]
    assert max(before) == 7  # the images up to it were taken, the next were not


def test_a_message_that_must_be_refused_does_not_stop_the_others(asked):
    tell(asked, [AddClass("a"), RemoveClass(77), Named(1, "b"), Named(1, "c"), Named(2, " \n")])
    tell(asked, [Skip(2), RenameClass(0, "d")])
    with Stream(asked, trainer=None) as stream:
        stream.attend()
    refused = [
        refusal is not None
        for (refusal,) in rows(asked, "SELECT refusal FROM inbox ORDER BY number")
    ]
    assert refused == [False, True, False, True, True, False, False]
    assert rows(asked, "SELECT name FROM classes WHERE id = 0") == [("d",)]
    assert rows(asked, "SELECT status FROM questions WHERE id < 3 ORDER BY id") == [
        ("answered",),
        ("skipped",),
    ]


def test_a_refused_message_leaves_the_engine_as_it_was(asked):
    tell(asked, [RemoveClass(77), Named(999, "b"), Named(2, ""), RenameClass(0, "x" * 300)])
    with Stream(asked, trainer=None) as stream:
        before = knowledge(stream)
        stream.attend()
        assert knowledge(stream) == before


def test_a_restart_comes_back_to_where_the_engine_was(asked):
    tell(asked, [Named(1, "heron"), Skip(2), AddClass("owl")], not_before=230)
    stream = Stream(asked, trainer=None)
    stream.take(arrivals(300)[200:])
    before = knowledge(stream)
    crash(stream)
    again = Stream(asked, trainer=None)
    assert knowledge(again) == before
    again.close()
    with Stream(asked, trainer=None) as after:  # now from its snapshot, nothing is done again
        assert knowledge(after) == before


def test_live_the_position_of_the_switch_is_recorded_and_replayed(reference, folder):
    stream = Stream(retell(reference, folder), is_live=True, trainer=InProcessTrainer)
    stream._snapshots._last_end = float("inf")  # no snapshot but the first: all will be done again
    while stream.position < 300:
        stream.take(arrivals(IMAGES)[stream.position :][:20])
    before = knowledge(stream)
    crash(stream)
    switched = rows(
        folder,
        "SELECT m.installed_at, s.position FROM models m JOIN steps s ON s.body = m.version"
        " WHERE s.kind = 'install'",
    )
    assert switched
    assert all(installed == position for installed, position in switched)
    assert rows(folder, "SELECT DISTINCT switch_at FROM models WHERE version > 1") == [(None,)]
    logged = dump(folder)
    again = Stream(folder, trainer=None)
    assert knowledge(again) == before
    crash(again)
    assert dump(folder) == logged


def test_a_replay_that_differs_from_the_log_is_refused(asked):
    stream = Stream(asked, trainer=None)
    stream.take(arrivals(220)[200:])
    crash(stream)
    with closing(sqlite3.connect(Layout(asked).database)) as connection:
        connection.execute("UPDATE items SET is_accepted = 1 - is_accepted WHERE place = 210")
        connection.commit()
    before = dump(asked)
    with pytest.raises(
        FolderError, match=r"step \d+ \(observe\) does not; run it with the versions of csim"
    ):
        Stream(asked, trainer=None)
    assert dump(asked) == before


def snapshots_of(folder):
    return sorted((folder / "snapshots").iterdir())


@pytest.mark.parametrize(
    "harm", [flip, lambda path: path.unlink(), lambda path: path.write_bytes(b"")]
)
def test_if_the_newer_snapshot_is_damaged_the_older_is_used_and_reported(asked, harm):
    with Stream(asked, trainer=None) as stream:
        before = knowledge(stream)
        assert stream.problems == []
    older, newer = snapshots_of(asked)
    harm(newer)
    with Stream(asked, trainer=None) as stream:
        assert knowledge(stream) == before
        assert len(stream.problems) == 1
        assert newer.name in stream.problems[0]
    with Stream(asked, trainer=None) as stream:  # it has been written again
        assert knowledge(stream) == before
        assert stream.problems == []
    assert snapshots_of(asked) == [older, newer]


def test_if_both_snapshots_are_damaged_nothing_is_changed(asked):
    for snapshot in snapshots_of(asked):
        flip(snapshot)
    before = files(asked), dump(asked)
    for _ in range(2):
        with pytest.raises(
            FolderError,
            match=r"must have an undamaged snapshot, .*; restore the folder from a backup",
        ):
            Stream(asked, trainer=None)
    assert (files(asked), dump(asked)) == before


@pytest.mark.parametrize(
    "harm", [flip, lambda path: path.unlink(), lambda path: path.write_bytes(b"hello")]
)
def test_a_missing_or_damaged_model_is_refused_and_nothing_is_changed(asked, harm):
    harm(Layout(asked).model(1))
    before = files(asked), dump(asked)
    for _ in range(2):
        with pytest.raises((FolderError, CheckpointError), match=r"000001\.safetensors"):
            Stream(asked, trainer=None)
    assert (files(asked), dump(asked)) == before


def test_the_lock_is_free_after_a_start_that_failed(asked):
    away = shutil.move(Layout(asked).model(1), asked / "elsewhere")
    with pytest.raises(CsimError):
        Stream(asked, trainer=None)
    shutil.move(away, Layout(asked).model(1))
    Stream(asked, trainer=None).close()


def fill_the_disk(stream):
    """Let the database grow no more."""
    (pages,) = stream._connection.execute("PRAGMA page_count").fetchone()
    stream._connection.execute(f"PRAGMA max_page_count = {pages}")


def take_for_ever(stream):
    while True:
        stream.take(arrivals(400)[stream.position :][:16])


def test_a_full_disk_loses_nothing(asked, tmp_path):
    calm = shutil.copytree(asked, tmp_path / "calm")
    for each in (asked, calm):
        tell(each, [Named(1, "heron"), Named(2, "owl")], keys=["a", "b"], not_before=240)
    go_on(calm, 330)
    stream = Stream(asked, trainer=None)
    fill_the_disk(stream)
    with pytest.raises(StorageError, match="make room"):
        take_for_ever(stream)
    before = files(asked / "snapshots")
    with suppress(StorageError):
        stream.close()
    assert files(asked / "snapshots") == before  # what the engine knows beyond the log is not kept
    go_on(asked, 330)
    assert_same(asked, calm)


def test_a_stream_that_could_not_write_a_step_does_not_go_on_as_if_it_had(asked):
    stream = Stream(asked, trainer=None)
    fill_the_disk(stream)
    with pytest.raises(StorageError):
        take_for_ever(stream)
    stream._connection.execute("PRAGMA max_page_count = 1000000")  # there is room again
    for act in (lambda: stream.take(arrivals(400)[stream.position :][:16]), stream.finish):
        with pytest.raises(FolderError, match="open the folder again"):
            act()
    stream.close()
    go_on(asked, 330, trainer=None)
    places = [
        place for (place,) in rows(asked, "SELECT place FROM items WHERE place > 0 ORDER BY place")
    ]
    assert places == list(range(1, 331))


@pytest.mark.parametrize("name", ["snapshots", "jobs"])
def test_a_file_that_cannot_be_written_is_reported_like_a_full_disk(due, name):
    stream = Stream(due, trainer=None)
    stream.take(arrivals(210)[200:])
    folder = due / name
    away = due / "away"
    folder.rename(away)
    folder.write_text("in the way")
    if name == "snapshots":
        with pytest.raises(StorageError, match="make room"):
            stream.close()
    else:
        stream._engine.schedule.give_up()  # the next answer makes another training due
        tell(due, [Named(2, "something else")])
        with pytest.raises(StorageError, match="make room"):
            stream.attend()
        with suppress(CsimError):
            stream.close()
    folder.unlink()
    away.rename(folder)
    with Stream(due, trainer=None) as again:
        assert again.position == 210


def test_a_model_left_by_a_killed_trainer_takes_over_at_its_position(due):
    train(Layout(due), 2)
    go_on(due, 260)
    assert rows(due, "SELECT switch_at, installed_at, seconds FROM models WHERE version = 2") == [
        (230, 230, 0.0)
    ]
    assert set(rows(due, "SELECT model FROM items WHERE place BETWEEN 201 AND 230")) == {(1,)}
    assert set(rows(due, "SELECT model FROM items WHERE place > 230")) == {(2,)}


@pytest.mark.slow
def test_a_killed_trainer_is_started_again_and_trains_the_same_model(due, tmp_path):
    calm = shutil.copytree(due, tmp_path / "calm")
    train(Layout(calm), 2)
    go_on(calm, 260)
    stream = Stream(due)
    os.kill(stream._training._trainer._process.pid, signal.SIGKILL)
    stream.take(arrivals(240)[200:])  # the model takes over at 230
    assert stream._engine.model.version == 2
    stream.close()
    Layout(due).model(2).with_name(".000002.safetensors.half").write_bytes(b"half a model")
    go_on(due, 260)
    assert_same(due, calm)


def test_training_waits_for_whoever_runs_the_stream_next(due):
    with Stream(due, trainer=None) as stream:
        stream.attend()
        assert not stream.is_training
    assert rows(due, "SELECT installed_at FROM models WHERE version = 2") == [(None,)]
    assert Layout(due).job(2).is_file()


def test_with_no_lag_a_model_takes_over_where_it_became_due_and_the_folder_opens_again(tmp_path):
    folder = make_folder(tmp_path / "stream", retrain_lag=0)
    stream = Stream(folder, trainer=InProcessTrainer)
    stream._snapshots._last_end = float("inf")  # no snapshot: all will be done again
    stream.take(arrivals(100))
    tell(
        folder, [Named(1, "one new class"), Named(2, "another new class")]
    )  # the second while the first is trained
    stream.take(arrivals(130)[100:])
    before = knowledge(stream)
    crash(stream)
    assert (
        rows(folder, "SELECT position, switch_at, installed_at FROM models WHERE version > 1")
        == [(100,) * 3] * 2
    )
    assert rows(folder, "SELECT count(*) FROM steps WHERE kind = 'observe' AND body = 0") == [(0,)]
    with Stream(folder, trainer=None) as stream:
        assert knowledge(stream) == before


def test_files_that_no_row_names_are_removed_at_the_start(due):
    layout = Layout(due)
    needed = files(due)
    for path in (
        layout.job(7), layout.model(9), layout.snapshot(77),
        layout.job(2).with_name(".000002.safetensors.abc"), layout.snapshot(1).with_name(".x"),
    ):  # fmt: skip
        path.write_bytes(b"left behind")
    crash(Stream(due, trainer=None))
    assert files(due) == needed


def test_after_a_snapshot_only_what_a_restart_needs_is_left(reference):
    layout = Layout(reference)
    steps = [step for (step,) in rows(reference, "SELECT step FROM snapshots")]
    assert len(steps) == 2
    (oldest,) = rows(reference, "SELECT min(model) FROM snapshots")[0]
    (newest,) = rows(reference, "SELECT max(version) FROM models")[0]
    expected = {layout.snapshot(step) for step in steps} | {
        layout.model(v) for v in range(oldest, newest + 1)
    }
    assert {file for folder in layout.folders for file in folder.iterdir()} == expected
    assert rows(
        reference, "SELECT count(*) FROM steps WHERE pixels NOTNULL AND step <= ?", min(steps)
    ) == [(0,)]
    gone = "SELECT count(*) FROM steps WHERE kind = 'observe' AND pixels IS NULL AND step > ?"
    assert rows(reference, gone, min(steps)) == [(0,)]


def test_troubles_are_counted_once_and_may_come_again(folder):
    trouble = Trouble("broken.png", "damaged", "it ends too early")
    for _ in range(2):
        with Stream(folder, trainer=None) as stream:
            assert not stream.known(["image 1"])
            stream.note(trouble)
            stream.note(trouble)
    stream = Stream(folder, trainer=None)
    stream.note(Trouble("empty.png", "empty", "it has no bytes"))
    stream.take(arrivals(5))
    crash(stream)
    with Stream(folder, trainer=None) as stream:
        asked = ["image 5", "labelled 1", "broken.png", "empty.png", "image 6", ""]
        assert set(stream.known(asked)) == {"image 5", "labelled 1"}
        assert not stream.known([])
    assert rows(folder, "SELECT id, kind, reason FROM troubles ORDER BY id") == [
        ("broken.png", "damaged", "it ends too early"),
        ("empty.png", "empty", "it has no bytes"),
    ]


def test_to_finish_twice_asks_once_even_after_a_crash(asked):
    stream = Stream(asked, trainer=None)
    stream.take(arrivals(230)[200:])
    stream.finish()
    stream.finish()
    crash(stream)
    with Stream(asked, trainer=None) as stream:
        stream.finish()
        assert rows(asked, "SELECT count(*) FROM steps WHERE kind = 'ask'") == [(1,)]
        stream.take(arrivals(231)[230:])
        stream.finish()
    assert rows(asked, "SELECT count(*) FROM steps WHERE kind = 'ask'") == [(2,)]


def test_to_finish_leaves_no_image_without_a_class_but_those_asked_about(asked):
    with Stream(asked, trainer=None) as stream:
        stream.finish()
    asked_about = {
        place
        for (place,) in rows(asked, "SELECT representative FROM questions WHERE status = 'open'")
    }
    without = {place for (place,) in rows(asked, "SELECT place FROM items WHERE class_id IS NULL")}
    assert without <= asked_about


def test_nothing_to_take_is_fine(asked):
    before = dump(asked)
    with Stream(asked, trainer=None) as stream:
        stream.take([])
        stream.attend()
    assert dump(asked) == before


def test_the_size_of_the_batches_changes_nothing(base, tmp_path):
    results = []
    for size in (1, 7, 100):
        folder = shutil.copytree(base, tmp_path / str(size))
        go_on(folder, 100, batch=size, trainer=None)
        found = tables(folder)
        results.append(found)
    assert results[0] == results[1] == results[2]


def test_images_that_a_correction_gave_their_class_are_still_of_its_question(asked):
    query = (
        "SELECT question_id FROM members GROUP BY question_id HAVING count(*) > 2"
        " ORDER BY question_id"
    )
    ((question,), *_) = rows(asked, query)
    with Stream(asked, trainer=None) as stream:
        tell(asked, [Named(question, "crane"), Correct(question, "heron")])
        stream.attend()
    given = (
        "SELECT c.name, i.question_id FROM items i JOIN members m USING (place)"
        " JOIN classes c ON c.id = i.class_id"
    )
    found = rows(asked, f"{given} WHERE m.question_id = ?", question)
    assert len(found) > 2
    assert set(found) == {("heron", question)}
    assert rows(
        asked,
        "SELECT name FROM questions q JOIN classes c ON c.id = class_id WHERE q.id = ?",
        question,
    ) == [("heron",)]


def test_an_image_that_came_before_is_refused_and_the_stream_goes_on(asked):
    with Stream(asked, trainer=None) as stream:
        first = stream.position
        new = decoded(digit_stream().images[:2].astype(np.uint8), "new")
        for repeated in ([*new, new[0]], [arrivals(1)[0]]):
            with pytest.raises(InputError, match="belongs to an earlier image"):
                stream.take(repeated)
        assert stream.position == first
        stream.take(new)
        assert stream.position == first + 2


def test_another_thread_is_refused_and_the_stream_goes_on(asked):
    refused = []

    def call(stream):
        for method in (lambda: stream.take(arrivals(1)), stream.attend, stream.finish):
            try:
                method()
            except BusyError as error:
                refused.append(str(error))

    with Stream(asked, trainer=None) as stream:
        thread = threading.Thread(target=call, args=(stream,))
        thread.start()
        thread.join()
        stream.take(decoded(digit_stream().images[:1].astype(np.uint8), "new"))
    assert len(refused) == 3
    assert "the thread that opened it" in refused[0]
