import pytest
from metrics import naive
from metrics.hand_log import LOG, TRUTH
from metrics.random_log import random_log

from csim.errors import InputError, SettingsError
from csim.metrics.accuracy import accuracy
from csim.metrics.novelty import Novelty, first_images_missed, novelty, novelty_errors
from csim.metrics.outcomes import read_outcomes
from csim.records import Accepted, ClassAdded, Labelled, Rejected, Retrained, Revised

SEEDS = range(25)


def test_novelty_errors_are_counted_by_what_the_model_could_output_at_arrival():
    """Check that 3 of the novel 3, 4, 6, 8, 9 stays a cat, and 5 of the existing is an emu."""
    assert novelty_errors(LOG, TRUTH) == (pytest.approx(100 * 1 / 5), pytest.approx(100 * 1 / 4))


def test_an_image_without_a_final_label_is_neither_missed_nor_false():
    events = [*LOG[:3], Rejected(1, "1", 0, 0.1, 1), Rejected(2, "3", 0, 0.1, 1)]
    assert novelty_errors(events, TRUTH) == (0, 0)


def test_a_novel_image_that_is_later_labelled_as_another_novel_class_is_not_missed():
    events = [
        *LOG[:3],
        Rejected(1, "3", 0, 0.1, 1),
        ClassAdded(1, 2, "fox"),
        Labelled(1, "3", 2, 1, is_told=True),
        Retrained(1, 2, (0, 1, 2)),
    ]
    assert novelty_errors(events, TRUTH) == (0, 0)


def test_without_images_there_are_no_novelty_errors():
    assert novelty_errors([], {}) == (0, 0)
    assert novelty([], {}) == Novelty(0, 0, 0, 0, 0, 0, 0, 0)


def test_a_novel_image_that_is_revised_too_late_stays_missed():
    events = [
        *LOG[:3],
        ClassAdded(0, 2, "emu"),
        Accepted(3, "3", 0, 0.7, 1),
        Revised(20, "3", 0, 2),
    ]
    assert novelty_errors(events, TRUTH, within=17) == (0, 0)
    assert novelty_errors(events, TRUTH, within=16) == (100, 0)


def test_all_figures_of_the_log_made_by_hand():
    """Novel: 3, 4, 6, 8, 9. Novel forever: also 7. Of the initial classes: 1, 2, 5."""
    figures = novelty(LOG, TRUTH)
    assert (figures.m_new, figures.f_new) == novelty_errors(LOG, TRUTH)
    assert figures.m_new_at_arrival == pytest.approx(100 * 2 / 5), "3 and 9"
    assert figures.m_new_for_ever == pytest.approx(100 * 1 / 6), "3"
    assert figures.f_new_for_ever == pytest.approx(100 * 1 / 3), "5"
    assert figures.rejected_known == pytest.approx(100 * 1 / 4), "5"
    assert figures.rejected_novel == pytest.approx(100 * 3 / 5), "4, 6, 8"
    # 3 and 5 are wrong; 9 waits, which is right for a novel image.
    assert figures.accuracy_declared == pytest.approx(100 * 7 / 9)


def test_a_novel_image_with_the_name_of_another_novel_class_is_declared_but_not_named():
    events = [
        *LOG[:3],
        ClassAdded(0, 2, "fox"),
        Rejected(1, "3", 0, 0.1, 1),
        Labelled(1, "3", 2, 1, is_told=True),
    ]
    truth = {"3": "emu"}
    assert novelty(events, truth).accuracy_declared == 100
    assert accuracy(read_outcomes(events).final, truth) == 0


def test_an_existing_image_that_waits_is_not_declared_right():
    assert novelty([*LOG[:3], Rejected(1, "1", 0, 0.1, 1)], {"1": "cat"}).accuracy_declared == 0


def naive_figures(events, truth, within):
    """Count image by image, each read from the log separately."""
    initial = naive.initially_known(events)
    tally = dict.fromkeys(
        ("novel", "known", "ever", "start", "m", "f", "ma", "me", "fe", "rk", "rn", "declared"), 0
    )  # fmt: skip
    for arrival in naive.arrivals(events):
        true = truth[arrival.item_id]
        known = naive.known_to(events, arrival.item_id)
        last = naive.final_name(events, arrival.item_id, within)
        if true in known:
            tally["known"] += 1
            tally["rk"] += isinstance(arrival, Rejected)
            tally["f"] += last is not None and last not in known
            tally["declared"] += last == true
        else:
            tally["novel"] += 1
            tally["rn"] += isinstance(arrival, Rejected)
            tally["ma"] += isinstance(arrival, Accepted)
            tally["m"] += last in known
            tally["declared"] += last is None or last not in known
        tally["start" if true in initial else "ever"] += 1
        tally["fe"] += true in initial and last is not None and last not in initial
        tally["me"] += true not in initial and last in initial
    return tally


@pytest.mark.parametrize("within", [None, 0, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_all_figures_of_a_random_log_are_those_counted_naively(seed, within):
    events, truth = random_log(seed)
    n = naive_figures(events, truth, within)
    # A share of nothing is 0.
    n |= {name: max(n[name], 1) for name in ("novel", "known", "ever", "start")}
    expected = Novelty(
        m_new=n["m"] / n["novel"],
        f_new=n["f"] / n["known"],
        m_new_at_arrival=n["ma"] / n["novel"],
        m_new_for_ever=n["me"] / n["ever"],
        f_new_for_ever=n["fe"] / n["start"],
        rejected_known=n["rk"] / n["known"],
        rejected_novel=n["rn"] / n["novel"],
        accuracy_declared=n["declared"] / len(truth),
    )
    found = novelty(events, truth, within)
    for name in Novelty.__dataclass_fields__:
        assert getattr(found, name) == pytest.approx(100 * getattr(expected, name)), name
    assert novelty_errors(events, truth, within) == (found.m_new, found.f_new)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_name_is_also_declared_right(seed):
    events, truth = random_log(seed)
    assert novelty(events, truth).accuracy_declared >= accuracy(read_outcomes(events).final, truth)


def test_the_first_images_of_each_new_class_are_counted():
    """Check the new classes emu (3, 4, 7) and fox (6, 8, 9); 3 stays a cat, and 9 waits."""
    assert first_images_missed(LOG, TRUTH) == pytest.approx(100 * 1 / 6)
    assert first_images_missed(LOG, TRUTH, first=1) == pytest.approx(100 * 1 / 2)
    assert first_images_missed(LOG, TRUTH, first=2) == pytest.approx(100 * 1 / 4)
    assert first_images_missed(LOG, {"1": "cat"}) == 0, "nothing is new"


@pytest.mark.parametrize("first", [1, 3, 500])
@pytest.mark.parametrize("seed", SEEDS)
def test_first_images_missed_in_a_random_log_are_those_counted_naively(seed, first):
    events, truth = random_log(seed)
    missed = 0
    counted = 0
    for name in set(truth.values()) - naive.initially_known(events):
        for item_id in [key for key, true in truth.items() if true == name][:first]:
            counted += 1
            label = naive.final_name(events, item_id, 5)
            missed += label is not None and label != name
    assert first_images_missed(events, truth, first, within=5) == pytest.approx(
        100 * missed / counted
    )


def test_no_first_images_are_too_few():
    with pytest.raises(SettingsError, match="first must be at least 1 image of each class, got 0"):
        first_images_missed(LOG, TRUTH, first=0)


def test_an_image_that_the_truth_lacks_is_refused():
    with pytest.raises(InputError, match="'9' is not among its 8 images"):
        novelty_errors(LOG, {item_id: name for item_id, name in TRUTH.items() if item_id != "9"})
