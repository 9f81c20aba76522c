"""Read the frozen vectors that a stream folder holds: in the log, and in its snapshots.

A snapshot has those of the recent window, of the store and of the questions. The log has those of
the steps after the older snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from csim import checkpoint
from csim.errors import CheckpointError
from csim.folder.inputs import inputs_from_bytes
from csim.folder.layout import Config, Layout
from csim.folder.query import Query
from csim.packing import frozen_vectors
from csim.records import Floats

_IDS = "SELECT items.id, place FROM json_each(?) JOIN items ON place = value"
_STEPS = (
    "SELECT step, pixels FROM steps WHERE pixels IS NOT NULL"
    " AND step IN (SELECT step FROM json_each(?) JOIN items ON place = value)"
)


class FrozenVectors:
    """Read frozen vectors of images; an engine may replace the snapshots meanwhile.

    Parameters
    ----------
    query
        The folder's database.
    layout
        The folder's files.
    config
        Says whether the stream has a frozen encoder.
    """

    def __init__(self, query: Query, layout: Layout, config: Config) -> None:
        self._query = query
        self._layout = layout
        self._config = config

    def at(self, places: Sequence[int]) -> dict[int, Floats]:
        """Return the frozen vectors, (d,), of images by place.

        Images whose vector the folder no longer has are missing. With csim's own network all are.
        """
        if self._config.settings.encoder == "own":
            return {}
        with self._query.transaction():
            found = self._in_log(set(places))
            left = json.dumps([place for place in places if place not in found])
            place_of = dict(self._query.rows(_IDS, left))
            steps = self._query.rows("SELECT step FROM snapshots ORDER BY step DESC")
        for (step,) in steps:
            if not place_of:
                break
            try:
                state = checkpoint.read(self._layout.snapshot(step))
            except CheckpointError:  # replaced since, or damaged: what it held counts as missing
                continue
            for item_id, vector in frozen_vectors(state):
                if (place := place_of.pop(item_id, None)) is not None:
                    found[place] = vector.copy()  # the rest of the snapshot can be freed
        return found

    def _in_log(self, places: set[int]) -> dict[int, Floats]:
        found: dict[int, Floats] = {}
        for step, content in self._query.each(_STEPS, json.dumps([*places])):
            rows = self._query.rows(
                "SELECT place, id FROM items WHERE step = ? ORDER BY place", step
            )
            shape = self._config.image_shape
            for item in inputs_from_bytes(content, rows, shape, is_frozen=True):
                if item.position in places and item.frozen is not None:
                    found[item.position] = item.frozen.copy()
        return found
