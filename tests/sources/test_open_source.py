import io

import numpy as np
import pytest
from sources.image_files import encode, save, shades

from csim.errors import InputError
from csim.sources.decode import decode
from csim.sources.directory import Directory
from csim.sources.npz import NpzFile
from csim.sources.open_source import open_source
from csim.sources.video import Video
from csim.sources.watch import WatchedDirectory

IMAGE = encode(shades(9, 9))


def test_a_folder_is_walked_or_watched(tmp_path):
    save(IMAGE, tmp_path / "folder.mp4" / "a.png")  # its name alone does not make it a video
    source = open_source(str(tmp_path / "folder.mp4"))
    assert isinstance(source, Directory)
    assert [arrival.id for arrival in source] == ["a.png"]
    assert isinstance(open_source(str(tmp_path), watch=True), WatchedDirectory)


@pytest.mark.parametrize("name", ["a.png", "B.JPG", "c.tiff"])
def test_an_image_is_a_source_of_one(tmp_path, name):
    path = save(IMAGE, tmp_path / name)
    (arrival,) = open_source(str(path))
    assert arrival.id == str(path)
    assert decode(arrival, (9, 9)).kept == IMAGE


def test_archives_and_videos_are_known_by_their_ending(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.zeros((2, 9, 9), np.uint8))
    assert isinstance(open_source(str(tmp_path / "a.npz")), NpzFile)
    for name in ("a.mp4", "B.MKV", "c.avi"):
        assert isinstance(open_source(str(save(b"film", tmp_path / name)), every=0.5), Video)


def test_a_dash_is_a_list_of_files_on_standard_input(tmp_path):
    path = save(IMAGE, tmp_path / "line\nend.png")
    lines = open_source("-", stdin=io.BytesIO(b"a.png\nb.png\n"))
    assert [arrival.id for arrival in lines] == ["a.png", "b.png"]
    (arrival,) = open_source("-", stdin=io.BytesIO(f"{path}\0".encode()), null=True)
    assert decode(arrival, (9, 9)).kept == IMAGE


@pytest.mark.parametrize("name", ["nowhere", "notes.txt", "moving.gif", "array.npy"])
def test_anything_else_is_refused_with_what_is_possible(tmp_path, name):
    if name != "nowhere":
        save(b"something", tmp_path / name)
    with pytest.raises(
        InputError,
        match=rf"{name}.*a source is a folder, an image \(\.png.*\.npz.*\.mp4.*standard input",
    ):
        open_source(str(tmp_path / name))


@pytest.mark.parametrize(
    ("options", "name", "named"),
    [
        ({"watch": True}, "a.png", "watch works with a folder only"),
        ({"watch": True}, "-", "watch works with a folder only"),
        ({"every": 1.0}, "", "every works with a video only"),
        ({"null": True}, "", "null works with a list only"),
    ],
)
def test_an_option_of_another_kind_of_source_is_refused(tmp_path, options, name, named):
    save(IMAGE, tmp_path / "a.png")
    with pytest.raises(InputError, match=named):
        open_source(name if name == "-" else str(tmp_path / name), **options)
