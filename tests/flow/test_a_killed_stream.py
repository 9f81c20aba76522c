"""A stream that is killed at random moments ends like one that was never killed."""

import pytest

from csim.bench.durability.killing import kill


@pytest.mark.slow
def test_a_stream_killed_ten_times_ends_like_one_that_was_never_killed(tmp_path):
    outcome = kill(tmp_path, images=5000, kills=10, seed=3)
    assert outcome.kills >= 10
    assert outcome.answers > 50
    assert outcome.models > 3
    assert outcome.differing == ()
