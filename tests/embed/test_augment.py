import numpy as np
import pytest
import torch

from csim.embed.augment import Augment


def draw_images(count, channels=1, height=5, width=7, seed=0):
    return torch.rand(count, channels, height, width, generator=torch.Generator().manual_seed(seed))


def move(image, down, right):
    """Return the image (channels, h, w) shifted; the border pixels fill the gap."""
    _, height, width = image.shape
    rows = [min(max(row + down, 0), height - 1) for row in range(height)]
    columns = [min(max(column + right, 0), width - 1) for column in range(width)]
    return torch.stack(
        [torch.stack([image[:, row, column] for column in columns], 1) for row in rows], 1
    )


def all_moves(image, shift, *, flip=False):
    moves = {}
    for down in range(-shift, shift + 1):
        for right in range(-shift, shift + 1):
            moved = move(image, down, right)
            moves[down, right, False] = moved
            if flip:
                moves[down, right, True] = moved.flip(2)
    return moves


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("shift", [0, 1, 3])
def test_every_image_is_moved_by_one_of_the_possible_moves(shift, channels, flip):
    images = draw_images(4, channels, height=2, width=4)
    changed = Augment(shift, flip=flip)(images, np.random.default_rng(1))
    assert changed.shape == images.shape
    for image, result in zip(images, changed, strict=True):
        assert any(
            torch.equal(result, possible)
            for possible in all_moves(image, shift, flip=flip).values()
        )


def test_each_image_of_a_batch_has_its_own_move_and_all_moves_come_about_equally_often():
    image = draw_images(1, height=3, width=3)
    count = 1800
    changed = Augment(1, flip=True)(image.repeat(count, 1, 1, 1), np.random.default_rng(0))
    often = [
        float((changed == possible).flatten(1).all(1).sum()) / count
        for possible in all_moves(image[0], 1, flip=True).values()
    ]
    assert often == pytest.approx([1 / 18] * 18, abs=5 * np.sqrt(1 / 18 / count))


def test_half_of_the_images_are_mirrored_left_to_right_and_the_rest_left_alone():
    images = draw_images(400)
    changed = Augment(0, flip=True)(images, np.random.default_rng(0))
    mirrored = [
        torch.equal(result, image.flip(2)) for image, result in zip(images, changed, strict=True)
    ]
    same = [torch.equal(result, image) for image, result in zip(images, changed, strict=True)]
    assert all(a != b for a, b in zip(mirrored, same, strict=True))
    assert np.mean(mirrored) == pytest.approx(0.5, abs=0.1)


def test_without_flip_nothing_is_mirrored():
    images = draw_images(50)
    assert torch.equal(Augment(0)(images, np.random.default_rng(0)), images)


@pytest.mark.parametrize("shape", [(4, 6), (0, 3)])
def test_vectors_pass_unchanged_and_draw_nothing(shape):
    vectors = torch.rand(*shape, generator=torch.Generator().manual_seed(0))
    rng = np.random.default_rng(0)
    assert torch.equal(Augment(2, flip=True)(vectors, rng), vectors)
    assert rng.random() == np.random.default_rng(0).random()


def test_the_callers_images_are_left_alone():
    images = draw_images(20)
    before = images.clone()
    changed = Augment(2, flip=True)(images, np.random.default_rng(0))
    changed += 1
    assert torch.equal(images, before)


def test_the_same_seed_gives_the_same_moves_and_another_seed_others():
    images = draw_images(20)
    first, second, other = (
        Augment(2, flip=True)(images, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_an_empty_batch_stays_empty():
    assert Augment(2, flip=True)(draw_images(0), np.random.default_rng(0)).shape == (0, 1, 5, 7)
