import gzip
import struct

import numpy as np
import pytest
from sklearn.datasets import load_digits

from csim.bench.datasets import DataSet
from csim.bench.datasets.digits import digits
from csim.bench.datasets.idx import data_folder, load
from csim.errors import InputError

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 9, 8), dtype=np.uint8)
LABELS = np.array([3, 0, 9, 1, 1], np.uint8)


def idx(array, magic=None):
    header = struct.pack(f">{1 + array.ndim}I", (0x800 + array.ndim) if magic is None else magic, *array.shape)
    return gzip.compress(header + array.tobytes())


def write(folder, name="mnist", **changes):
    """Write a tiny data set, three images to train and two to test, with some files as given in `changes`."""
    files = {
        "train_images": idx(IMAGES[:3]),
        "train_labels": idx(LABELS[:3]),
        "t10k_images": idx(IMAGES[3:]),
        "t10k_labels": idx(LABELS[3:]),
    } | changes
    (folder / name).mkdir(parents=True, exist_ok=True)
    for key, content in files.items():
        part, kind = key.split("_")
        if content is not None:
            path = folder / name / f"{part}-{kind}-idx{3 if kind == 'images' else 1}-ubyte.gz"
            path.write_bytes(content)
    return folder


def test_train_and_test_images_are_read_in_this_order(tmp_path):
    data = load("mnist", write(tmp_path))
    assert (data.images == IMAGES).all()
    assert data.images.dtype == np.uint8
    assert data.names == ["3", "0", "9", "1", "1"]
    assert data.name == "mnist"


def test_fashion_classes_have_their_titles(tmp_path):
    data = load("fashion-mnist", write(tmp_path, "fashion-mnist"))
    assert data.names == ["Dress", "T-shirt/top", "Ankle boot", "Trouser", "Trouser"]


def test_the_folder_is_taken_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("CSIM_DATA", str(write(tmp_path)))
    assert data_folder() == tmp_path
    assert len(load("mnist").images) == 5


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_folder_it_says_what_to_set(monkeypatch, value):
    monkeypatch.delenv("CSIM_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("CSIM_DATA", value)
    with pytest.raises(InputError, match="CSIM_DATA"):
        load("mnist")


def test_a_data_set_that_is_not_known_is_refused_with_those_that_are(tmp_path):
    with pytest.raises(InputError, match="fashion-mnist, mnist; got 'cifar'"):
        load("cifar", tmp_path)


def test_a_missing_file_is_named(tmp_path):
    write(tmp_path, t10k_labels=None)
    with pytest.raises(InputError, match=r"t10k-labels-idx1-ubyte\.gz is missing"):
        load("mnist", tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        idx(IMAGES[:3])[:-12],
        idx(IMAGES[:3])[:30],
        b"",
        b"not gzip at all",
        idx(IMAGES[:3])[:60] + b"\0" * 40,
        idx(IMAGES[:3], magic=0x803 + 1),
        idx(IMAGES[:3], magic=0xD03),
        idx(LABELS),
        gzip.compress(struct.pack(">4I", 0x803, 3, 9, 8) + b"\0" * 10),
        gzip.compress(struct.pack(">4I", 0x803, 3, 9, 8) + b"\0" * 1000),
        gzip.compress(struct.pack(">4I", 0x803, 3, 9, 8)),
        gzip.compress(b"\0\0"),
        gzip.compress(b""),
    ],
    ids=[
        "gzip cut at its end", "gzip cut early", "empty", "not gzip", "gzip damaged", "other magic", "other type",
        "one dimension", "too few bytes", "too many bytes", "header only", "two bytes", "nothing in it",
    ],
)  # fmt: skip
def test_a_damaged_or_foreign_file_is_refused_by_name(tmp_path, content):
    write(tmp_path, train_images=content)
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte\.gz is"):
        load("mnist", tmp_path)


def test_a_label_beyond_the_ten_classes_is_refused(tmp_path):
    write(tmp_path, train_labels=idx(np.array([3, 10, 255], np.uint8)))
    with pytest.raises(InputError):
        load("mnist", tmp_path)


def test_images_and_labels_of_different_number_are_refused(tmp_path):
    write(tmp_path, train_labels=idx(LABELS[:2]))
    with pytest.raises(InputError, match="5 images but 4 names"):
        load("mnist", tmp_path)


def test_a_data_set_has_a_name_for_every_image():
    with pytest.raises(InputError, match="birds has 5 images but 1 names"):
        DataSet("birds", IMAGES, ["heron"])


def test_the_digits_are_scikit_learns_spread_over_all_shades():
    data, bunch = digits(), load_digits()
    assert data.images.shape == (1797, 8, 8)
    assert data.images.dtype == np.uint8
    assert (data.images.min(), data.images.max()) == (0, 255)
    assert [int(name) for name in data.names] == bunch.target.tolist()
    assert np.abs(data.images / 255 - bunch.images / 16).max() < 0.002 + 0.5 / 255
