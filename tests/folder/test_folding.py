"""Old images become counts; what people said, and what a restart needs, stays."""

import io
import json
import shutil

import pytest
from digit_folder import arrivals, crash, rows, save
from folder.story import tell
from folder.totals import class_totals

from csim.errors import SettingsError
from csim.folder.folding import KeptHistory
from csim.folder.layout import Layout
from csim.folder.output import Output
from csim.folder.reader import Reader
from csim.folder.status import read_status
from csim.folder.stream import Stream
from csim.messages import Named

DAY = 86_400


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now = 1.8e9

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def run_days(folder, clock, days, **options):
    """Take 30 images a day from image 201 on, with a snapshot after each batch."""
    with Stream(folder, trainer=None, clock=clock, **options) as stream:
        first = stream.position
        for start in range(first, first + 30 * days, 30):
            clock.now += DAY
            stream.take(arrivals(start + 30)[start:])
            save(stream)


def listed(folder):
    return {place for (place,) in rows(folder, "SELECT place FROM items WHERE place > 0")}


@pytest.fixture
def told(asked, clock):
    """Return a folder in which every second question is answered; it then runs for 20 days."""
    questions = [number for (number,) in rows(asked, "SELECT id FROM questions")]
    tell(asked, [Named(number, "owl") for number in questions[::2]])
    run_days(asked, clock, 20)
    return asked


def facts(folder):
    with Reader(folder) as reader:
        status = read_status(reader)
        parts = [0] * 4
        for count in reader.counts.by_part(4):
            parts[count.part] += count.images
        return {
            "position": status.position,
            "classes": status.classes,
            "questions": status.questions,
            "told": status.told,
            "waiting": status.waiting,
            "spent": reader.history.labels_spent(),
            "asked": reader.history.questions_asked(),
            "rejected": sum(count.rejected for count in reader.counts.by_part(4)),
            "images": sum(parts),
        }


def test_without_a_limit_every_image_stays_listed(told):
    assert len(listed(told)) == 800


def test_images_older_than_the_history_are_folded_and_the_sums_stay_right(told, clock):
    before = facts(told)
    with Stream(told, trainer=None, clock=clock, history=KeptHistory(seconds=5 * DAY)) as stream:
        save(stream)
        save(stream)
    assert facts(told) == before
    (until,) = rows(told, "SELECT step, place FROM folded_until")
    assert until[1] >= 600
    kept = listed(told)
    assert set(range(until[1] + 1, 801)) <= kept
    assert len(kept) < 700
    assert class_totals(told) != class_totals(told, counted=True)


def test_what_people_said_and_what_questions_showed_is_never_folded(told, clock):
    answers = rows(told, "SELECT * FROM inbox")
    labels = rows(told, "SELECT place, class_id FROM items WHERE is_told OR question_id NOTNULL")
    said = "SELECT number, kind, body FROM events WHERE kind != 'Revised'"
    events = rows(told, said)
    asked = rows(told, "SELECT * FROM questions")
    with Stream(told, trainer=None, clock=clock, history=KeptHistory(images=10)) as stream:
        save(stream)
        save(stream)
    assert rows(told, "SELECT * FROM inbox") == answers
    assert rows(told, said) == events
    assert rows(told, "SELECT * FROM questions") == asked
    assert set(labels) <= set(rows(told, "SELECT place, class_id FROM items"))
    with Reader(told) as reader:
        for question in reader.questions(None):
            assert reader.item(question.representative)
            if question.status != "expired":
                assert len(reader.members(question.id)) == len(question.members)
        assert reader.history.events()


def test_csim_still_skips_a_folded_image(told, clock):
    ids = [arrival.id for arrival in arrivals(800)]
    with Stream(told, trainer=None, clock=clock, history=KeptHistory(images=10)) as stream:
        save(stream)
        save(stream)
        assert set(stream.known(ids)) == set(ids)
        assert not stream.known(["another"])
        assert len(listed(told)) < 600


def test_nothing_that_the_engine_holds_or_a_replay_needs_is_folded(told, clock):
    stream = Stream(told, trainer=None, clock=clock, history=KeptHistory(images=1))
    held = {item.position for item in stream._engine.discovery.pool.items()}
    stream.take(arrivals(830)[800:])
    save(stream)
    stream.take(arrivals(860)[830:])
    crash(stream)
    assert {place for place in held if place > 0} <= listed(told)
    newest = max(Layout(told).folders[2].iterdir())
    newest.write_bytes(b"damaged")
    with Stream(told, trainer=None) as stream:  # replays from the older snapshot and compares
        assert stream.problems
        assert stream.position == 860


def test_a_stream_that_folds_goes_on_like_one_that_does_not(told, tmp_path, clock):
    calm = shutil.copytree(told, tmp_path / "calm")
    start = clock.now
    run_days(told, clock, 5, history=KeptHistory(images=100))
    clock.now = start
    run_days(calm, clock, 5)
    assert len(listed(calm)) == 950
    assert len(listed(told)) < 750
    for query in (
        "SELECT number, kind, body FROM events WHERE kind != 'Revised' ORDER BY number",
        "SELECT * FROM questions ORDER BY id",
        "SELECT * FROM items WHERE place > 850 ORDER BY place",
        "SELECT * FROM class_totals WHERE images OR told ORDER BY class_id",
    ):
        assert rows(told, query) == rows(calm, query) != []
    assert facts(told) == facts(calm)


def test_the_history_is_kept_in_the_folder_until_it_is_changed(told):
    with Stream(told, trainer=None, history=KeptHistory(seconds=30 * DAY)):
        pass
    with Reader(told) as reader:
        assert reader.config.history.text() == "30d"
    with Stream(told, trainer=None) as stream:
        assert stream.config.history == KeptHistory(seconds=30 * DAY)


@pytest.mark.parametrize("text", ["all", "90d", "12h", "1000000"])
def test_a_history_reads_what_it_writes(text):
    assert KeptHistory.from_text(text).text() == text


@pytest.mark.parametrize("text", ["", "0d", "-3d", "1.5d", "90 d", "90w", "d", "1e6", "ever", "٣d"])
def test_a_history_that_says_nothing_is_refused(text):
    with pytest.raises(SettingsError, match="90d"):
        KeptHistory.from_text(text)


def test_no_line_is_folded_before_it_is_written_to_the_file_of_predictions(told, tmp_path, clock):
    path = tmp_path / "out.jsonl"
    Output(Layout(told).database, path, io.BytesIO()).close()  # nothing written yet
    with Stream(told, trainer=None, clock=clock, history=KeptHistory(images=10)) as stream:
        save(stream)
        assert len(listed(told)) == 800
        output = Output(Layout(told).database, path, io.BytesIO())
        output.catch_up()
        output.close()
        stream.take(arrivals(830)[800:])
        save(stream)
        save(stream)
    assert len(listed(told)) < 700
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    arrived = [line["item"] for line in lines if line["decision"] in ("accepted", "rejected")]
    assert arrived == [arrival.id for arrival in arrivals(800)]
