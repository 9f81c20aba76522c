"""A stream folder stays with the revision of a hub's model that it began with."""

import shutil

import numpy as np
import pytest
from embed.photographs import draw_photographs
from folder.story import knowledge
from tiny_hf import Hub

from csim.errors import EncoderError
from csim.folder.layout import Config
from csim.folder.make import make
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.settings import Settings
from csim.sources.arrival import Decoded

SHAPE = (56, 56, 3)
SETTINGS = Settings.photographs(encoder="hf:lab/tiny")


def decoded(count, prefix="image"):
    images = draw_photographs(count, SHAPE[0])
    return [Decoded(f"{prefix} {index}", image, b"") for index, image in enumerate(images)]


@pytest.mark.slow
def test_a_stream_goes_on_with_its_revision_when_the_hub_has_a_newer_one(tmp_path, monkeypatch):
    hub = Hub(tmp_path / "cache", monkeypatch)
    first, second = hub.publish(seed=0), hub.publish(seed=1)
    hub.show(first)
    make(tmp_path / "stream", Config(SETTINGS, SHAPE), decoded(8, "labelled"), ["a", "b"] * 4)
    images = np.stack([image.image for image in decoded(4)])
    with Stream(tmp_path / "stream", trainer=None) as stream:
        before = stream._frozen.embed(images)
        stream.take(decoded(4))
        known = knowledge(stream)

    hub.show(second)
    with Stream(tmp_path / "stream", trainer=None) as stream:
        assert stream._frozen.identity.revision == first
        assert (stream._frozen.embed(images) == before).all()
        assert knowledge(stream) == known
    with Reader(tmp_path / "stream") as reader:
        assert reader.config.encoder.revision == first
    make(tmp_path / "newer", Config(SETTINGS, SHAPE), decoded(8, "labelled"), ["a", "b"] * 4)
    with Reader(tmp_path / "newer") as reader:
        assert reader.config.encoder.revision == second


@pytest.mark.slow
def test_a_revision_that_is_gone_is_not_replaced_by_the_newest(tmp_path, monkeypatch):
    hub = Hub(tmp_path / "cache", monkeypatch)
    first, second = hub.publish(seed=0), hub.publish(seed=1)
    hub.show(first)
    make(tmp_path / "stream", Config(SETTINGS, SHAPE), decoded(8, "labelled"), ["a", "b"] * 4)
    hub.show(second)
    shutil.rmtree(tmp_path / "cache" / "models--lab--tiny" / "snapshots" / first)
    with pytest.raises(EncoderError, match="csim cannot get it"):
        Stream(tmp_path / "stream")
