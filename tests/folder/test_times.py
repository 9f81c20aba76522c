"""Times: csim records when images came, questions were asked and people answered, in UTC."""

import time

import pytest
from digit_folder import arrivals, rows
from folder.story import tell

from csim.export.labels import labels
from csim.folder.reader import Reader
from csim.folder.status import read_status
from csim.folder.stream import Stream
from csim.messages import Named, Undo
from csim.utc import utc

START = time.time() + 1000.0  # after the folder was made


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def take(folder, clock, seconds):
    """Take 20 images at each of some seconds after the start."""
    with Reader(folder) as reader:
        done = reader.history.position()
    with Stream(folder, trainer=None, clock=clock) as stream:
        for number, second in enumerate(seconds):
            clock.now = START + second
            stream.take(arrivals(done + 20 * (number + 1))[done + 20 * number :])


def read(folder):
    with Reader(folder) as reader:
        return read_status(reader)


def test_images_per_second_are_those_of_the_last_minute(folder, clock):
    assert (read(folder).last_image, read(folder).images_per_second) == (None, None)
    take(folder, clock, [0, 100, 120, 140])
    status = read(folder)
    assert status.last_image == utc(START + 140)
    assert status.images_per_second == pytest.approx(60 / 60)


def test_a_clock_that_is_set_back_gives_no_negative_rate(folder, clock):
    take(folder, clock, [500, 100])
    assert read(folder).images_per_second >= 0


def test_an_answer_has_the_time_at_which_it_was_given(asked, clock):
    first, second = (row[0] for row in rows(asked, "SELECT id FROM questions LIMIT 2"))
    assert read(asked).seconds_to_answer is None
    rows_before = rows(asked, "SELECT time FROM questions WHERE id = ?", first)
    said = rows_before[0][0] + 30
    tell(asked, [Named(first, "heron")], clock=lambda: said)
    clock.now = said + 86_400  # nobody ran the stream for a day
    with Stream(asked, trainer=None, clock=clock) as stream:
        stream.attend()
    assert rows(asked, "SELECT answered FROM questions WHERE id = ?", first) == [(said,)]
    assert rows(asked, "SELECT answered FROM questions WHERE id = ?", second) == [(None,)]
    assert read(asked).seconds_to_answer == pytest.approx(30)
    with Reader(asked) as reader:
        told = [row for row in labels(reader) if row["question"] == first]
        assert told
        assert {row["answered"] for row in told} == {utc(said)}
        assert all(row["time"] < row["answered"] for row in told)
    tell(asked, [Undo(first)], clock=clock)
    with Stream(asked, trainer=None, clock=clock) as stream:
        stream.attend()
    assert rows(asked, "SELECT answered FROM questions WHERE id = ?", first) == [(None,)]


def test_predictions_have_the_time_of_their_step(folder, clock):
    take(folder, clock, [0, 7])
    with Reader(folder) as reader:
        found = [line["time"] for _, line in reader.history.lines()]
    assert found == [utc(START)] * 20 + [utc(START + 7)] * 20
