"""Rows of changed settings: what they are called, and the figures that they hold."""

from bench.hand_results import hand_result

from csim.bench.plans import changed
from csim.bench.plans.plan import Plan

FIGURES = {
    "accuracy %": "accuracy",
    "at arrival %": "accuracy_at_arrival",
    "labels %": "labels_percent",
    "M_new %": "m_new",
    "F_new %": "f_new",
    "rejected known %": "rejected_known",
    "rejected novel %": "rejected_novel",
    "purity %": "purity",
    "classes": "classes_learned",
    "training s": "seconds_training",
}


def result(seed=7, **changes):
    return hand_result(Plan().case("paper", "digits", seed, **changes))


def name_of(found, named=None):
    (row,) = changed.rows([found], named)
    return row["changed"]


def test_the_unchanged_method_is_nothing_changed():
    assert name_of(result()) == "nothing"
    assert name_of(result(), {"no triplets": {"beta": 0.0}}) == "nothing"


def test_a_change_is_called_by_what_it_sets_in_one_order():
    assert name_of(result(min_points=3, beta=0.0)) == "beta=0.0, min_points=3"
    assert name_of(result(beta=0.0, min_points=3)) == "beta=0.0, min_points=3"


def test_a_change_that_has_a_name_bears_it_before_what_it_sets():
    named = {"no triplets": {"beta": 0.0}, "looser groups": {"min_points": 3, "beta": 0.0}}
    assert name_of(result(beta=0.0), named) == "no triplets: beta=0.0"
    assert name_of(result(beta=0.0, min_points=3), named) == "looser groups: beta=0.0, min_points=3"
    assert (
        name_of(result(min_points=3), named) == "min_points=3"
    )  # a part of a change is not the change


def test_a_row_holds_the_figures_of_its_run_in_the_order_of_the_results():
    found = [result(8), result(7, beta=0.0), result(7)]
    rows = changed.rows(found)
    assert [(row["seed"], row["changed"]) for row in rows] == [
        (8, "nothing"),
        (7, "beta=0.0"),
        (7, "nothing"),
    ]
    for row, source in zip(rows, found, strict=True):
        assert {heading: row[heading] for heading in FIGURES} == {
            heading: source.figures[name] for heading, name in FIGURES.items()
        }
        assert all(isinstance(row[heading], float) for heading in FIGURES)  # averaged over seeds


def test_without_results_there_are_no_rows():
    assert changed.rows([]) == []
