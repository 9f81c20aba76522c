"""Views that came with images, as bytes in the safetensors format.

csim keeps them with their step. A replay then uses the very same numbers, and need not ask another
machine to embed the images again, which may round differently.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from safetensors.numpy import load, save

from csim.records import View


def views_to_bytes(views: Sequence[View | None]) -> bytes | None:
    """Return the views of a step's images as bytes; None if there are none."""
    given = [view for view in views if view is not None]
    if not given:
        return None
    indices = [index for index, view in enumerate(views) if view is not None]
    return save(
        {
            "index": np.array(indices, np.int64),
            "vectors": np.array([view.vector for view in given]),  # (m, d)
            "features": np.array([view.features for view in given]),  # (m, f)
            "models": np.array([view.model for view in given], np.int64),
        }
    )


def views_from_bytes(content: bytes | None, count: int) -> list[View | None]:
    """Return what `views_to_bytes` wrote of a step with `count` images."""
    views: list[View | None] = [None] * count
    if content is not None:
        arrays = load(content)
        rows = zip(
            arrays["index"], arrays["vectors"], arrays["features"], arrays["models"], strict=True
        )
        for index, vector, features, model in rows:
            views[index] = View(vector, features, int(model))
    return views
