"""A story through the whole classifier: answers lead to a new model without a new class."""

import math

import pytest
from digit_stream import SMALL, digit_stream, fitted, of, truth_of

from csim.ask.labellers import TruthLabeller
from csim.records import ClassAdded, Labelled, Retrained
from csim.settings import Settings


def drive(clf, count):
    labeller = TruthLabeller(truth_of(digit_stream()))
    events = []
    for first in range(0, count, 20):
        events += clf.observe(digit_stream().images[first : first + 20])
        for question in clf.questions():
            events += clf.tell(question.id, labeller.answer(question).name)
    return events


def answers_before_each_model(events):
    counts = []
    since = 0
    seen = set()
    for event in events:
        if isinstance(event, Labelled) and event.question_id not in seen:
            seen.add(event.question_id)
            since += 1
        elif isinstance(event, Retrained):
            counts.append(since)
            since = 0
    return counts


NO_NEW_CLASS = SMALL | {
    "store_size": 200,
    "update_size": 199,
    "budget": 1,
}  # of which there are too few digits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("update_labels", "update_growth"), [(1, 0.02), (1, 0.1), (7, 0.02), (20, 0.02)]
)
def test_a_new_model_comes_after_so_many_answers_and_later_after_a_share_of_all(
    update_labels, update_growth
):
    changes = {"update_steps": 2, "update_labels": update_labels, "update_growth": update_growth}
    events = drive(fitted(Settings(**NO_NEW_CLASS | changes)), 200)
    counts = answers_before_each_model(events)
    expected = []
    told = 0
    for _ in counts:
        expected.append(max(update_labels, math.ceil(update_growth * told - 1e-9)))
        told += expected[-1]
    assert len(counts) > 5
    assert max(counts) > 1
    assert counts == expected


@pytest.mark.slow
def test_a_new_class_is_not_kept_waiting():
    events = drive(fitted(Settings(**SMALL, update_labels=10**9)), 800)
    added = of(ClassAdded, events)
    models = of(Retrained, events)
    assert len(models) == len(added) > 4
    for number, (new, model) in enumerate(zip(added, models, strict=True), start=4):
        assert model.class_ids[-1] == new.class_id
        assert len(model.class_ids) == number
        assert model.position == new.position


@pytest.mark.slow
def test_without_it_only_new_classes_make_a_model_due():
    assert (
        answers_before_each_model(drive(fitted(Settings(**NO_NEW_CLASS, update_labels=0)), 200))
        == []
    )


@pytest.mark.slow
def test_the_answers_are_learned_from():
    """The next model classifies more of the answered images correctly than the model before."""
    clf = fitted(Settings(**NO_NEW_CLASS, update_labels=10**9))
    events = drive(clf, 300)
    known = set(digit_stream().warm_up_names)
    told = [
        int(e.item_id) - 1
        for e in events
        if isinstance(e, Labelled) and digit_stream().names[int(e.item_id) - 1] in known
    ]
    truth = [digit_stream().names[index] for index in told]
    assert len(told) > 10

    def right(model):
        best = model.classes_[model.predict_proba(digit_stream().images[told]).argmax(axis=1)]
        return sum(name == guess for name, guess in zip(truth, best, strict=True)) / len(truth)

    other = fitted(Settings(**NO_NEW_CLASS, update_labels=20))
    drive(other, 300)
    assert right(other) >= right(clf)


def test_training_that_is_interrupted_is_due_again_with_the_next_answer(monkeypatch):
    clf = fitted(Settings(**NO_NEW_CLASS, update_labels=3))
    clf.observe(digit_stream().images[:200])
    known = digit_stream().warm_up_names[0]
    questions = clf.questions()

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(clf._parts.trainer, "train", interrupt)
        with pytest.raises(KeyboardInterrupt):
            clf.tell({question.id: known for question in questions[:3]})
    assert any(isinstance(event, Retrained) for event in clf.tell(questions[3].id, known))


def test_answers_do_no_harm_when_every_class_has_been_removed():
    clf = fitted(Settings(**NO_NEW_CLASS, update_labels=1))
    clf.observe(digit_stream().images[:200])
    for name in clf.classes_:
        clf.classes.remove(name)
    events = clf.tell(clf.questions()[0].id, "heron")
    assert not any(isinstance(event, Retrained) for event in events)
    assert [summary.name for summary in clf.classes] == ["heron"]
