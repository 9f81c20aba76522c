"""What the paper prints agrees with what else the paper prints: a slip of the pen would show."""

import pytest

from csim.bench.plans.plan import DATA
from csim.bench.plans.reported import CONVOLUTION, DATA_SETS, STREAM, printed

# The column "ratio" of its stream table: accuracy / that of the best method.
RATIOS = {
    "cifar-10-grey": {"ecsminer": 0.53, "senc-mas": 0.82, "echo-d": 0.52, "paper": 1.00},
    "mnist": {"ecsminer": 0.99, "senc-mas": 0.58, "echo-d": 0.98, "paper": 1.00},
    "fashion-mnist": {"ecsminer": 0.82, "senc-mas": 0.50, "echo-d": 0.74, "paper": 1.00},
    "emnist-47": {"ecsminer": 0.72, "senc-mas": 0.45, "echo-d": 0.55, "paper": 1.00},
}


@pytest.mark.parametrize("data", DATA)
def test_ratios_of_the_accuracies_are_those_printed(data):
    best = max(entry.accuracy for entry in STREAM[data].values())
    ratios = {method: entry.accuracy / best for method, entry in STREAM[data].items()}
    assert ratios == pytest.approx(RATIOS[data], abs=0.0051)


@pytest.mark.parametrize("data", DATA)
def test_shares_are_percentages_and_a_method_that_finds_nothing_new_has_no_f_new(data):
    for entry in STREAM[data].values():
        assert all(
            0 <= value <= 100
            for value in (entry.accuracy, entry.labels, entry.m_new, entry.f_new or 0)
        )
        assert (entry.f_new is None) == (entry.f_new_spread is None) == (entry.m_new == 100)


def test_only_the_fully_supervised_method_has_all_labels():
    for entries in STREAM.values():
        assert [method for method, entry in entries.items() if entry.labels == 100] == ["ecsminer"]


def test_one_convolution_layer_is_the_method_of_the_stream_table():
    there = STREAM["fashion-mnist"]["paper"]
    accuracy, m_new, f_new, minutes = CONVOLUTION[1]
    assert accuracy == (there.accuracy, there.accuracy_spread)
    assert m_new == (there.m_new, there.m_new_spread)
    assert f_new == (there.f_new, there.f_new_spread)
    assert minutes[0] == pytest.approx(
        10 * 29.33 / 60, abs=0.005
    )  # its text: 29.33 seconds an epoch, ten of them


def test_the_data_sets_are_the_four_of_the_streams():
    assert set(DATA_SETS) == set(STREAM) == set(DATA)
    assert {name: features for name, (features, _, _) in DATA_SETS.items()} == {
        "mnist": 28 * 28,
        "fashion-mnist": 28 * 28,
        "emnist-47": 28 * 28,
        "cifar-10-grey": 32 * 32,
    }


def test_figures_are_written_as_the_paper_writes_them():
    assert printed(100.0, 0.0) == "100.00 ± 0.00"
    assert printed(None, None) == "–"
