import numpy as np
import pytest
from sources.image_files import noise, save

from csim.errors import InputError
from csim.sources.decode import decode
from csim.sources.npz import NpzFile

GREY = noise(13, 9, 11)
COLOUR = noise(3, 9, 11, 3)


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_the_images_come_by_number(tmp_path, write):
    write(tmp_path / "birds.npz", images=GREY, labels=np.arange(13))
    found = list(NpzFile(tmp_path / "birds.npz"))
    assert [arrival.id for arrival in found] == [f"birds.npz#{number:06d}" for number in range(13)]
    assert found[12].id == "birds.npz#000012"
    assert all(
        (decode(one, (9, 11)).image == image).all() for one, image in zip(found, GREY, strict=True)
    )


def test_the_only_array_may_have_any_name_and_the_images_any_numbers(tmp_path):
    np.savez(tmp_path / "a.npz", COLOUR.astype(np.float32))
    found = list(NpzFile(str(tmp_path / "a.npz")))
    assert all(
        (decode(one, (9, 11, 3)).image == image).all()
        for one, image in zip(found, COLOUR, strict=True)
    )


def test_it_can_be_read_again(tmp_path):
    np.savez(tmp_path / "a.npz", GREY)
    source = NpzFile(tmp_path / "a.npz")
    assert [arrival.id for arrival in source] == [arrival.id for arrival in source]


def test_no_images_are_fine(tmp_path):
    np.savez(tmp_path / "a.npz", images=GREY[:0])
    assert list(NpzFile(tmp_path / "a.npz")) == []


def test_an_archive_without_images_is_refused_with_what_it_holds(tmp_path):
    np.savez(tmp_path / "a.npz", x_train=GREY, y_train=np.arange(13))
    with pytest.raises(InputError, match=r"a\.npz.*called images.*x_train, y_train"):
        NpzFile(tmp_path / "a.npz")
    np.savez(tmp_path / "none.npz")
    with pytest.raises(InputError, match="called images"):
        NpzFile(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((9, 11)),
        np.zeros((2, 9, 11, 4)),
        np.full((2, 9, 11), 300),
        np.zeros((2, 3, 3)),
        np.array("a"),
        GREY / 255,
        GREY > 100,
    ],
)
def test_an_array_that_holds_no_images_is_refused_with_the_reason(tmp_path, array):
    np.savez(tmp_path / "a.npz", images=array)
    with pytest.raises(InputError, match=r"a\.npz must be an \.npz file of images"):
        NpzFile(tmp_path / "a.npz")


def test_pickled_objects_are_not_unpacked(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.array([print, GREY], object), allow_pickle=True)
    with pytest.raises(InputError, match=r"a\.npz.*allow_pickle=False"):
        NpzFile(tmp_path / "a.npz")


def test_what_is_no_archive_is_refused_by_name(tmp_path):
    np.savez_compressed(tmp_path / "good.npz", images=GREY)
    intact = (tmp_path / "good.npz").read_bytes()
    np.save(tmp_path / "single.npy", GREY)
    spoilt = bytearray(intact)
    spoilt[len(intact) // 2] ^= 255
    single = (tmp_path / "single.npy").read_bytes()
    for content in (
        b"",
        b"text",
        intact[:-200],
        intact[: len(intact) // 2],
        bytes(spoilt),
        single,
        b"PK\x03\x04",
    ):
        with pytest.raises(InputError, match=r"bad\.npz"):
            NpzFile(save(content, tmp_path / "bad.npz"))
    for path in (tmp_path / "nowhere.npz", tmp_path):
        with pytest.raises(InputError):
            NpzFile(path)
