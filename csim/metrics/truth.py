"""The true class of each image of a stream, for the metrics and the simulated labeller only."""

from __future__ import annotations

from collections.abc import Mapping

from csim.errors import InputError
from csim.records import ItemId

Truth = Mapping[ItemId, str]  # every image of the stream, in order of arrival, to its class name


def true_class(truth: Truth, item_id: ItemId) -> str:
    """Return the true class of an image. Raise `InputError` if the truth lacks the image.

    >>> true_class({"a": "heron"}, "a")
    'heron'
    """
    try:
        return truth[item_id]
    except KeyError:
        raise InputError(
            f"the truth must name every image of the log; {item_id!r} is not among its "
            f"{len(truth)} images. Pass the truth of the entire stream"
        ) from None
