"""Origins: a fingerprint tells images apart, and figures say when, where and with what."""

import os

import numpy as np
from bench.nearest_mean import few_digits

from csim.bench import origin
from csim.bench.datasets import DataSet
from csim.bench.origin import fingerprint


def test_a_fingerprint_tells_other_images_and_other_names():
    data = few_digits()
    other = data.images.copy()
    other[0, 0, 0] ^= 1
    names = [data.names[1], data.names[0], *data.names[2:]]
    prints = [
        fingerprint(each)
        for each in (
            data,
            DataSet("other images", other, data.names),
            DataSet("other names", data.images, names),
            DataSet("fewer", data.images[:-1], data.names[:-1]),
        )
    ]
    assert len(set(prints)) == 4
    assert all(len(each) == 16 for each in prints)


def test_a_fingerprint_does_not_depend_on_the_layout_in_memory():
    data = few_digits()
    turned = np.asfortranarray(data.images)
    assert fingerprint(DataSet("another name", turned, list(data.names))) == fingerprint(data)


def test_the_origin_tells_time_machine_versions_and_commit():
    assert set(origin.origin()) == {
        "time", "python", "csim", "torch", "numpy", "scipy", "scikit-learn", "machine", "commit",
    }  # fmt: skip


def test_the_commit_is_gits_own_or_none():
    commit = origin.origin()["commit"]
    if os.path.isdir(os.path.join(os.path.dirname(origin.__file__), "../../.git")):
        assert commit.rstrip("+").isalnum()
    assert commit is None or len(commit) >= 12
