"""The summary of a run: it equals the single figures, is fast and is documented."""

import dataclasses
import math
import re
import statistics
from pathlib import Path

import pytest
from counting import lines_run
from metrics import naive
from metrics.hand_log import LOG, TRUTH
from metrics.random_log import RATES, asked, random_log

from csim.errors import InputError
from csim.metrics import figures
from csim.metrics.accuracy import unasked
from csim.metrics.answers import images_per_label
from csim.metrics.delay import delays
from csim.metrics.figures import (
    Summary,
    labels_spent,
    milestones,
    novelty_errors,
    purity,
    summarise,
)
from csim.metrics.labels import late_revisions
from csim.metrics.novelty import first_images_missed, novelty
from csim.records import Accepted, Asked, Labelled, Rejected

PAGE = Path(__file__).parents[2] / "docs/metrics.md"
LARGE = {  # questions for a third of the images, few other actions
    **RATES,
    **dict.fromkeys(("correct", "undo", "divide", "skip", "revise"), 0.02),
    **dict.fromkeys(("expire", "retrain", "rename", "merge", "remove"), 0.002),
}


def test_a_summary_holds_all_figures_of_a_run():
    summary = summarise(LOG, TRUTH)
    right = {"1", "2", "4", "6", "7", "8"}  # 3 stayed a cat, 5 became an emu, 9 has no class
    assert summary.images == 9
    assert summary.accuracy == pytest.approx(100 * len(right) / 9)
    assert summary.accuracy_at_arrival == pytest.approx(100 * 3 / 9)  # 1, 2, 7
    assert summary.accuracy_unasked == pytest.approx(100 * 3 / 6)  # not 4, 6, 8
    assert summary.accuracy_last_quarter == pytest.approx(100 * 2 / 3)  # 7, 8, 9
    assert summary.labels_percent == pytest.approx(100 * 3 / 9)
    assert summary.images_per_label == pytest.approx(4 / 3)
    assert (summary.m_new, summary.f_new) == novelty_errors(LOG, TRUTH)
    assert summary.first_500_missed == pytest.approx(100 * 1 / 6)
    assert (summary.images_to_detection, summary.images_to_learned) == (1.5, 2.5)
    assert (summary.classes_undetected, summary.classes_unlearned) == (0, 0)
    assert summary.purity == purity(LOG, TRUTH)
    assert summary.classes_learned == 4
    assert summary.late_revisions == 0


@pytest.mark.parametrize("within", [None, 4])
@pytest.mark.parametrize("seed", range(15))
def test_a_summary_agrees_with_the_figures_one_by_one(seed, within):
    events, truth = random_log(seed)
    summary = summarise(events, truth, within)
    labels = {item_id: naive.final_name(events, item_id, within) for item_id in truth}
    right = [item_id for item_id in truth if labels[item_id] == truth[item_id]]
    rest = unasked(events, truth)
    last = list(truth)[-15:]
    class_delays = delays(events, truth)
    assert summary.accuracy == pytest.approx(100 * len(right) / 60)
    assert summary.accuracy_unasked == pytest.approx(100 * len(set(right) & set(rest)) / len(rest))
    assert summary.accuracy_last_quarter == pytest.approx(100 * len(set(right) & set(last)) / 15)
    assert summary.labels_percent == pytest.approx(100 * len(labels_spent(events)) / 60)
    assert summary.images_per_label == images_per_label(events, within)
    assert summary.late_revisions == late_revisions(events, within)
    assert summary.first_500_missed == first_images_missed(events, truth, within=within)
    assert (
        dataclasses.asdict(summary).items()
        >= dataclasses.asdict(novelty(events, truth, within)).items()
    )
    measured = [delay.to_detection for delay in class_delays if delay.to_detection is not None]
    assert summary.images_to_detection == statistics.median(measured)
    assert summary.classes_undetected == len(class_delays) - len(measured)
    assert summary.classes_unlearned == [delay.to_learned for delay in class_delays].count(None)


@pytest.mark.parametrize("seed", range(10))
def test_no_figure_is_ever_undefined_and_shares_lie_between_0_and_100(seed):
    events, truth = random_log(seed)
    for stop in range(0, len(events), 20):
        seen = {event.item_id for event in events[:stop] if isinstance(event, Accepted | Rejected)}
        seen_truth = {item_id: name for item_id, name in truth.items() if item_id in seen}
        summary = summarise(events[:stop], seen_truth)
        for name, value in dataclasses.asdict(summary).items():
            if name.startswith(("images_to_",)):
                assert value is None or value >= 0, name
            else:
                assert math.isfinite(value), name
                assert value >= 0, name
                assert value <= 100 or name in {
                    "labels_percent",
                    "late_revisions",
                    "images_per_label",
                }, name


def test_the_summary_of_nothing_is_all_zeros_and_the_delays_are_none():
    summary = dataclasses.asdict(summarise([], {}))
    assert summary.pop("images_to_detection") is summary.pop("images_to_learned") is None
    assert set(summary.values()) == {0}


def test_classes_that_were_never_detected_are_counted():
    truth = {"1": "cat", "2": "yak", "3": "gnu"}
    events = [*LOG[:4], Accepted(2, "2", 0, 0.9, 1), Rejected(3, "3", 0, 0.1, 1), asked(3, 1, "3")]
    summary = summarise(events, truth)
    assert (summary.classes_undetected, summary.classes_unlearned) == (1, 2)
    assert (summary.images_to_detection, summary.images_to_learned) == (1, None)


def test_a_log_of_other_images_than_the_truth_is_refused():
    with pytest.raises(InputError, match="the truth must name every image of the log"):
        summarise(LOG, {"1": "cat"})


def test_figures_edit_neither_the_log_nor_the_truth():
    log = list(LOG)
    truth = dict(TRUTH)
    summarise(log, truth)
    milestones(log, truth)
    assert log == LOG
    assert list(truth.items()) == list(TRUTH.items())


def test_twice_as_long_a_log_takes_twice_the_work():
    logs = [random_log(0, count, kinds=47, known=14, rates=LARGE) for count in (2000, 4000)]
    assert sum(isinstance(event, Asked) for event in logs[1][0]) > 1000
    assert sum(isinstance(event, Labelled) for event in logs[1][0]) > 1000
    short, long = (lines_run(lambda log=log: summarise(*log)) for log in logs)
    assert short > 10_000
    assert long < 2.5 * short


def test_every_figure_of_the_summary_is_documented():
    rows = re.findall(
        r"^\| `(\w+)` \| [^|]+ \| (higher|lower|-) \|", PAGE.read_text(), re.MULTILINE
    )
    assert {name for name, _ in rows} == {field.name for field in dataclasses.fields(Summary)}
    assert len(rows) == len(dict(rows))


def test_the_exported_figures_exist():
    for name in figures.__all__:
        assert hasattr(figures, name)
