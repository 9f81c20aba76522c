"""How fast a stream goes: when images came, how many per second, how long answers take."""

from __future__ import annotations

from statistics import median

from csim.folder.query import Query

_MOST_SECONDS = 60.0  # before the last image, over which images per second are counted
_MOST_ANSWERS = 100  # the newest, so that the time to read them does not grow
_LAST_IMAGE = (
    "SELECT place, (SELECT time FROM steps WHERE steps.step = items.step) FROM items"
    " WHERE place = (SELECT max(place) FROM items) AND place > 0"
)
_ANSWERS = (
    "SELECT answered - time FROM questions WHERE status = 'answered' ORDER BY id DESC LIMIT ?"
)


class Times:
    """Read wall-clock times of a stream folder; an older csim recorded none.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def last_image(self) -> float | None:
        """Return when the last image came: seconds since 1970, in UTC."""
        return self._last()[1]

    def images_per_second(self) -> float | None:
        """Return the rate over the last minute before the last image."""
        place, end = self._last()
        first: float | None = self._query.value(
            "SELECT min(time) FROM steps WHERE time IS NOT NULL"
        )
        if end is None or first is None or end <= first:
            return None
        seconds = min(_MOST_SECONDS, end - first)
        before = int(
            self._query.value(
                "SELECT position FROM steps WHERE time <= ? ORDER BY time DESC LIMIT 1",
                end - seconds,
            )
        )
        return max(0.0, (place - before) / seconds)  # a clock may have been set back

    def seconds_to_answer(self) -> float | None:
        """Return the median time between a question and its answer, of the newest answers."""
        found = [row[0] for row in self._query.rows(_ANSWERS, _MOST_ANSWERS)]
        known = [seconds for seconds in found if seconds is not None]
        return median(known) if known else None

    def _last(self) -> tuple[int, float | None]:
        rows = self._query.rows(_LAST_IMAGE)
        return rows[0] if rows else (0, None)
