"""The measurements past one machine measure what they say."""

import os

import pytest

from csim.bench.durability.material import make_stream
from csim.bench.scaling import cluster, coordinator
from csim.bench.scaling.workers import photographs
from csim.errors import InputError
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.settings import Settings
from csim.sources.arrival import Decoded
from csim.sources.decode import decode

SMALL = Settings(epochs=1, ask_every=200, recent=500, channels=4)


def test_synthetic_views_are_of_the_model_in_use_and_no_two_images_are_alike(tmp_path):
    make_stream(tmp_path / "stream", SMALL, seed=0)
    with Stream(tmp_path / "stream", trainer=None) as stream:
        given = list(coordinator.synthetic_views(stream, 4100, seed=0))
        events = stream.take(given[:300], [image.view for image in given[:300]])
    assert len({image.kept for image in given}) == 4100
    assert len({image.view.vector.tobytes() for image in given}) == 4100
    assert len(events) >= 300


def test_the_pace_is_that_of_a_run_that_takes_all_images(tmp_path):
    pace = coordinator.measure(tmp_path, SMALL, images=600, seed=0)
    assert pace.images_per_second == pytest.approx(600 / pace.seconds)
    with Reader(tmp_path / "stream") as reader:
        assert reader.history.position() == 600
        assert len(reader.counts.sources()) == 600


def test_photographs_are_files_of_two_kinds_no_two_alike():
    found, names = photographs(12, seed=0)
    assert len({photograph.picture for photograph in found}) == 12
    assert set(names) == {"temple", "flower"}
    assert all(isinstance(decode(one, (224, 224, 3)), Decoded) for one in found)


def test_without_root_a_cluster_is_refused_with_what_is_missing(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match="run as root"), cluster.loopback():
        pass
