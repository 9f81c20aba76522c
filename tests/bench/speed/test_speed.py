"""What the measurements of speed measure: figures that can be checked without a clock."""

import pytest

from csim.bench.case import Case
from csim.bench.datasets.digits import digits
from csim.bench.layout.table import Table
from csim.bench.speed.growth import time_images, time_search, time_update
from csim.bench.speed.whole_stream import time_stream
from csim.bench.tables import speed
from csim.settings import Settings

SHORT = {"epochs": 1, "update_steps": 2}


def table(*ratios):
    rows = [{"what": what, "compared with": "forward pass", "time": time} for what, time in ratios]
    return Table(name="speed", title="", notes=[], keys=["what"], rows=rows)


def test_a_ratio_that_is_half_again_as_long_is_named_and_a_smaller_change_is_not():
    saved = table(("stream", 10.0), ("observe", 1.0)).csv()
    assert speed.worse_than(saved, table(("stream", 14.9), ("observe", 0.1))) == []
    (line,) = speed.worse_than(saved, table(("stream", 15.1), ("observe", 1.4)))
    assert line == "stream takes 15.1 times as long as forward pass, it was 10"


def test_a_ratio_that_was_not_measured_before_is_not_compared():
    assert speed.worse_than(table(("stream", 1.0)).csv(), table(("search", 99.0))) == []


@pytest.mark.slow
def test_a_whole_stream_is_timed_with_its_training_and_the_forward_pass_of_its_images(monkeypatch):
    monkeypatch.setattr("csim.bench.speed.whole_stream._EVERY", 200)
    found = time_stream(Case("default", "digits", changes=SHORT), digits())
    assert 0 < found.training < found.total
    assert found.forward > 0


@pytest.mark.slow
@pytest.mark.parametrize("skip", [True, False])
def test_growth_is_measured_at_two_sizes(skip):
    search = time_search(digits(), 500, "cpu")
    seconds, memory = time_images(Settings(**SHORT), (4000, 10_000), skip=skip)
    assert search > 0
    assert time_update(3) > 0
    assert (len(seconds), len(memory)) == (2, 2)
    assert min(*seconds, *memory) > 0
