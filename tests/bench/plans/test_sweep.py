"""A sweep: one setting over several values, and how it is drawn."""

from statistics import mean

import pytest
from bench.hand_results import assert_tidy, hand_result, hand_results

from csim.bench.layout.panels import make_grid
from csim.bench.layout.sheet import drawing
from csim.bench.plans.plan import Plan
from csim.bench.plans.sweep import PANELS, Sweep, figures_of, finish
from csim.errors import InputError
from csim.settings import Settings

EPOCHS = Sweep("epochs", "n_e", (1, 10, 100), "n_e, epochs", base=10)
PLAN = Plan(seeds=(5, 6))


def test_each_value_is_a_run_per_seed_and_changes_nothing_else():
    cases = EPOCHS.cases(PLAN, "default", "digits", 100)
    assert [(case.seed, case.changes) for case in cases] == [
        (5, {"epochs": 100}),
        (6, {"epochs": 100}),
    ]
    own = Settings(seed=5, epochs=100)
    assert cases[0].settings == own


def test_all_cases_go_through_data_sets_methods_values_and_seeds():
    cases = EPOCHS.all_cases(PLAN, ["paper", "default"], ["digits", "mnist"])
    assert [(c.data, c.method, c.settings.epochs, c.seed) for c in cases] == [
        (data, method, value, seed)
        for data in ("digits", "mnist")
        for method in ("paper", "default")
        for value in (1, 10, 100)
        for seed in (5, 6)
    ]


def test_the_value_that_a_method_has_anyway_is_the_unchanged_run():
    assert EPOCHS.cases(PLAN, "default", "digits", Settings().epochs) == [
        PLAN.case("default", "digits", seed) for seed in PLAN.seeds
    ]


@pytest.fixture
def drawn():
    """Return the results and the figure of a sweep of one method."""
    results = hand_results(EPOCHS.all_cases(PLAN, ["default"], ["digits"]))
    with drawing():
        figure, (panels,) = make_grid(1, len(PANELS), size=(2.3, 2.5))
        EPOCHS.draw(panels, results, PLAN, "default", "digits")
        finish(figure)
        yield results, figure


def test_each_panel_draws_the_mean_of_its_figure(drawn):
    results, figure = drawn
    for axes, name in zip(figure.axes, PANELS, strict=True):
        (container,) = axes.containers
        for value, height in container.lines[0].get_xydata():
            assert height == pytest.approx(
                mean(r.figures[name] for r in results if r.settings["epochs"] == value)
            )


def test_ticks_are_the_values_and_nothing_is_cut_off(drawn):
    _, figure = drawn
    assert_tidy(figure)
    for axes in figure.axes:
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10", "100"]
        assert axes.get_xscale() == "log"
        low, high = axes.get_ylim()
        assert low < 0 < axes.dataLim.y1 < high


def test_a_figure_that_is_zero_everywhere_can_be_drawn():
    results = [
        hand_result(case, f_new=0.0) for case in EPOCHS.all_cases(PLAN, ["default"], ["digits"])
    ]
    with drawing():
        figure, (panels,) = make_grid(1, len(PANELS), size=(2.3, 2.5))
        EPOCHS.draw(panels, results, PLAN, "default", "digits")
        finish(figure)
        assert_tidy(figure)


def test_a_run_that_is_missing_is_named():
    results = hand_results(EPOCHS.all_cases(PLAN, ["default"], ["digits"]))
    _, (panels,) = make_grid(1, len(PANELS), size=(2.3, 2.5))
    with pytest.raises(InputError, match=r"epochs=100-seed6"):
        EPOCHS.draw(panels, results[:-1], PLAN, "default", "digits")


def test_columns_are_the_run_s_own():
    result = hand_result(PLAN.case("paper", "digits", 5), accuracy=12.5)
    row = figures_of(result)
    assert (row["seed"], row["accuracy %"], row["M_new %"]) == (5, 12.5, result.figures["m_new"])
    assert isinstance(row["parameters"], int)
