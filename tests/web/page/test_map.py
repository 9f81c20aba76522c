"""The map and the guesses of the page take frozen vectors from the folder."""

import shutil
from contextlib import contextmanager

import pytest
from colour_folder import colour, make_colour
from digit_folder import name_of
from folder.in_process import InProcessTrainer
from tiny_encoder import counting, write_encoder
from waiting import wait_for
from web.serving import serving

from csim.folder.reader import Reader
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import Named
from csim.web.page import projection
from csim.web.page.fresh_guesses import FreshGuesses
from csim.web.page.projection import MapThread

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Return a folder with open questions of model 1; read-only."""
    path = tmp_path_factory.mktemp("map")
    root = make_colour(path / "stream", write_encoder(path / "pixels.onnx"))
    with Stream(root, trainer=None) as stream:
        stream.take(colour(150))
    return root


@pytest.fixture
def folder(base, tmp_path):
    return shutil.copytree(base, tmp_path / "stream")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let the thread draw the next map at once."""
    monkeypatch.setattr(projection, "_SPACING", 0)


@contextmanager
def looked_at(folder):
    """Give the thread of a page whose map somebody looks at."""
    thread = MapThread(folder)
    thread.want()
    try:
        yield thread
    finally:
        thread.stop()


def drawn(thread, model):
    """Wait for the map of a model; return how many images it shows."""
    wait_for(lambda: thread.trouble or (thread.newest and thread.newest.model == model))
    assert thread.trouble == ""
    return len(thread.newest.places)


def teach(folder, most):
    """Answer questions; return the model that learned from them."""
    with Reader(folder) as reader:
        asked = reader.question_pages.page("open", after=0, most=most)
        before = reader.models.in_use()
    send(folder, [Named(entry.id, name_of(entry.representative_id)) for entry in asked])
    with Stream(folder, trainer=InProcessTrainer) as stream:
        stream.finish(ask=False)
    with Reader(folder) as reader:
        assert reader.models.in_use() > before
        return reader.models.in_use()


def test_no_image_passes_again_for_a_map_a_new_model_or_a_restart(folder):
    with counting() as passes:
        with looked_at(folder) as thread:
            assert drawn(thread, 1) > 150
            version = teach(folder, 5)
            assert drawn(thread, version) > 150
        with looked_at(folder) as thread:
            assert drawn(thread, version) > 150
    assert passes == []


def test_images_whose_vector_is_gone_pass_once_for_all_models(tmp_path):
    folder = make_colour(tmp_path / "stream", write_encoder(tmp_path / "pixels.onnx"), store_size=2)
    with Stream(folder, trainer=None) as stream:
        stream.take(colour(150))
    with counting() as passes, looked_at(folder) as thread:
        shown = drawn(thread, 1)
        with Reader(folder) as reader:
            gone = shown - len(reader.frozen_vectors.at(thread.newest.places))
        assert sum(passes) == gone > 0
        drawn(thread, teach(folder, 5))
        assert sum(passes) == gone


def test_the_service_draws_a_map_without_a_pass(folder):
    with serving(folder) as (client, _), counting() as passes:
        client.get("/map").raise_for_status()
        wait_for(lambda: client.get("/map/points").json()["points"])
    assert passes == []


def test_fresh_guesses_need_no_pass(folder):
    version = teach(folder, 5)
    fresh = FreshGuesses()
    with Reader(folder) as reader, counting() as passes:
        old = [
            entry
            for entry in reader.question_pages.page("open", after=0, most=100)
            if reader.models.in_use(entry.position) < version
        ]
        assert old
        assert any(fresh.of(reader, entry) != entry.guesses for entry in old)
    assert passes == []
