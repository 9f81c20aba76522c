"""A plan: which runs it makes, what it calls its files, and what it says about itself."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.bench.methods import METHODS, OURS, PUBLISHED, settings_of
from csim.bench.plans.plan import DATA, Plan, ordinal, paper_budget
from csim.bench.plans.reported import STREAM
from csim.errors import InputError
from csim.settings import Settings


def test_every_method_runs_on_every_data_set_with_every_seed():
    cases = Plan(seeds=(0, 5)).cases()
    expected = {(method, data, seed) for method in PUBLISHED for data in DATA for seed in (0, 5)}
    assert {(case.method, case.data, case.seed) for case in cases} == expected
    assert len(cases) == len(expected)
    assert all((case.thin, case.known_share, case.changes) == (5, 0.3, {}) for case in cases)


def test_what_is_given_takes_the_place_of_the_usual():
    plan = Plan(data=("digits",), methods=("random",), seeds=(7,), known_share=0.5, thin=1)
    (case,) = plan.cases()
    assert (case.data, case.method, case.seed, case.known_share, case.thin) == (
        "digits",
        "random",
        7,
        0.5,
        1,
    )


@pytest.mark.parametrize("method", OURS)
def test_a_change_to_what_a_method_has_anyway_is_the_unchanged_run(method):
    plan = Plan()
    own = settings_of(method, seed=1, changes={})
    unchanged = plan.case(method, "mnist", 1)
    same = {name: value for name, value in own.to_dict().items() if name not in ("seed", "budget")}
    assert plan.case(method, "mnist", 1, **same) == unchanged
    changed = plan.case(
        method, "mnist", 1, conv_layers=own.conv_layers, hidden_units=own.hidden_units + 1
    )
    assert changed.changes == {"hidden_units": own.hidden_units + 1}
    assert changed.name != unchanged.name


def test_an_unknown_setting_is_not_dropped_but_refused():
    with pytest.raises(Exception, match="no setting is called 'hiden_units'"):
        _ = Plan().case("paper", "mnist", 0, hiden_units=3).settings


def test_methods_that_differ_from_the_default_in_their_questions_have_its_budget():
    plan = Plan()
    for data in (*DATA, "digits"):
        budgets = {
            plan.case(method, data, 0).settings.budget
            for method in ("default", "least-sure", "random")
        }
        assert budgets == {Settings().budget}
    assert plan.case("default", "mnist", 0).budget is None is plan.case("paper", "mnist", 0).budget
    assert plan.case("random", "mnist", 0, budget=0.1).budget == 0.1


def test_the_paper_s_budget_is_the_share_of_labels_that_it_reports():
    assert [100 * paper_budget(data) for data in DATA] == pytest.approx(
        [STREAM[data]["paper"].labels for data in DATA]
    )
    assert paper_budget("digits") is None


def test_a_budget_that_a_method_has_anyway_is_the_unchanged_run():
    assert Plan().case("default", "mnist", 0, budget=0.05) == Plan().case("default", "mnist", 0)
    for method, usual in (
        ("random", 0.02),
        ("echo-d", settings_of("echo-d", seed=0, changes={}).share),
    ):
        case = Plan().case(method, "mnist", 0, budget=usual)
        assert case.budget is None
        assert case.settings == settings_of(method, seed=0, changes={})


def test_the_paper_reports_on_three_tenths_known_alone():
    assert Plan().reported("mnist", "paper") is STREAM["mnist"]["paper"]
    assert Plan().reported("mnist", "default") is None
    assert Plan().reported("digits", "paper") is None
    assert Plan(known_share=0.5).reported("mnist", "paper") is None


@pytest.mark.parametrize(
    ("plan", "suffix", "options"),
    [
        (Plan(), "", "--seed 0 --seed 1 --seed 2"),
        (Plan().quick(), "-quick", "--quick --seed 0"),
        (Plan(thin=1), "-whole", "--thin 1 --seed 0 --seed 1 --seed 2"),
        (Plan(thin=100, seeds=(4,)), "-thin100", "--thin 100 --seed 4"),
        (Plan(thin=50).quick(), "-thin50-quick", "--quick --thin 50 --seed 0"),
        (Plan(known_share=0.5, seeds=(1,)), "-r0.5", "--r 0.5 --seed 1"),
        (
            Plan(data=("mnist",), methods=("random",), seeds=(1,)),
            "-mnist",
            "--dataset mnist --method random --seed 1",
        ),
        (
            Plan(data=("mnist", "digits"), seeds=(1,)),
            "",
            "--dataset mnist --dataset digits --seed 1",
        ),
        (
            Plan(data=("digits",), thin=1, seeds=(1,)),
            "-digits-whole",
            "--dataset digits --thin 1 --seed 1",
        ),
    ],
)
def test_files_and_options_tell_what_is_not_usual(plan, suffix, options):
    assert plan.suffix == suffix
    assert plan.options == options


PLANS = st.builds(
    Plan,
    data=st.none() | st.lists(st.sampled_from(DATA), min_size=1, unique=True).map(tuple),
    methods=st.none() | st.lists(st.sampled_from(METHODS), min_size=1, unique=True).map(tuple),
    seeds=st.lists(st.integers(0, 99), min_size=1, unique=True).map(tuple),
    known_share=st.sampled_from([0.3, 0.5]),
    thin=st.integers(1, 60),
)


@given(PLANS, st.booleans())
def test_the_options_read_back_give_the_same_plan(plan, is_quick):
    plan = plan.quick() if is_quick else plan
    words = shlex.split(plan.options)
    lists = {"--dataset": [], "--method": [], "--seed": []}
    usual = Plan().quick() if "--quick" in words else Plan()
    single = {"--r": usual.known_share, "--thin": usual.thin}
    words = [word for word in words if word != "--quick"]
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name in lists:
            lists[name].append(value)
        else:
            single[name] = float(value)
    again = Plan(
        data=tuple(lists["--dataset"]) or None,
        methods=tuple(lists["--method"]) or None,
        seeds=tuple(map(int, lists["--seed"])),
        known_share=single["--r"],
        thin=int(single["--thin"]),
        is_quick=is_quick,
    )
    assert again == plan


def test_the_note_says_what_was_thinned():
    assert Plan().note == "streams: r = 0.3, every 5th image of the data set, seeds 0, 1, 2"
    assert Plan(thin=1, seeds=(4,)).note == "streams: r = 0.3, all images, seed 4"
    assert (
        Plan().quick().note == "streams: r = 0.3, every 20th image of the data set (quick), seed 0"
    )


def test_quick_is_never_longer_than_what_was_planned():
    quick = Plan(thin=40, seeds=(5, 6)).quick()
    assert (quick.thin, quick.seeds, quick.is_quick) == (40, (5,), True)
    assert quick.quick() == quick


@pytest.mark.parametrize("wrong", [{"data": ("mnits",)}, {"methods": ("defualt",)}])
def test_unknown_names_are_refused_with_those_that_are_known(wrong):
    with pytest.raises(
        InputError, match=r"must be one of .*(mnist|paper).*; got '(mnits|defualt)'"
    ):
        Plan(**wrong)


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1st"), (4, "4th"), (12, "12th"), (21, "21st"), (113, "113th")]
)
def test_ordinals(number, text):
    assert ordinal(number) == text
