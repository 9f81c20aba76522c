"""Times as text, in UTC whatever the machine's zone is."""

import time

import pytest

from csim.utc import duration, utc


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, None),
        (0, "1970-01-01T00:00:00.000Z"),
        (1_763_368_200.25, "2025-11-17T08:30:00.250Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
    ],
)
def test_a_time_is_written_in_utc(seconds, text, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert utc(seconds) == text
    finally:
        monkeypatch.undo()
        time.tzset()


def test_texts_sort_like_times():
    moments = [0.001, 0.5, 59.999, 60, 3600, 86_400, 1e9, 2e9]
    assert sorted(map(utc, moments)) == [utc(moment) for moment in moments]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (119.4, "119 seconds"),
        (120, "2 minutes"),
        (7199, "120 minutes"),
        (7200, "2 hours"),
        (172_800, "2 days"),
        (3e7, "347 days"),
    ],
)
def test_a_length_of_time_has_the_unit_that_suits_it(seconds, text):
    assert duration(seconds) == text
