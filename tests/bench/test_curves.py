"""Accuracy curves: they are windows of the log, and files hold them exactly."""

from dataclasses import replace

import numpy as np
import pytest
from bench.nearest_mean import NearestMean, few_digits

from csim.bench.case import Case
from csim.bench.curves import curve_of, pack, unpack
from csim.bench.datasets import DataSet
from csim.bench.run import run
from csim.metrics.labels import class_names, final, named

CASE = Case("nearest-mean", "digits", seed=3, thin=6, own_method=NearestMean)


@pytest.fixture(scope="module")
def done():
    return run(CASE.stream(few_digits()), NearestMean)


def test_a_curve_is_the_accuracy_over_the_last_images(done):
    curve = curve_of(done)
    count = len(done.truth)
    labels = named(final(done.events), class_names(done.events))
    is_right = [labels[item_id] == name for item_id, name in done.truth.items()]
    assert curve["window"] == count // 40
    assert curve["positions"] == sorted(set(curve["positions"]))
    assert (curve["positions"][0], curve["positions"][-1]) == (curve["window"], count)
    for position, accuracy in zip(curve["positions"], curve["final"], strict=True):
        assert accuracy == pytest.approx(
            100 * np.mean(is_right[position - curve["window"] : position])
        )
    assert len(curve["at_arrival"]) == len(curve["final"]) <= 200


def test_a_curve_of_a_short_stream_has_a_point_per_image():
    data = few_digits()
    few = DataSet("few", data.images[:100], data.names[:100])
    stream = replace(CASE, known_share=0.9).stream(few)
    curve = curve_of(run(stream, NearestMean))
    assert curve["positions"] == list(range(1, len(stream.images) + 1))


@pytest.mark.parametrize("window", [1, 2, 3, 7, 298, 1511])
def test_a_packed_curve_is_the_curve(window):
    rng = np.random.default_rng(window)
    empty = [0] * 200
    packed = {"images": 40 * window + 5, "window": window, "errors": {}}
    packed["errors"] = {"final": empty, "at_arrival": empty}
    if window < 7:
        count = len(np.unique(np.linspace(window, 40 * window + 5, 200).astype(int)))
        packed["errors"] = {"final": empty[:count], "at_arrival": empty[:count]}
    curve = unpack(packed)
    for name in ("final", "at_arrival"):
        right = rng.integers(0, window + 1, len(curve["positions"]))
        curve[name] = [round(100 * int(count) / window, 4) for count in right]
    assert unpack(pack(curve)) == curve


def test_a_curve_of_another_length_is_refused():
    packed = {"images": 5, "window": 4, "errors": {"final": [1, -1], "at_arrival": [2]}}
    with pytest.raises(ValueError, match="a curve over 5 images must have 2 points"):
        unpack(packed)
