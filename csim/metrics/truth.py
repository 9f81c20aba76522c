"""The truth: what each image of the stream really is. Only metrics and the simulated labeller see it."""

from __future__ import annotations

from collections.abc import Mapping

from csim.errors import InputError
from csim.records import ItemId

Truth = Mapping[ItemId, str]  # every image of the stream, in order of arrival, to its class name


def true_class(truth: Truth, item_id: ItemId) -> str:
    """Return what an image of the log really is, or refuse a truth that does not know it.

    >>> true_class({"a": "heron"}, "a")
    'heron'
    """
    try:
        return truth[item_id]
    except KeyError:
        raise InputError(
            f"the truth must name every image of the log; {item_id!r} is not among its {len(truth)} images. "
            "Give the truth of the whole stream"
        ) from None
