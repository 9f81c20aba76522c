"""Trials: parts that share no image, entries that are made once, and figures on digits."""

import numpy as np
import pytest

from csim.bench.baselines.learners.catalogue import LEARNERS, learner_of
from csim.bench.baselines.learners.knn import choose_k
from csim.bench.datasets import DataSet
from csim.bench.json_lines import put, read_lines
from csim.bench.vectors.trials import (
    FILE,
    FLOORS,
    METHODS,
    NETWORKS,
    SPLITS,
    Trial,
    divide,
    read,
    score_all,
)
from csim.errors import InputError

pytestmark = pytest.mark.slow

PIXELS = Trial("pixels", "digits", "S1", 0)


def numbered(count):
    """Return a data set whose images can be told apart: each holds its own number."""
    images = np.zeros((count, 2, 2), np.uint8)
    images[:, 0, 0] = np.arange(count) % 256
    images[:, 0, 1] = np.arange(count) // 256
    return DataSet("numbered", images, [str(place % 3) for place in range(count)])


@pytest.mark.parametrize(("split", "sizes"), [("S1", [2800, 1400, 2800]), ("S2", [700, 700, 5600])])
def test_parts_are_of_the_split_s_sizes_and_share_no_image(split, sizes):
    parts = divide(numbered(7000), split, seed=0)
    assert [len(part.columns) for part in parts] == sizes
    numbers = np.concatenate(
        [part.images[:, 0, 0] + 256 * part.images[:, 0, 1].astype(int) for part in parts]
    )
    assert sorted(numbers.tolist()) == list(range(7000))
    columns = np.concatenate([part.columns for part in parts])
    assert np.array_equal(columns, numbers % 3)


def test_no_image_is_lost_where_the_shares_do_not_divide():
    assert sum(len(part.columns) for part in divide(numbered(1797), "S2", seed=3)) == 1797


def test_the_seed_draws_the_parts():
    first, again, other = (divide(numbered(500), "S1", seed)[0].images for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_vectors_are_grey_values_of_nought_to_one():
    part = divide(numbered(300), "S1", seed=0)[0]
    assert part.vectors.shape == (120, 4)
    assert 0 <= part.vectors.min() <= part.vectors.max() <= 1


def test_names_tell_trials_apart():
    trials = [
        Trial(method, data, split, seed, thin)
        for method in METHODS
        for data in ("mnist", "digits")
        for split in SPLITS
        for seed in (0, 1)
        for thin in (1, 10)
    ]
    assert len({trial.name for trial in trials}) == len(trials)
    assert (
        Trial("lmnn", "mnist", "S2", 0).name != Trial("lmnn", "mnist", "S2", 0, is_quick=True).name
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_scored_on_digits(method, tmp_path):
    (content,) = score_all([Trial(method, "digits", "S1", 0, is_quick=True)], tmp_path)
    figures = content["figures"]
    assert 85 < figures["accuracy"] <= 100
    assert ("accuracy_own_layer" in figures) == (method in NETWORKS)
    assert ("steps" in figures) == (method in LEARNERS)
    assert figures["k"] in (1, 3, 5, 7, 15, 30)
    assert content["sample"]["train"] == 718
    assert 0 <= figures["seconds_learning"] <= figures["seconds"]


def test_a_trial_that_has_its_file_is_not_made_again(tmp_path):
    told = []
    first = score_all([PIXELS], tmp_path, on_trial=lambda *step: told.append(step))
    assert told[-1] == ([PIXELS], 0, 1, 1)
    assert score_all([PIXELS], tmp_path, on_trial=lambda *step: told.append("again")) == first
    assert "again" not in told


def test_what_was_made_with_other_settings_is_made_again(tmp_path):
    trial = Trial("sklr", "digits", "S2", 0, is_quick=True)
    score_all([trial], tmp_path)
    content = read_lines(tmp_path / FILE).entries[trial.name].content
    assert content["settings"] == learner_of("sklr", seed=0, is_quick=True).get_params()
    content["settings"]["rank"] = 7
    put(tmp_path / FILE, trial.name, content)
    assert read(tmp_path, trial) is None


@pytest.mark.parametrize("content", [{}, {"format": 1}, PIXELS.describe()])
def test_a_damaged_entry_is_named(content, tmp_path):
    put(tmp_path / FILE, PIXELS.name, content)
    with pytest.raises(InputError, match=r"metric\.jsonl, line 1 is not an entry .* delete"):
        read(tmp_path, PIXELS)


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text("{")
    with pytest.raises(InputError, match=r"metric\.jsonl, line 1 is damaged .* delete"):
        read(tmp_path, PIXELS)


def test_side_by_side_the_figures_are_the_same(tmp_path):
    trials = [Trial(method, "digits", "S2", 0) for method in FLOORS]
    one, two = (score_all(trials, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    for first, second in zip(one, two, strict=True):
        assert first["figures"]["accuracy"] == second["figures"]["accuracy"]
        assert first["figures"]["k"] == second["figures"]["k"]


def test_k_is_never_chosen_on_the_images_that_are_scored(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        "csim.bench.vectors.trials.choose_k",
        lambda near, truth: seen.append(len(truth)) or choose_k(near, truth),
    )
    (content,) = score_all([PIXELS], tmp_path)
    assert seen == [content["sample"]["validation"]]
