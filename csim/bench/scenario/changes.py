"""Scenarios that keep the paper's order and change the images: fewer of some classes, or others than at the start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from csim.bench.datasets import DataSet
from csim.bench.scenario.arrivals import paper_stream
from csim.bench.scenario.split import Stream, check
from csim.errors import SettingsError
from csim.records import Images

_RARITY = 1  # set beside the seed, so that rare is not the same draw as new
_ANGLES = 60  # steps of the rotation over the stream: half a degree each by default


def long_tail(
    data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000, rarest: float = 1 / 50
) -> Stream:
    """Return the paper's stream of a data set in which some classes are rare.

    Class sizes fall geometrically from the largest to the rarest. Which class is how rare is drawn; images beyond a
    class's size are left out, and as few as the ratios allow. A rare known class has few labelled images, too.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same classes are known.
    rarest
        Size of the rarest class over the largest's, though no class falls below 2 images. Raising it makes the stream
        more even; at 1 all classes are of one size.
    """
    if not 0 < rarest <= 1:
        raise SettingsError(f"rarest must be above 0 and at most 1, got {rarest}")
    check(data, known_share=known_share, seed=seed, warm_up=warm_up)
    thinned = _thin(data, rarest, np.random.default_rng([seed, _RARITY]))
    return paper_stream(thinned, known_share=known_share, seed=seed, warm_up=warm_up)


def drift(
    data: DataSet,
    *,
    known_share: float,
    seed: int,
    warm_up: int = 1000,
    degrees: float = 30.0,
    brightness: float = 0.6,
) -> Stream:
    """Return the paper's stream with images that change little by little, from nothing at the start to all at the end.

    Warm-up and held-out images stay as they are. What a turn brings in from outside an image repeats its edge.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same images come in the same order.
    degrees
        Turn of the last image, counter-clockwise, from -180 to 180. Raising it makes known classes look less and
        less like their warm-up.
    brightness
        Factor on the last image's values, from 0 to 2; what passes 255 stays at 255. Raising it above 1 makes images
        brighter, lowering it below 1 darker.
    """
    if not -180 <= degrees <= 180:
        raise SettingsError(f"degrees must lie between -180 and 180, got {degrees}")
    if not 0 < brightness <= 2:
        raise SettingsError(f"brightness must be above 0 and at most 2, got {brightness}")
    stream = paper_stream(data, known_share=known_share, seed=seed, warm_up=warm_up)
    return replace(stream, images=_turn_and_dim(stream.images, degrees, brightness))


def _thin(data: DataSet, rarest: float, rng: np.random.Generator) -> DataSet:
    classes, labels, sizes = np.unique(
        np.array(data.names), return_inverse=True, return_counts=True
    )
    shares = rng.permutation(np.geomspace(1, rarest, len(classes)))
    largest = (sizes / shares).min()  # the most that leaves every class enough images
    wanted = np.maximum(np.rint(largest * shares), 2).astype(int)
    kept = [rng.permutation(np.flatnonzero(labels == c))[:count] for c, count in enumerate(wanted)]
    places = np.sort(np.concatenate(kept))
    return DataSet(data.name, data.images[places], [data.names[place] for place in places])


def _turn_and_dim(images: Images, degrees: float, brightness: float) -> Images:
    """Change images (n, h, w[, 3]) more and more; those of nearly the same angle are turned in one go."""
    progress = np.linspace(0, 1, len(images))
    factors = (1 + progress * (brightness - 1)).reshape(-1, *[1] * (images.ndim - 1))
    steps = np.rint(progress * _ANGLES)
    changed = np.empty_like(images)
    for step in np.unique(steps):
        own, angle = steps == step, step / _ANGLES * degrees
        turned = ndimage.rotate(
            images[own],
            angle,
            axes=(1, 2),
            reshape=False,
            output=np.float32,
            order=1,
            mode="nearest",
        )
        changed[own] = np.rint(turned * factors[own]).clip(0, 255)
    return changed
