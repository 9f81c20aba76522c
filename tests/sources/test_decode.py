import os

import numpy as np
import pytest
import torch
from PIL import Image
from sources.image_files import KINDS, decode_png, encode, noise, save, shades

from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.decode import decode
from csim.sources.open_picture import format_of

GREY = shades(30, 40)
COLOUR = np.dstack([shades(30, 40), 255 - shades(30, 40), shades(30, 40) // 2])


def image(picture, shape):
    found = decode(Arrival("some id", picture), shape)
    assert isinstance(found, Decoded), found
    assert found.id == "some id"
    assert found.image.shape == shape
    assert found.image.dtype == np.uint8
    return found.image.astype(int)


def kept(picture, shape=(8, 8)):
    found = decode(Arrival("some id", picture), shape)
    assert isinstance(found, Decoded), found
    return found.kept


def trouble(picture):
    found = decode(Arrival("some id", picture), (8, 8))
    assert isinstance(found, Trouble), found
    assert found.id == "some id"
    return found


def test_a_file_its_bytes_and_its_array_give_the_same_image(tmp_path):
    path = save(encode(GREY), tmp_path / "a.png")
    for picture in (path, path.read_bytes(), GREY):
        assert (image(picture, (30, 40)) == GREY).all()
    for shape in ((9, 16), (9, 16, 3), (60, 80)):
        assert (image(path, shape) == image(GREY, shape)).all()


def test_the_whole_image_is_stretched_to_the_streams_shape():
    for shape in ((8, 8), (60, 10), (100, 100)):
        small = image(COLOUR, (*shape, 3))
        right = np.linspace(0, 150, 2 * shape[1] + 1)[1::2]
        assert abs(small[shape[0] // 2, :, 0] - right - 50).max() < 6


def test_large_images_are_reduced_by_all_their_pixels():
    fine = (
        np.indices((900, 1200)).sum(axis=0) % 2 * 255
    )  # a chess board: any few of its pixels give black or white
    assert abs(image(fine.astype(np.uint8), (10, 10)) - 127.5).max() < 3


def test_colour_becomes_grey_by_its_luma_and_grey_becomes_three_equal_channels():
    luma = COLOUR @ [0.299, 0.587, 0.114]
    assert abs(image(COLOUR, (30, 40)) - luma).max() <= 1
    assert (image(GREY, (30, 40, 3)) == GREY[..., None]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_file_is_kept_as_it_is_unless_browsers_do_not_show_it(kind):
    content = encode(COLOUR, kind)
    if kind == "tiff":
        assert format_of(kept(content)) == "PNG"
        assert (decode_png(kept(content)) == COLOUR).all()
    else:
        assert kept(content) == content


def test_a_file_of_more_than_a_megabyte_is_kept_as_a_jpeg_of_at_most_1024_pixels_a_side():
    content = encode(noise(900, 1400, 3))
    assert len(content) > 1_000_000
    small = decode_png(kept(content))
    assert format_of(kept(content)) == "JPEG"
    assert small.shape == (658, 1024, 3)
    assert len(kept(content)) < 1_000_000


def test_an_array_is_kept_without_loss_if_it_is_small():
    assert (decode_png(kept(GREY)) == GREY).all()
    assert (decode_png(kept(COLOUR)) == COLOUR).all()
    assert decode_png(kept(noise(1200, 1600))).shape == (768, 1024)


def test_what_is_kept_decodes_to_the_same_image_again():
    for picture in (encode(COLOUR), encode(COLOUR, "tiff"), COLOUR, encode(COLOUR, "jpeg")):
        assert (image(kept(picture), (9, 9, 3)) == image(picture, (9, 9, 3))).all()


def test_an_array_may_be_of_any_numbers_and_a_tensor_is_taken_too():
    assert (image(GREY.astype(float), (30, 40)) == GREY).all()
    assert (image(GREY[..., None], (30, 40)) == GREY).all()
    assert (image(COLOUR[:, ::-1][:, ::-1], (30, 40, 3)) == COLOUR).all()
    assert (image(torch.from_numpy(COLOUR).permute(2, 0, 1), (30, 40, 3)) == COLOUR).all()


@pytest.mark.parametrize(
    ("array", "named"),
    [
        (np.zeros((7, 40), np.uint8), "8×8"),
        (np.full((9, 9), 300.0), "between 0 and 255"),
        (np.zeros((9, 9, 4), np.uint8), "RGB"),
        (np.zeros((2, 9, 9, 3), np.uint8), "RGB"),
        (np.zeros(9), "RGB"),
        ("a path as text", "arrays of numbers"),
        (None, "arrays of numbers"),
    ],
)
def test_an_array_that_is_no_image_is_a_trouble_with_the_reason(array, named):
    assert trouble(array).kind == "not-an-image"
    assert named in trouble(array).reason


def test_the_callers_array_is_neither_edited_nor_kept():
    copy = GREY.copy()
    found = decode(Arrival("a", copy), (30, 40))
    assert (copy == GREY).all()
    copy[:] = 0
    assert (found.image == GREY).all()


def test_every_trouble_of_a_file_has_its_kind(tmp_path):
    assert trouble(tmp_path / "gone.png").kind == "vanished"
    assert trouble(tmp_path).kind == "unreadable"
    assert trouble(save(b"", tmp_path / "empty.png")).kind == "empty"
    assert trouble(save(b"a letter", tmp_path / "text.png")).kind == "not-an-image"
    assert trouble(save(encode(COLOUR, "jpeg")[:600], tmp_path / "cut.jpg")).kind == "damaged"
    first = Image.fromarray(noise(9, 9))
    second = Image.fromarray(noise(9, 9, seed=1))
    moving = encode(first, "gif", save_all=True, append_images=[second])
    for name in ("moving.gif", "moving.png"):
        assert trouble(save(moving, tmp_path / name)).kind == "animated"


def test_a_wrong_ending_does_not_matter(tmp_path):
    path = save(encode(COLOUR, "jpeg", quality=95), tmp_path / "really a photograph.png")
    assert abs(image(path, (30, 40, 3)) - COLOUR).max() < 12


def test_a_file_that_may_not_be_read_is_a_trouble(public_folder, as_nobody):
    path = save(encode(GREY), public_folder / "a.png")
    path.chmod(0)
    with as_nobody():
        assert trouble(path).kind == "unreadable"


def test_a_name_of_any_bytes_can_be_read(tmp_path):
    path = save(encode(GREY), tmp_path / os.fsdecode(b"line\nend \xff.png"))
    assert (image(path, (30, 40)) == GREY).all()
