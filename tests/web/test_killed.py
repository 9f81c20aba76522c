"""SIGKILL under load: everything confirmed is there once, and events go on without a gap."""

import pytest

from csim.bench.service.killing import kill

KILLS = 3  # `csim bench service` kills it 20 times


@pytest.mark.slow
@pytest.mark.long
def test_nothing_confirmed_is_lost_when_the_service_is_killed(tmp_path):
    found = kill(tmp_path, images=240, kills=KILLS, seed=7)
    assert found.faults == ()
    assert found.images > 60
    assert found.answers > 0
