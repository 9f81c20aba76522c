"""Spaces: the same images as pixels, and as vectors of networks that know some classes.

The networks are those of `paper` and `default` after the warm-up; the metric learners learn from
the same images. The sample has images of all classes, and nothing has learned from any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.learners.catalogue import LEARNERS, learner_of
from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.methods import settings_of
from csim.bench.vectors.samples import columns_of, hold_out
from csim.classifier import StreamClassifier
from csim.errors import InputError
from csim.records import Bools, Floats, Images, Ints
from csim.settings import Settings

PIXELS = "pixels"
TITLES = {
    PIXELS: "pixels",
    "paper": "vectors of paper's network",
    "default": "vectors of the default's network",
}
SPACES = tuple(TITLES)
TITLES |= {"lmnn": "LMNN", "hdml": "HDML", "gb-lmnn": "GB-LMNN", "sklr": "SKLR"}
EVERY_SPACE = tuple(TITLES)
# Images per known class in a stream's warm-up: 1,000 are labelled, and a tenth is held out.
_WARM_UP_IMAGES = 900


@dataclass(frozen=True)
class Sample:
    """Hold labelled images of some classes to learn from, and images of all classes to embed.

    Parameters
    ----------
    warm_up, warm_up_names
        What a network learns from; its classes are the known ones.
    images, names
        What is embedded, ordered by class.
    """

    warm_up: Images
    warm_up_names: list[str]
    images: Images
    names: list[str]

    @property
    def known(self) -> list[str]:
        """Return the known classes, in order."""
        return sorted(set(self.warm_up_names))

    @property
    def classes(self) -> list[str]:
        """Return all classes, in order."""
        return sorted(set(self.names))

    @property
    def columns(self) -> Ints:
        """Return the index of each image's class in `classes`, (n,)."""
        return columns_of(self.names, self.classes)

    @property
    def is_known(self) -> Bools:
        """Tell which images are of known classes, (n,)."""
        return np.isin(np.array(self.names), self.known)


def of_stream(case: Case, data: DataSet, per_class: int) -> Sample:
    """Return a stream's warm-up, and a sample of the images that follow it.

    Parameters
    ----------
    case
        Its seed draws the stream and the sample; its method does not matter.
    data
        Where images come from.
    per_class
        Images of every class to embed; all of a class that has fewer. Higher measures more exactly
        and takes longer, with its square.
    """
    stream = case.stream(data)
    drawn = _draw(DataSet(data.name, stream.images, stream.names), per_class, case.seed)
    return Sample(stream.warm_up, stream.warm_up_names, drawn.images, drawn.names)


def of_classes(data: DataSet, known: Sequence[str], per_class: int, seed: int) -> Sample:
    """Return a sample with chosen known classes, and as many images to learn from as in a stream.

    Parameters
    ----------
    data
        Where images come from.
    known
        The classes to learn.
    per_class
        Images of every class to embed. Higher measures more exactly and takes longer.
    seed
        Draws the images to learn from and those to embed.
    """
    if absent := sorted(set(known) - set(data.names)):
        raise InputError(
            f"{data.name} must have the classes {', '.join(known)}; it has no {absent[0]!r}, so "
            "choose another data set"
        )
    smallest = min(Counter(data.names).values())
    rest, labelled = hold_out(data, min(_WARM_UP_IMAGES, smallest // 2), seed)
    is_warm_up = np.isin(np.array(labelled.names), known)
    drawn = _draw(rest, per_class, seed)
    warm_up_names = [name for name in labelled.names if name in known]
    return Sample(labelled.images[is_warm_up], warm_up_names, drawn.images, drawn.names)


def embed(sample: Sample, space: str, seed: int) -> Floats:
    """Return a sample's images in a space, (n, d): grey values of 0 to 1, or a learned embedding.

    Parameters
    ----------
    sample
        The images, and what a network learns from.
    space
        One of `EVERY_SPACE`: `pixels`, the method whose network embeds, or a metric learner.
    seed
        Draws the first weights and the batches.
    """
    if space == PIXELS:
        return _pixels(sample.images)
    if space in LEARNERS:
        learner = learner_of(space, seed=seed).fit(_pixels(sample.warm_up), sample.warm_up_names)
        return learner.transform(_pixels(sample.images))
    settings = settings_of(space, seed=seed, changes={})
    assert isinstance(settings, Settings)
    return (
        StreamClassifier(settings)
        .fit(sample.warm_up, sample.warm_up_names)
        .transform(sample.images)
    )


def _pixels(images: Images) -> Floats:
    return images.reshape(len(images), -1).astype(np.float32) / 255


def _draw(data: DataSet, per_class: int, seed: int) -> DataSet:
    return hold_out(data, per_class, seed)[1]
