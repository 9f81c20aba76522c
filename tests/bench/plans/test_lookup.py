"""A result is found by its case, whatever else there is."""

import pytest
from bench.hand_results import SMALL, hand_results

from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import Plan
from csim.errors import InputError

CASES = [
    SMALL.case("paper", "mnist", 3),
    SMALL.case("paper", "mnist", 4),
    SMALL.case("paper", "mnist", 3, hidden_units=50),
    SMALL.case("random", "mnist", 3, budget=0.02),
    SMALL.case("random", "mnist", 3, budget=0.05),
    Plan(thin=7).case("paper", "mnist", 3),
]


def test_each_case_gets_its_own_result_in_the_order_asked_for():
    results = hand_results(CASES)
    wanted = [4, 0, 2, 2, 5]
    found = results_of(results[::-1], [CASES[place] for place in wanted])
    assert [result.content for result in found] == [results[place].content for place in wanted]


@pytest.mark.parametrize("missing", range(len(CASES)))
def test_a_missing_result_is_named(missing):
    others = hand_results([case for place, case in enumerate(CASES) if place != missing])
    with pytest.raises(InputError) as error:
        results_of(others, CASES)
    assert CASES[missing].name in str(error.value)
