import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from csim.bench.answers import Answers, Person
from csim.errors import InputError, SettingsError
from csim.messages import Named
from csim.records import (
    Item,
    Question,
)

NAMES = ["crane", "gull", "heron", "stork", "tern"]
IMAGE = np.zeros((8, 8), np.uint8)


def item(number):
    return Item(str(number), number, IMAGE)


def question(number, position=None):
    """Return a question about item 3n, which stands for 3n, 3n + 1 and 3n + 2."""
    members = tuple(item(3 * number + place) for place in range(3))
    return Question(number, position if position is not None else 3 * number, members[0], members)


def truth_of(count):
    """Name the items so that the members of a question are of three different classes."""
    return {str(number): NAMES[number % 7 % 5] for number in range(3 * count + 3)}


def person(answers, *, count=4000, seed=0, truth=None):
    return Person(truth if truth is not None else truth_of(count), NAMES, answers, seed)


def answered(answers, *, count=4000, seed=0):
    """Return what is answered of many questions in the end, by question."""
    return {
        a.question_id: a.name
        for a in person(answers, count=count, seed=seed).due(many(count), 10**9)
    }


def many(count):
    return [question(number) for number in range(1, count + 1)]


def truly(count):
    truth = truth_of(count)
    return {number: truth[str(3 * number)] for number in range(1, count + 1)}


def live(someone, questions, *, length, batch):
    """Show a stream in batches; return the answers in order, each with the position reached."""
    waiting = {q.id: q for q in questions}
    come = []
    for reached in [*range(batch, length, batch), length]:
        for answer in someone.due([q for q in waiting.values() if q.position <= reached], reached):
            del waiting[answer.question_id]
            come.append((reached, answer))
    return come


def test_by_default_every_question_is_answered_at_once_and_truly():
    assert answered(Answers()) == truly(4000)
    first = question(1, position=50)
    assert person(Answers()).due([first], 50) == [Named(1, truth_of(1)["3"])]


def test_no_question_no_answer():
    assert person(Answers()).due([], 100) == []


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_promised_share_of_questions_is_never_answered(share, seed):
    count = 4000
    missing = count - len(answered(Answers(missing=share), count=count, seed=seed))
    assert abs(missing - share * count) < 4 * math.sqrt(count * share * (1 - share))


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_promised_share_of_answers_is_wrong(share, seed):
    count = 4000
    given = answered(Answers(wrong=share), count=count, seed=seed)
    true = truly(count)
    wrong = sum(given[number] != true[number] for number in true)
    assert len(given) == count
    assert abs(wrong - share * count) < 4 * math.sqrt(count * share * (1 - share))


def test_who_is_always_wrong_names_each_other_class_equally_often_and_never_the_true_one():
    count = 4000
    given = answered(Answers(wrong=1.0), count=count)
    true = truly(count)
    pairs = Counter((true[number], name) for number, name in given.items())
    assert all(name != told for name, told in pairs)
    for name in NAMES:
        own = sum(size for (other, _), size in pairs.items() if other == name)
        for told in set(NAMES) - {name}:
            assert abs(pairs[name, told] - own / 4) < 4 * math.sqrt(own * 0.25 * 0.75)


def test_a_question_that_is_missed_or_mistaken_at_a_low_share_is_so_at_a_higher_one():
    true = truly(4000)
    missed = [set(true) - set(answered(Answers(missing=share))) for share in (0.01, 0.05, 0.2)]
    mistaken = [
        {
            (number, name)
            for number, name in answered(Answers(wrong=share)).items()
            if name != true[number]
        }
        for share in (0.01, 0.05, 0.2)
    ]
    for less, middle, more in (missed, mistaken):
        assert less < middle < more


def test_one_setting_does_not_move_what_another_does():
    alone = answered(Answers(wrong=0.1))
    both = answered(Answers(wrong=0.1, missing=0.3, delay=5, jitter=9))
    assert 0 < len(both) < len(alone)
    assert all(alone[number] == name for number, name in both.items())


def test_misses_and_mistakes_are_independent():
    count = 4000
    true = truly(4000)
    both = answered(Answers(wrong=0.5, missing=0.5))
    wrong = sum(name != true[number] for number, name in both.items())
    assert abs(wrong - count / 4) < 4 * math.sqrt(count * 0.25 * 0.75)


@pytest.mark.parametrize("delay", [0, 1, 1000, 10000])
def test_an_answer_comes_when_so_many_images_have_passed_and_not_before(delay):
    someone = person(Answers(delay=delay))
    asked = question(7, position=123)
    assert someone.due([asked], 123 + delay - 1) == []
    assert someone.due([asked], 123 + delay) == [Named(7, truth_of(7)["21"])]
    assert someone.due([asked], 10**6) == [Named(7, truth_of(7)["21"])]


def test_a_question_that_is_not_answered_stays_open_and_nothing_is_said_of_it():
    asked = many(500)
    come = live(person(Answers(missing=0.4)), asked, length=5000, batch=16)
    assert {type(answer) for _, answer in come} == {Named}
    assert 200 < len({answer.question_id for _, answer in come}) == len(come) < 400


def test_jitter_spreads_answers_evenly_up_to_its_bound_and_out_of_order():
    delay = 100
    jitter = 9
    come = live(
        person(Answers(delay=delay, jitter=jitter), count=2000), many(2000), length=7000, batch=1
    )
    late = Counter(position - 3 * answer.question_id - delay for position, answer in come)
    assert sorted(late) == list(range(jitter + 1))
    for count in late.values():
        assert abs(count - 200) < 4 * math.sqrt(2000 * 0.1 * 0.9)
    order = [answer.question_id for _, answer in come]
    assert order != sorted(order)
    assert sorted(order) == list(range(1, 2001))


def test_without_jitter_answers_come_in_the_order_of_the_questions():
    come = live(person(Answers(delay=40)), many(300)[::-1], length=2000, batch=16)
    assert [answer.question_id for _, answer in come] == list(range(1, 301))


@given(
    batch=st.integers(1, 70),
    seed=st.integers(0, 99),
    answers=st.builds(
        Answers,
        delay=st.integers(0, 60),
        jitter=st.integers(0, 60),
        missing=st.sampled_from([0.0, 0.3]),
        wrong=st.sampled_from([0.0, 0.3]),
    ),
)
@example_settings(max_examples=40, deadline=None)
def test_the_batch_size_changes_nothing_but_the_moment_of_looking(batch, seed, answers):
    one_by_one = live(person(answers, seed=seed), many(60), length=320, batch=1)
    in_batches = live(person(answers, seed=seed), many(60), length=320, batch=batch)
    assert [answer for _, answer in in_batches] == [answer for _, answer in one_by_one]
    for (looked, _), (came, _) in zip(in_batches, one_by_one, strict=True):
        assert looked == min(-(-came // batch) * batch, 320)


def test_the_fate_of_a_question_depends_on_its_id_and_the_seed_alone():
    mixed = Answers(missing=0.3, wrong=0.3)
    whole = answered(mixed)
    backwards = person(mixed).due(many(4000)[::-3], 10**9)
    assert backwards
    assert all(whole[answer.question_id] == answer.name for answer in backwards)
    assert answered(mixed) == whole
    assert answered(mixed, seed=1) != whole


class Watched(Mapping):
    """The truth, with a note of every image that was looked up."""

    def __init__(self, truth):
        self.truth = truth
        self.seen = set()

    def __getitem__(self, key):
        self.seen.add(key)
        return self.truth[key]

    def __iter__(self):
        raise AssertionError("nobody reads the whole truth")

    def __len__(self):
        return len(self.truth)


def test_only_representatives_of_questions_that_are_due_are_looked_at():
    truth = Watched(truth_of(300))
    person(Answers(wrong=0.5, delay=30), truth=truth).due(many(300), 330)
    assert truth.seen == {str(3 * number) for number in range(1, 101)}


def test_the_truth_of_other_members_changes_no_answer():
    truth = truth_of(200)
    altered = {key: name if int(key) % 3 == 0 else "nothing" for key, name in truth.items()}
    one, two = (
        person(Answers(wrong=0.4), truth=names).due(many(200), 10**6) for names in (truth, altered)
    )
    assert one == two


def test_a_representative_without_a_true_name_is_refused_by_its_id():
    with pytest.raises(InputError, match="'3'"):
        person(Answers(), truth={"4": "gull", "5": "gull"}).due([question(1)], 100)


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field in ("delay", "jitter") for value in (-1, 1.5, math.inf, math.nan)]
    + [(field, value) for field in ("missing", "wrong") for value in (-0.01, 1.01, 5, math.nan)],
)
def test_a_setting_outside_its_range_is_refused_by_name(field, value):
    with pytest.raises(SettingsError, match=f"{field} must .* got {value}"):
        Answers(**{field: value})


@pytest.mark.parametrize("field", ["missing", "wrong"])
def test_all_and_none_are_shares_too(field):
    assert getattr(Answers(**{field: 1}), field) == 1
    assert getattr(Answers(**{field: 0}), field) == 0


def test_a_wrong_answer_needs_a_second_name():
    with pytest.raises(SettingsError, match="at least 2 class names, got 1"):
        Person({}, ["gull", "gull"], Answers(wrong=0.1), 0)
    assert Person({"3": "gull"}, ["gull"], Answers(), 0).due([question(1)], 9) == [Named(1, "gull")]


def test_a_negative_seed_is_refused():
    with pytest.raises(SettingsError, match="seed"):
        person(Answers(), seed=-1)


def test_names_given_twice_are_no_more_likely():
    names = ["gull", "tern", "tern", "tern", "crane"]
    someone = Person(dict.fromkeys(truth_of(2000), "gull"), names, Answers(wrong=1.0), 0)
    counts = Counter(answer.name for answer in someone.due(many(2000), 10**6))
    assert set(counts) == {"tern", "crane"}
    assert abs(counts["tern"] - 1000) < 4 * math.sqrt(500)
