"""A stream that is killed at random moments ends like one that was never killed.

Snapshots come by time, and images are folded in a snapshot. So a busy machine may fold none here:
`csim bench durability` counts them, and tests/folder/test_folding.py folds at fixed moments.
"""

import pytest

from csim.bench.durability.killing import kill


@pytest.mark.slow
@pytest.mark.long
def test_a_stream_killed_six_times_ends_as_if_it_never_was(tmp_path):
    outcome = kill(tmp_path, images=2500, kills=6, seed=3)
    assert outcome.kills == {"engine": 2, "trainer": 2, "both": 2}
    assert outcome.answers > 30
    assert outcome.models > 3
    assert outcome.differing == ()
