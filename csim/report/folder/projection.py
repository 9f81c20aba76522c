"""Where the model in use places the images whose pictures a stream folder keeps."""

from __future__ import annotations

import numpy as np

from csim.build import open_encoder
from csim.errors import EncoderError
from csim.folder.jobs import read_model
from csim.folder.reader import Reader
from csim.report.charts import Panel, project
from csim.report.page import Embedding
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode

NO_CLASS = "no class"
_MOST_IMAGES = 600  # more would take long to project, and hide each other


def project_items(reader: Reader, version: int) -> Embedding | None:
    """Return a t-SNE projection of images by a model, or None without two images or the encoder.

    Parameters
    ----------
    reader
        The folder.
    version
        The model version, whose file must still be there.
    """
    images = []
    names = []
    for item in reader.samples.spread(_MOST_IMAGES):
        file = reader.picture(item.place)
        decoded = (
            None if file is None else decode(Arrival(item.id, file), reader.config.image_shape)
        )
        if isinstance(decoded, Decoded):
            images.append(decoded.image)
            names.append(NO_CLASS if item.name is None else item.name)
    if len(images) < 2:
        return None
    settings = reader.config.settings
    try:
        encoder = open_encoder(settings, read_model(reader.layout, version))
    except EncoderError:  # not installed here: the rest of the report needs no encoder
        return None
    points = project(encoder.view(np.stack(images)).vectors, settings.seed)
    return Embedding([Panel(f"model {version}", points)], names)
