import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from csim.errors import InputError
from csim.sources.arrays import check_batches, check_images

BYTES = np.random.default_rng(0).integers(0, 256, (4, 9, 11), dtype=np.uint8)
COLOUR = np.random.default_rng(1).integers(0, 256, (4, 9, 11, 3), dtype=np.uint8)


@pytest.mark.parametrize("given_images", [
    BYTES,
    BYTES.astype(np.int64),
    BYTES.astype(np.uint16),
    BYTES.astype(np.float32),
    BYTES.astype(np.float64),
    BYTES[..., None],
    BYTES.astype(float)[..., None],
    list(BYTES),
    tuple(BYTES),
    BYTES.tolist(),
    [image[..., None] for image in BYTES],
    torch.from_numpy(BYTES)[:, None],
    torch.from_numpy(BYTES)[:, None].float() / 255,
    torch.from_numpy(BYTES)[:, None].double() / 255,
    [image[None].float() / 255 for image in torch.from_numpy(BYTES)],
    torch.from_numpy(BYTES),
    (torch.from_numpy(BYTES)[:, None].float() / 255).requires_grad_(),
    np.asfortranarray(BYTES),
])  # fmt: skip
def test_grey_images_are_taken_in_many_forms(given_images):
    batch = check_images(given_images)
    assert batch.dtype == np.uint8
    assert (batch == BYTES).all()


@pytest.mark.parametrize("given_images", [
    COLOUR,
    COLOUR.astype(float),
    list(COLOUR),
    torch.from_numpy(COLOUR).permute(0, 3, 1, 2),
    torch.from_numpy(COLOUR).permute(0, 3, 1, 2).float() / 255,
    [image.permute(2, 0, 1) for image in torch.from_numpy(COLOUR)],
])  # fmt: skip
def test_colour_images_are_taken_in_many_forms(given_images):
    batch = check_images(given_images)
    assert batch.dtype == np.uint8
    assert (batch == COLOUR).all()


def test_the_first_axis_of_a_tensor_counts_images_even_if_it_could_be_channels():
    assert check_images(torch.zeros(3, 9, 11)).shape == (3, 9, 11)
    assert check_images(torch.zeros(1, 3, 9, 11)).shape == (1, 9, 11, 3)


def test_a_list_of_grey_tensors_without_channels_is_taken():
    assert (check_images(list(torch.from_numpy(BYTES))) == BYTES).all()


@pytest.mark.parametrize("images", [BYTES > 100, list(BYTES > 100), torch.from_numpy(BYTES) > 100])
def test_images_of_true_and_false_are_refused_with_the_remedy(images):
    with pytest.raises(InputError, match=r"true and false.*astype\(np\.uint8\) \* 255"):
        check_images(images)


@pytest.mark.parametrize("images", [
    BYTES / 255,
    (BYTES / 255).astype(np.float32),
    (BYTES / 255)[..., None],
    COLOUR / 255.0,
    list(BYTES / 255),
    (BYTES / 255).tolist(),
    (BYTES > 100).astype(float),
    np.full((1, 8, 8), 0.004),
])  # fmt: skip
def test_floating_point_arrays_of_0_to_1_are_refused_with_the_remedy(images):
    with pytest.raises(InputError, match=r"multiply by 255 and convert to uint8"):
        check_images(images)


def test_the_remedies_in_the_messages_give_the_images_meant():
    images = BYTES / 255
    assert (check_images((images * 255).round().astype(np.uint8)) == BYTES).all()
    images = BYTES > 100
    assert set(np.unique(check_images(images.astype(np.uint8) * 255))) == {0, 255}


def test_a_dark_image_is_fine_as_bytes_as_a_tensor_and_among_brighter_ones():
    dark = np.zeros((1, 8, 8), np.uint8)
    dark[0, 3, 3] = 1
    assert (check_images(dark) == dark).all()
    assert (check_images(torch.from_numpy(dark).float() / 255) == dark).all()
    both = np.concatenate([dark, dark * 200]).astype(float)
    assert (check_images(both) == both).all()
    assert not check_images(np.zeros((1, 8, 8))).any()


def test_the_scale_is_judged_by_all_batches_of_an_input():
    dark = np.full((1, 8, 8), 1.0)
    bright = np.full((1, 8, 8), 200.0)
    assert [batch.max() for batch in check_batches([dark, bright])] == [1, 200]
    with pytest.raises(InputError, match="multiply by 255"):
        check_batches([dark, dark / 2])


def test_fractions_are_rounded_to_the_nearest_shade():
    assert set(check_images(np.full((1, 8, 8), 99.6)).ravel().tolist()) == {100}


@given(st.integers(0, 255))
def test_every_shade_survives_the_way_through_a_tensor(shade):
    tensor = torch.full((1, 1, 8, 8), shade, dtype=torch.float32) / 255
    assert set(check_images(tensor).ravel().tolist()) == {shade}


@pytest.mark.parametrize(
    "empty", [[], np.zeros((0, 9, 11)), torch.zeros(0, 1, 9, 11), np.array([])]
)
def test_an_empty_batch_is_fine(empty):
    assert check_images(empty, (9, 11)).shape == (0, 9, 11)
    assert check_images(empty, (9, 11, 3)).shape == (0, 9, 11, 3)
    assert len(check_images(empty)) == 0


def test_the_callers_array_is_not_edited():
    for images in (
        BYTES.copy(),
        BYTES.astype(float),
        torch.from_numpy(BYTES.copy())[:, None].float() / 255,
    ):
        before = images.clone() if hasattr(images, "clone") else images.copy()
        check_images(images)
        assert (images == before).all()


@pytest.mark.parametrize(
    "shape", [(9, 11), (2, 2, 9, 11, 3), (9,), (2, 9, 11, 4), (2, 9, 11, 2), ()]
)
def test_a_shape_that_is_no_batch_is_refused_and_named(shape):
    with pytest.raises(InputError) as caught:
        check_images(np.zeros(shape))
    assert str(shape) in str(caught.value)
    assert "(n, h, w)" in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "named"), [((2, 7, 9), "7×9"), ((2, 30, 1), "30×1"), ((2, 7, 7, 3), "7×7")]
)
def test_images_that_are_too_small_are_refused_with_their_size(shape, named):
    with pytest.raises(InputError, match=f"at least 8×8 pixels, got {named}"):
        check_images(np.zeros(shape))


@pytest.mark.parametrize("shape", [(3, 0, 8), (3, 8, 0), (3, 0, 0, 3)])
def test_images_without_a_pixel_are_refused_not_lost(shape):
    with pytest.raises(InputError):
        check_images(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("shape", [(2, 9, 12), (2, 9, 11, 3), (2, 11, 9)])
def test_images_of_another_shape_than_the_streams_are_refused_with_both(shape):
    with pytest.raises(InputError) as caught:
        check_images(np.zeros(shape), (9, 11))
    assert "(9, 11)" in str(caught.value)
    assert str(shape[1:]) in str(caught.value)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (256, "256"),
        (-1, "-1"),
        (255.4, "255.4"),
        (np.inf, "inf"),
        (-np.inf, "-inf"),
        (1e300, r"1e\+300"),
        (65535, "65535"),
    ],
)
def test_values_outside_0_to_255_are_refused_and_named(value, named):
    images = np.zeros((2, 8, 8), np.int64 if isinstance(value, int) else np.float64)
    images[1, 3, 3] = value
    with pytest.raises(InputError, match=f"between 0 and 255, .*{named}"):
        check_images(images)


def test_tensors_that_were_normalised_are_refused():
    with pytest.raises(InputError, match="between 0 and 255"):
        check_images(torch.randn(2, 1, 8, 8, generator=torch.Generator().manual_seed(0)))


def test_values_that_are_not_numbers_are_refused():
    images = np.zeros((2, 8, 8))
    images[0, 0, 0] = np.nan
    with pytest.raises(InputError, match="NaN"):
        check_images(images)


@pytest.mark.parametrize(
    ("images", "named"),
    [
        ("photo.png", "<U9"),
        (["a.png", "b.png"], "<U5"),
        (None, "object"),
        ([None, None], "object"),
        (np.zeros((2, 8, 8), complex), "complex128"),
        (np.zeros((2, 8, 8), "datetime64[s]"), "datetime64"),
        ({"a": 1}, "object"),
        (b"bytes", "S5"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused_by_its_type(images, named):
    with pytest.raises(InputError, match=named):
        check_images(images)


@pytest.mark.parametrize(
    "images",
    [
        [np.zeros((8, 8)), np.zeros((9, 9))],
        [np.zeros((8, 8)), np.zeros((8, 8, 3))],
        [torch.zeros(1, 8, 8), torch.zeros(1, 9, 9)],
        [torch.zeros(1, 8, 8), torch.zeros(3, 8, 8)],
    ],
    ids=["sizes", "grey and colour", "tensors' sizes", "tensors' channels"],
)
def test_images_of_different_shapes_are_refused(images):
    with pytest.raises(InputError, match="same shape"):
        check_images(images)
