"""Where the model in use puts the images whose pictures a stream folder keeps, laid flat."""

from __future__ import annotations

from functools import partial

import numpy as np

from csim.build import make_body
from csim.embed.backbone import OwnBackbone
from csim.embed.network import pick_device
from csim.folder.jobs import read_model
from csim.folder.reader import Reader
from csim.report.charts import Panel, project
from csim.report.page import Embedding
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode

NO_CLASS = "no class"
_MOST = 600  # images: more would take long to lay flat, and lie on top of each other
_SAMPLE = (  # as many of each class, spread over the stream: Knuth's multiplicative hashing mixes the places
    "SELECT place, id, name FROM ("
    " SELECT i.place, i.id, t.name,"
    "  row_number() OVER (PARTITION BY t.id ORDER BY abs(i.place) * 2654435761 % 4294967296) AS turn"
    " FROM items i LEFT JOIN classes c ON c.id = i.class_id LEFT JOIN classes t ON t.id = c.today"
    " WHERE i.picture IS NOT NULL"
    ") ORDER BY turn, place LIMIT ?"
)


def lay_flat(reader: Reader, version: int) -> Embedding | None:
    """Return the vectors of some images by a model, on a plane; None if there are too few images.

    Parameters
    ----------
    reader
        The folder.
    version
        The model, whose file must still be there.
    """
    settings, shape = reader.config.settings, reader.config.image_shape
    images, names = [], []
    for place, item_id, name in reader.rows(_SAMPLE, _MOST):
        file = reader.picture(place)
        seen = None if file is None else decode(Arrival(item_id, file), shape)
        if isinstance(seen, Decoded):
            images.append(seen.image)
            names.append(NO_CLASS if name is None else name)
    if len(images) < 2:
        return None
    model = read_model(reader.layout, version)
    encoder = OwnBackbone(partial(make_body, settings), pick_device(settings.device)).open(model)
    points = project(encoder.embed(np.stack(images)), settings.seed)
    return Embedding([Panel(f"model {version}", points)], names)
