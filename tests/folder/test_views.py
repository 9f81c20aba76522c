"""Views that come with the images, made by somebody whose last digits are others."""

import shutil

import numpy as np
import pytest
from digit_folder import arrivals, crash, rows, save
from folder.in_process import InProcessTrainer
from folder.story import knowledge, reply
from folder.tables import dump, tables

from csim.build import open_encoder
from csim.errors import InputError
from csim.folder.stream import Stream
from csim.folder.views import views_from_bytes, views_to_bytes
from csim.records import View

IMAGES = 300
BATCH = 30


def view(seed, model=1):
    rng = np.random.default_rng(seed)
    return View(rng.normal(size=5).astype(np.float32), rng.normal(size=7), model)


def plain(views):
    return [view and (view.vector.tobytes(), view.features.tobytes(), view.model) for view in views]


@pytest.mark.parametrize(
    "views",
    [
        [],
        [None, None],
        [view(1)],
        [None, view(1), None, view(2), view(3, model=4)],
    ],
)
def test_views_survive_as_bytes(views):
    content = views_to_bytes(views)
    assert (content is None) == (not any(views))
    assert plain(views_from_bytes(content, len(views))) == plain(views)


def outside_views(stream, images):
    """Return views that another machine made, slightly different; every fifth image has none."""
    model = stream._engine.model
    seen = open_encoder(stream.config.settings, model).view(
        np.stack([arrival.image for arrival in images])
    )
    views = []
    for arrival, vector, features in zip(images, seen.vectors, seen.features, strict=True):
        number = int(arrival.id.split()[-1])
        rng = np.random.default_rng(number)
        noisy = vector + rng.normal(scale=1e-3, size=vector.shape).astype(np.float32)
        views.append(
            View(noisy / np.linalg.norm(noisy), features, model.version) if number % 5 else None
        )
    return views


def run(folder, *, crash_at=(), save_at=()):
    """Take images with their views and answer questions; crash and go on at some positions."""
    stream = Stream(folder, trainer=InProcessTrainer)
    stream._snapshots._last_end = float("inf")  # snapshots at chosen positions only
    while stream.position < IMAGES:
        images = arrivals(IMAGES)[stream.position :][:BATCH]
        stream.take(images, outside_views(stream, images))
        reply(folder)
        if stream.position in save_at:
            save(stream)
        if stream.position in crash_at:
            before = knowledge(stream)
            crash(stream)
            stream = Stream(folder, trainer=InProcessTrainer)
            stream._snapshots._last_end = float("inf")
            assert knowledge(stream) == before
    stream.finish()
    stream.close()
    return folder


@pytest.fixture(scope="module")
def calm(base, tmp_path_factory):
    """Return the folder of a stream with views that was never stopped."""
    return run(shutil.copytree(base, tmp_path_factory.mktemp("views") / "stream"))


def test_a_killed_stream_comes_to_the_same_end_without_making_the_views_again(calm, folder):
    assert rows(calm, "SELECT count(*) FROM models WHERE installed_at > 0")[0][0] > 1
    run(folder, crash_at=(60, 90, 210, 270, 300), save_at=(150, 240))
    assert tables(folder) == tables(calm)


def test_the_views_are_used_and_kept_until_snapshots_hold_what_came_of_them(folder, tmp_path):
    without = shutil.copytree(folder, tmp_path / "without")
    images = arrivals(BATCH)
    with Stream(without, trainer=None) as stream:
        stream.take(images)
    assert rows(without, "SELECT count(*) FROM steps WHERE views IS NOT NULL") == [(0,)]
    stream = Stream(folder, trainer=None)
    views = outside_views(stream, images)
    stream.take(images, views)
    ((content,),) = rows(folder, "SELECT views FROM steps WHERE kind = 'observe'")
    assert plain(views_from_bytes(content, BATCH)) == plain(views)
    scores = "SELECT score FROM items WHERE place > 0 ORDER BY place"
    differing = [
        ours != theirs
        for ours, theirs in zip(rows(folder, scores), rows(without, scores), strict=True)
    ]
    assert sum(differing) > BATCH / 2
    save(stream)
    stream.take(arrivals(BATCH + 5)[BATCH:])
    save(stream)
    stream.close()
    assert rows(folder, "SELECT count(*) FROM steps WHERE views IS NOT NULL") == [(0,)]


def test_views_of_another_model_are_neither_used_nor_kept(asked):
    images = arrivals(220)[200:]
    with Stream(asked, trainer=None) as stream:
        stream.take(images, [view(1, model=7)] * len(images))
    assert rows(asked, "SELECT count(*) FROM steps WHERE views IS NOT NULL") == [(0,)]


def test_bad_views_are_refused_and_the_stream_goes_on(asked):
    images = arrivals(220)[200:]
    stream = Stream(asked, trainer=None)
    before = knowledge(stream), dump(asked)
    with pytest.raises(InputError, match="one per image or none, got 1 for 20"):
        stream.take(images, [None])
    with pytest.raises(InputError, match="must have a vector of shape"):
        stream.take(images, [view(1)] * len(images))
    assert (knowledge(stream), dump(asked)) == before
    assert len(stream.take(images)) >= len(images)
    stream.close()
    assert rows(asked, "SELECT max(place) FROM items") == [(220,)]
