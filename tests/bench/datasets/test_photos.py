"""Photographs by name: folders, the authors' archives, and what is refused."""

import dataclasses
import io

import numpy as np
import pytest
from bench.datasets.makers import published, tar, zipped
from PIL import Image
from scipy.io import savemat

from csim.bench.datasets.catalogue import NAMES, load
from csim.bench.datasets.files import DataFolders
from csim.bench.datasets.photos import SETS, from_flowers, from_zip_of_folders
from csim.bench.datasets.photos import load as load_photos
from csim.errors import InputError

GROCERIES, _, _, EUROSAT, FLOWERS = SETS
RED, GREEN, BLUE = (250, 0, 0), (0, 250, 0), (0, 0, 250)


def jpeg(colour, size=(20, 12)):
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "JPEG")
    return file.getvalue()


def no_download(file, target):
    raise InputError("there is no network")


def folders_in(path):
    return DataFolders((path / "data", path / "cache"), no_download)


def put(path, photos, *contents):
    """Put archives where csim looks, and return the set with their checksums."""
    home = path / "data" / photos.name
    home.mkdir(parents=True)
    files = []
    for file, content in zip(photos.files, contents, strict=True):
        (home / file.name).write_bytes(content)
        files.append(published(file.name, content))
    return dataclasses.replace(photos, files=tuple(files), count=3)


def labels_file(labels):
    file = io.BytesIO()
    savemat(file, {"labels": np.array([labels], np.uint8)})
    return file.getvalue()


def eurosat(**more):
    land = {"2750/Forest/Forest_2.jpg": jpeg(GREEN), "2750/River/River_1.jpg": jpeg(BLUE)}
    return zipped(land | {"2750/Forest/Forest_1.jpg": jpeg(RED), "2750/readme.txt": b"land"} | more)


def colours_of(data):
    return [tuple(np.rint(image.mean(axis=(0, 1)) / 250).astype(int)) for image in data.images]


@pytest.mark.parametrize("place", ["data", "cache"])
def test_a_folder_with_a_subfolder_per_class_is_read_by_name(place, tmp_path):
    for name, colour in (("leek", GREEN), ("tomato", RED)):
        home = tmp_path / place / "photos" / "groceries" / name
        home.mkdir(parents=True)
        for index, size in enumerate([(20, 12), (9, 30)]):
            (home / f"{index}.jpg").write_bytes(jpeg(colour, size))
    data = load_photos(GROCERIES, folders_in(tmp_path), (16, 24))
    assert data.names == ["leek", "leek", "tomato", "tomato"]
    assert data.images.shape == (4, 16, 24, 3)
    assert colours_of(data) == [(0, 1, 0)] * 2 + [(1, 0, 0)] * 2


def test_the_folder_comes_before_the_archive(tmp_path):
    photos = put(tmp_path, EUROSAT, eurosat())
    for name in ("a", "b"):
        home = tmp_path / "data" / "photos" / "eurosat" / name
        home.mkdir(parents=True)
        for index in range(2):
            (home / f"{index}.jpg").write_bytes(jpeg(RED))
    assert load_photos(photos, folders_in(tmp_path)).names == ["a", "a", "b", "b"]


def test_an_archive_of_folders_gives_its_photographs_in_order(tmp_path):
    data = load_photos(put(tmp_path, EUROSAT, eurosat()), folders_in(tmp_path))
    assert data.names == ["Forest", "Forest", "River"]
    assert data.images.shape == (3, 64, 64, 3)
    assert colours_of(data) == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_a_flower_has_the_number_of_its_file(tmp_path):
    members = {
        "jpg/image_00003.jpg": jpeg(BLUE, (30, 9)),
        "jpg/image_00001.jpg": jpeg(RED),
        "jpg/image_00002.jpg": jpeg(GREEN),
    }
    photos = put(tmp_path, FLOWERS, tar(members), labels_file([77, 5, 102]))
    data = load_photos(photos, folders_in(tmp_path), (224, 224, 3))
    assert data.names == ["102", "77", "5"]
    assert data.images.shape == (3, 224, 224, 3)
    assert colours_of(data) == [(0, 0, 1), (1, 0, 0), (0, 1, 0)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "is damaged"),
        (eurosat()[:-200], "is damaged"),
        (eurosat(**{"2750/River/River_2.jpg": b"text"}), "a picture of River"),
        (zipped({"2750/River/River_2.jpg": jpeg(RED)}), "3 photographs expected, it holds 1"),
        (eurosat(**{"2750/River/River_2.jpg": jpeg(RED)}), "is damaged"),
    ],
)
def test_a_bad_archive_is_refused(content, said, tmp_path):
    with pytest.raises(InputError, match=said) as caught:
        load_photos(put(tmp_path, EUROSAT, content), folders_in(tmp_path))
    assert "EuroSAT.zip" in str(caught.value)
    assert "fetch it again" in str(caught.value)


def test_a_flower_without_a_label_is_refused(tmp_path):
    photos = put(tmp_path, FLOWERS, tar({"jpg/image_00009.jpg": jpeg(RED)}), labels_file([1, 2]))
    with pytest.raises(InputError, match=r"102flowers\.tgz is damaged"):
        load_photos(photos, folders_in(tmp_path))


def test_what_is_missing_is_named_with_its_place(tmp_path):
    with pytest.raises(InputError, match="groceries are missing") as caught:
        load_photos(GROCERIES, folders_in(tmp_path))
    assert str(tmp_path / "data" / "photos" / "groceries") in str(caught.value)
    with pytest.raises(InputError, match=r"EuroSAT\.zip is missing.*c8fa014336c82ac"):
        load_photos(EUROSAT, folders_in(tmp_path))


def test_every_set_has_a_name_in_the_catalogue(tmp_path, monkeypatch):
    assert {photos.name for photos in SETS} <= set(NAMES)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InputError, match="groceries are missing"):
        load("groceries", tmp_path)


@pytest.mark.parametrize("read", [from_zip_of_folders, from_flowers])
def test_an_archive_without_photographs_yields_none(read):
    files = {
        from_zip_of_folders: [zipped({})],
        from_flowers: [tar({"jpg/notes.txt": b"none"}), labels_file([1])],
    }
    assert list(read([io.BytesIO(content) for content in files[read]])) == []
