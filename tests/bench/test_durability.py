"""The measurements of the stream folder measure what they say."""

import json
import shutil

import numpy as np
import pytest
from digit_folder import arrivals, rows

from csim.bench.durability import commands, crowd, pace
from csim.bench.durability.material import KNOWN, make_stream, noisy_digits
from csim.folder.audit import differing_tables
from csim.folder.stream import Stream
from csim.settings import Settings

SMALL = Settings(
    epochs=1, ask_every=50, recent=200, budget=0.05, update_labels=4, update_steps=5, channels=4
)


def test_noisy_digits_are_no_two_alike_and_new_classes_come_one_after_another():
    images, names = noisy_digits(3000, seed=1)
    assert images.shape == (3000, 8, 8)
    assert len({image.tobytes() for image in images}) == 3000
    first = [names.index(str(digit)) for digit in range(10)]
    assert all(first[int(known)] < 30 for known in KNOWN)
    assert first[3:] == sorted(first[3:])
    assert first[9] > 1000
    again, _ = noisy_digits(3000, seed=1)
    assert (again == images).all()


def test_a_comparison_sees_any_difference(tmp_path):
    make_stream(tmp_path / "a", SMALL, seed=0)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    for folder in ("a", "b"):
        with Stream(tmp_path / folder, trainer=None) as stream:
            stream.take(arrivals(60))
    assert differing_tables(tmp_path / "a", tmp_path / "b") == set()
    with Stream(tmp_path / "b", trainer=None) as stream:
        stream.take(arrivals(61)[60:])
    found = differing_tables(tmp_path / "a", tmp_path / "b")
    assert found == {"items", "images", "totals"}


@pytest.mark.slow
def test_pace_and_memory_are_measured_on_streams_that_took_all_images(tmp_path):
    (tmp_path / "pace").mkdir()
    images, _ = noisy_digits(600, seed=0)
    ours, alone = pace.race(
        tmp_path / "pace", images, lambda root: make_stream(root, SMALL, seed=0)
    )
    assert ours > 0
    assert alone > 0
    assert rows(tmp_path / "pace" / "stream-0", "SELECT max(position) FROM steps") == [(600,)]
    lines = (tmp_path / "pace" / "0.jsonl").read_text().splitlines()
    assert sum(json.loads(line)["decision"] in ("accepted", "rejected") for line in lines) == 600
    (tmp_path / "memory").mkdir()
    early, late = pace.memory(tmp_path / "memory", marks=(600, 1200), settings=SMALL, seed=0)
    assert 100 < early < 1.5 * late
    assert late < 4000


@pytest.mark.slow
def test_commands_are_timed_on_a_folder_that_took_all_images(tmp_path):
    found = commands.time_commands(tmp_path, images=600, settings=SMALL, seed=0)
    assert min(found.status, found.known, found.restart) > 0
    for folder in ("stream", "killed-0", "killed-1"):
        assert rows(tmp_path / folder, "SELECT max(position) FROM steps") == [(600,)]
        newest = rows(tmp_path / folder, "SELECT max(step) FROM snapshots")
        assert newest == rows(tmp_path / folder, "SELECT max(step) FROM steps")


@pytest.mark.slow
def test_three_who_answer_at_once_lose_nothing(tmp_path):
    for seconds in (2, 20, 200):  # until enough is taken: a busy machine needs longer
        shutil.rmtree(tmp_path / "stream", ignore_errors=True)
        found = crowd.answer_at_once(tmp_path, seconds=seconds, writers=3, settings=SMALL, seed=0)
        if found.taken > 3:
            break
    assert (found.lost, found.complaints) == (0, 0)
    assert found.sent == found.taken + found.refused
    assert found.taken > 3
    assert rows(tmp_path / "stream", "SELECT count(*) FROM inbox") == [(found.sent,)]


@pytest.mark.slow
def test_calls_are_timed_with_and_without_training(tmp_path):
    settings = Settings(**SMALL.to_dict() | {"update_steps": 100, "update_labels": 1})
    busy, calm, count = crowd.race_training(tmp_path, calls=3, settings=settings, seed=0)
    assert count >= 3
    assert np.isfinite([busy, calm]).all()
    assert calm > 0
