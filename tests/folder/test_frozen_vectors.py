"""Frozen vectors of a folder come from its snapshots and its log; nothing is changed."""

import shutil

import numpy as np
import pytest
from colour_folder import colour, make_colour
from digit_folder import crash, rows, save
from folder.story import reply
from tiny_encoder import counting, write_encoder

from csim.build import open_frozen
from csim.folder.layout import Layout
from csim.folder.query_plans import scans_during
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.sources.arrival import Arrival
from csim.sources.decode import decode


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Return a folder as a killed engine leaves it: 60 images in two snapshots, 30 in the log."""
    path = tmp_path_factory.mktemp("frozen")
    root = make_colour(path / "stream", write_encoder(path / "pixels.onnx"))
    stream = Stream(root, trainer=None)
    for start in (0, 30):
        stream.take(colour(start + 30, start))
        reply(root)
        stream.attend()
        save(stream)
    stream.take(colour(90, 60))
    crash(stream)
    return root


@pytest.fixture
def folder(base, tmp_path):
    return shutil.copytree(base, tmp_path / "stream")


def places(folder):
    return [place for (place,) in rows(folder, "SELECT place FROM items ORDER BY place")]


def expected(reader, place):
    """Return what the encoder makes of the picture that the folder keeps."""
    kept = decode(Arrival("kept", reader.picture(place)), reader.config.image_shape)
    return open_frozen(reader.config.settings).embed(kept.image[None])[0]


def test_all_that_the_engine_holds_is_found_without_the_encoder(folder):
    everything = places(folder)
    with Reader(folder) as reader:
        with counting() as passes:
            found = reader.frozen_vectors.at(everything)
        assert passes == []
        assert sorted(found) == everything
        assert {found[place].dtype for place in everything} == {np.dtype(np.float16)}
        for place in everything[::7]:
            assert (found[place] == expected(reader, place)).all()


def test_only_the_places_asked_for_are_returned_and_unknown_ones_are_missing(folder):
    with Reader(folder) as reader:
        assert set(reader.frozen_vectors.at([-1, 5, 80, 4000])) == {-1, 5, 80}
        assert reader.frozen_vectors.at([]) == {}


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_without_its_newest_snapshot_the_older_one_and_the_log_give_them(folder, spoil):
    everything = places(folder)
    older, newest = [step for (step,) in rows(folder, "SELECT step FROM snapshots ORDER BY step")]
    with Reader(folder) as reader:
        spoil(Layout(folder).snapshot(newest))
        assert sorted(reader.frozen_vectors.at(everything)) == everything
        spoil(Layout(folder).snapshot(older))
        assert sorted(reader.frozen_vectors.at(everything)) == [*range(31, 91)]


def test_a_running_engine_is_neither_stopped_nor_changed(folder):
    with Stream(folder, trainer=None) as stream, Reader(folder) as reader:
        for start in (90, 120, 150):
            stream.take(colour(start + 30, start))
            assert len(reader.frozen_vectors.at(places(folder))) == len(places(folder))
            before = {file: file.read_bytes() for file in folder.glob("snapshots/*")}
            reader.frozen_vectors.at([1, 2])
            assert {file: file.read_bytes() for file in folder.glob("snapshots/*")} == before
            save(stream)


def test_no_statement_reads_a_whole_table(folder):
    with Reader(folder) as reader:
        connection = reader._query.connection
        count, scans = scans_during([connection], lambda: reader.frozen_vectors.at([-1, 5, 80]))
    assert count == 4
    assert scans == {}
