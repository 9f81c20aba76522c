import gzip
import struct

import numpy as np
import pytest
from bench.datasets.makers import IMAGES, LABELS, idx

from csim.bench.datasets.idx import read_pairs, unpack
from csim.errors import InputError

PARTS = {
    "train-images": idx(IMAGES[:4]),
    "train-labels": idx(LABELS[:4]),
    "test-images": idx(IMAGES[4:]),
    "test-labels": idx(LABELS[4:]),
}


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens the four files, with some contents replaced."""
    files = []

    def open_all(changes=None):
        for name, content in (PARTS | (changes or {})).items():
            (tmp_path / name).write_bytes(content)
            files.append((tmp_path / name).open("rb"))
        return files

    yield open_all
    for file in files:
        file.close()


def test_parts_are_joined_in_their_order(opened):
    images, labels = read_pairs(opened())
    assert (images == IMAGES).all()
    assert (labels == LABELS).all()
    assert images.dtype == labels.dtype == np.uint8


def test_the_arrays_can_be_written_to(opened):
    images, labels = read_pairs(opened()[:2])
    images[0] = 0
    labels[0] = 0


def test_a_file_without_images_is_an_empty_array():
    assert unpack(idx(IMAGES[:0]), 3, "here").shape == (0, 9, 8)


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
        gzip.compress(struct.pack(">4I", 0x803, 2**32 - 1, 2**32 - 1, 2**32 - 1)),
        gzip.compress(b"\0\0"),
        gzip.compress(b""),
    ],
    ids=[
        "gzip cut at its end", "gzip cut early", "empty", "not gzip", "gzip damaged",
        "other magic", "other type", "one dimension", "too few bytes", "too many bytes",
        "header only", "absurd shape", "two bytes", "nothing in it",
    ],
)  # fmt: skip
def test_a_damaged_or_foreign_file_is_refused_by_name(opened, content):
    with pytest.raises(InputError, match=r"train-images is "):
        read_pairs(opened({"train-images": content}))


def test_images_and_labels_of_different_number_are_refused(opened):
    with pytest.raises(InputError, match=r"test-images has 2 images but 1 labels"):
        read_pairs(opened({"test-labels": idx(LABELS[5:])}))
