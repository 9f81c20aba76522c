"""Where the model in use places the images whose pictures a stream folder keeps."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from csim.errors import EncoderError
from csim.folder.image_vectors import ImageVectors
from csim.folder.reader import Reader
from csim.report.charts import Panel, project
from csim.report.page import Embedding

NO_CLASS = "no class"
_MOST_IMAGES = 600  # more would take long to project, and hide each other


def project_items(reader: Reader, version: int) -> Embedding | None:
    """Return a t-SNE projection of images by a model; None if fewer than two have a vector.

    Parameters
    ----------
    reader
        The folder.
    version
        The model version, whose file must still be there.
    """
    items = reader.samples.spread(_MOST_IMAGES)
    places = [item.place for item in items]
    known = ImageVectors()
    known.use(reader, version)
    missing = known.missing(reader, places)
    with suppress(EncoderError):  # not installed here: the others need no encoder
        known.embed(reader, missing)
    vectors = known.at(places)
    if len(vectors) < 2:
        return None
    points = project(np.stack([*vectors.values()]), reader.config.settings.seed)
    names = [
        NO_CLASS if item.name is None else item.name for item in items if item.place in vectors
    ]
    return Embedding([Panel(f"model {version}", points)], names)
