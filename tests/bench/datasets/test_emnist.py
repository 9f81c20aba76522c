import io

import numpy as np
import pytest
from bench.datasets.makers import LABELS, idx, zipped

from csim.bench.datasets.emnist import MEMBERS, from_archive, from_files
from csim.errors import InputError

UPRIGHT = np.random.default_rng(3).integers(0, 256, (6, 28, 28), dtype=np.uint8)


def stored():
    """Return the four files as NIST stores them, with rows and columns swapped."""
    images = np.empty_like(UPRIGHT)
    for number in range(6):
        for row in range(28):
            for column in range(28):
                images[number, column, row] = UPRIGHT[number, row, column]
    return dict(
        zip(
            MEMBERS,
            [idx(images[:4]), idx(LABELS[:4]), idx(images[4:]), idx(LABELS[4:])],
            strict=True,
        )
    )


def file_of(content, name="gzip.zip"):
    file = io.BytesIO(content)
    file.name = name
    return file


def test_the_members_are_called_as_nist_calls_them():
    assert MEMBERS == (
        "emnist-balanced-train-images-idx3-ubyte.gz",
        "emnist-balanced-train-labels-idx1-ubyte.gz",
        "emnist-balanced-test-images-idx3-ubyte.gz",
        "emnist-balanced-test-labels-idx1-ubyte.gz",
    )


def test_extracted_files_come_out_upright():
    images, labels = from_files([file_of(content, name) for name, content in stored().items()])
    assert (images == UPRIGHT).all()
    assert images.flags.c_contiguous
    assert (labels == LABELS).all()


@pytest.mark.parametrize("folder", ["gzip/", "", "../../"])
def test_the_archive_is_read_in_memory_whatever_folder_its_members_have(
    folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    others = {
        "gzip/emnist-letters-train-images-idx3-ubyte.gz": b"",
        "gzip/emnist-balanced-mapping.txt": b"0 48",
    }
    members = {f"{folder}{name}": content for name, content in stored().items()}
    images, labels = from_archive([file_of(zipped(others | members))])
    assert (images == UPRIGHT).all()
    assert (labels == LABELS).all()
    assert list(tmp_path.iterdir()) == []


def test_an_archive_without_a_member_is_refused_with_its_name():
    members = stored()
    del members[MEMBERS[3]]
    with pytest.raises(InputError, match=r"gzip\.zip must hold emnist-balanced-test-labels"):
        from_archive([file_of(zipped(members))])


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-30], lambda packed: b"no zip", lambda packed: b""]
)
def test_a_damaged_archive_is_refused_by_name(damage):
    with pytest.raises(InputError, match=r"gzip\.zip is damaged"):
        from_archive([file_of(damage(zipped(stored())))])


def test_a_member_whose_bytes_were_changed_is_refused():
    packed = bytearray(zipped(stored()))
    packed[200] ^= 0xFF
    with pytest.raises(InputError, match=r"gzip\.zip is damaged"):
        from_archive([file_of(bytes(packed))])


def test_a_damaged_member_is_refused_by_name():
    with pytest.raises(
        InputError, match=r"emnist-balanced-train-images-idx3-ubyte\.gz in gzip\.zip is damaged"
    ):
        from_archive([file_of(zipped(stored() | {MEMBERS[0]: b"x"}))])
