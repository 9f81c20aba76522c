"""The one evaluation loop: what the method gets, what is kept, and that any method fits."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from bench.nearest_mean import NearestMean, few_digits

from csim.bench.answers import Answers
from csim.bench.datasets import DataSet
from csim.bench.datasets.digits import digits
from csim.bench.methods import open_with
from csim.bench.run import run
from csim.bench.scenario import paper_stream
from csim.errors import InputError
from csim.metrics.figures import summarise
from csim.metrics.labels import final
from csim.records import Accepted, Asked, ClassAdded, Labelled, Rejected, Retrained, Revised
from csim.settings import Settings

SETTINGS = Settings(
    ask_every=30, budget=0.1, epochs=5, update_steps=40, hidden_units=64, embedding_size=64
)


@pytest.fixture(scope="module")
def stream():
    data = digits()
    few = [place for place, name in enumerate(data.names) if name in "01234"][:500]
    small = DataSet("some digits", data.images[few], [data.names[place] for place in few])
    return paper_stream(small, known_share=0.6, seed=2)


@pytest.fixture(scope="module")
def reports():
    return {"events": [], "positions": [], "models": [], "scores": []}


@pytest.fixture(scope="module")
def finished(stream, reports):
    def on_events(events, position):
        reports["events"] += events
        reports["positions"].append(position)

    def on_model(classifier):
        reports["models"].append(classifier.classes_.tolist())
        reports["scores"].append(classifier.predict_proba(stream.held_out))
        reports["open"] = len(classifier.questions())

    return run(stream, open_with(SETTINGS), on_events=on_events, on_model=on_model)


@pytest.fixture(scope="module")
def long_stream():
    return paper_stream(few_digits(2), known_share=0.3, seed=0)


def questions_of(done):
    return [event.question for event in done.events if isinstance(event, Asked)]


def labels_told(done):
    return {
        event.question_id: event
        for event in done.events
        if isinstance(event, Labelled) and event.is_told
    }


def names_of(done):
    return {event.class_id: event.name for event in done.events if isinstance(event, ClassAdded)}


def test_the_truth_names_every_image_of_the_stream_in_order(finished, stream):
    assert list(finished.truth.values()) == stream.names
    assert list(finished.truth) == [str(position) for position in range(1, len(stream.names) + 1)]


def test_every_image_is_accepted_or_rejected_once_in_order(finished, stream):
    arrivals = [event for event in finished.events if isinstance(event, Accepted | Rejected)]
    assert [event.item_id for event in arrivals] == list(finished.truth)
    assert [event.position for event in arrivals] == list(range(1, len(stream.names) + 1))


def test_every_question_is_answered_from_the_truth(finished, reports):
    assert reports["open"] == 0
    names = names_of(finished)
    told = labels_told(finished)
    assert questions_of(finished)
    for question in questions_of(finished):
        assert told[question.id].item_id == question.representative.id
        assert names[told[question.id].class_id] == finished.truth[question.representative.id]


def test_the_truth_of_images_that_nobody_was_shown_changes_nothing(finished, stream):
    shown = {question.representative.id for question in questions_of(finished)}
    assert 0 < len(shown) < len(stream.names) / 2
    names = [
        name if item_id in shown else "never looked at" for item_id, name in finished.truth.items()
    ]
    scrambled = replace(
        stream, names=names, held_out_names=["nor this"] * len(stream.held_out_names)
    )
    assert run(scrambled, open_with(SETTINGS)).events == finished.events


PAPER = Settings.paper(
    **{"buffer_size": 40, "update_size": 10, "epochs": 3, "hidden_units": 32, "embedding_size": 32}
)


@pytest.fixture(scope="module")
def as_written(stream):
    return run(stream.with_all_labelled(), open_with(PAPER), at_once=True, ask_at_end=False)


def test_at_once_every_answer_comes_before_the_next_image(as_written):
    asked = questions_of(as_written)
    told = labels_told(as_written)
    assert len(asked) > 40
    assert [told[question.id].position for question in asked] == [q.position for q in asked]
    trained = {e.position for e in as_written.events if isinstance(e, Retrained)} - {0}
    assert trained
    assert trained <= {question.position for question in asked}


def test_in_rounds_some_answers_come_late(stream):
    done = run(stream, open_with(PAPER))
    told = labels_told(done)
    late = [told[question.id].position - question.position for question in questions_of(done)]
    assert 0 < max(late) < 16


@pytest.mark.parametrize("settings", [SETTINGS, PAPER])
def test_batches_of_several_rounds_give_what_one_round_at_a_time_gives(stream, settings):
    shown = []

    def open_noting(on_event):
        method = open_with(settings)(on_event)
        observe = method.observe

        def note(images):
            shown.append(len(images))
            return observe(images)

        method.observe = note
        return method

    events = []
    done = run(stream, open_noting)
    assert max(shown) > 16
    assert all(size % 16 == 0 for size in shown[:-1])
    classifier = open_with(settings)(events.append)
    classifier.fit(stream.warm_up, stream.warm_up_names)
    for start in range(0, len(stream.images), 16):
        classifier.observe(stream.images[start:][:16])
        if start + 16 >= len(stream.images):
            classifier.ask_now()
        questions = classifier.questions()
        classifier.tell({q.id: done.truth[q.representative.id] for q in questions})
    assert events == done.events


def test_at_once_gives_what_one_image_at_a_time_gives(stream, as_written):
    events = []
    classifier = open_with(PAPER)(events.append)
    every = stream.with_all_labelled()
    classifier.fit(every.warm_up, every.warm_up_names)
    for image in every.images:
        classifier.observe(image[None])
        classifier.tell(
            {q.id: as_written.truth[q.representative.id] for q in classifier.questions()}
        )
    classifier.settle()
    assert final(events) == final(as_written.events)
    asked = [event.question for event in events if isinstance(event, Asked)]
    assert [(q.id, q.position, q.representative.id) for q in asked] == [
        (q.id, q.position, q.representative.id) for q in questions_of(as_written)
    ]


def test_what_waits_at_the_end_gets_its_best_class_without_a_question(as_written, stream):
    end = len(stream.names)
    assert [q for q in questions_of(as_written) if q.position == end] == []
    waiting = [
        event for event in as_written.events if isinstance(event, Revised) and event.position == end
    ]
    assert waiting
    assert None not in final(as_written.events).values()


def test_the_first_training_is_a_part_of_all_training(as_written):
    assert 0 < as_written.seconds_first_training < as_written.seconds_training


def test_without_held_out_images_no_forgetting_is_measured(as_written, finished):
    assert as_written.forgetting is None
    assert isinstance(finished.forgetting, float)


def test_late_answers_come_on_time_also_if_others_would_come_at_once(stream):
    done = run(stream, open_with(PAPER), at_once=True, answers=Answers(delay=30), ask_at_end=False)
    told = labels_told(done)
    answered = [question for question in questions_of(done) if question.id in told]
    late = {told[question.id].position - question.position for question in answered}
    assert min(late) >= 30
    assert max(late) < 30 + 16


def test_a_method_that_cannot_be_answered_at_once_is_refused(stream):
    with pytest.raises(InputError, match=r"until_search and settle.*NearestMean lacks one"):
        run(stream, lambda on_event: NearestMean(on_event), at_once=True)


def test_every_image_has_a_class_in_the_end(finished):
    labels = final(finished.events)
    assert list(labels) == list(finished.truth)
    assert None not in labels.values()


def test_the_log_begins_with_the_warm_up(finished, stream):
    first = next(event for event in finished.events if isinstance(event, Retrained))
    known = {
        event.name
        for event in finished.events
        if isinstance(event, ClassAdded) and event.position == 0
    }
    assert known == set(stream.warm_up_names)
    assert (first.position, len(first.class_ids)) == (0, 3)


def test_the_log_is_in_order_and_holds_what_the_method_returned(finished, reports):
    positions = [event.position for event in finished.events]
    assert positions == sorted(positions)
    assert reports["events"] == [event for event in finished.events if event.position > 0]


def test_new_digits_are_learned_and_the_labels_are_good(finished):
    summary = summarise(finished.events, finished.truth)
    assert summary.classes_learned == 5
    assert summary.accuracy > 90
    assert summary.labels_percent <= 10


def test_progress_is_told_after_every_batch_and_the_model_shown_twice(reports, finished, stream):
    count = len(stream.names)
    *before, last = reports["positions"]
    assert last == count
    assert before == sorted({*before})
    assert all(position % 16 == 0 for position in before)
    assert len(before) >= count / 48  # searches are 30 images apart
    assert [len(names) for names in reports["models"]] == [3, 5]


def test_what_is_remembered_is_the_best_first_class_of_held_out_images(finished, reports, stream):
    recounted = []
    for names, scores in zip(reports["models"], reports["scores"], strict=True):
        right = 0
        for row, true in zip(scores, stream.held_out_names, strict=True):
            among = {
                name: score
                for name, score in zip(names, row, strict=True)
                if name in stream.warm_up_names
            }
            right += max(among, key=among.get) == true
        recounted.append(100 * right / len(stream.held_out_names))
    assert finished.remembered == pytest.approx(recounted)
    assert finished.forgetting == pytest.approx(recounted[0] - recounted[1])
    assert len(stream.held_out_names) > 10


def test_a_class_that_is_found_later_does_not_count_as_forgetting(stream):
    """Only first classes count: a new class that takes their images away does not matter here."""

    class Greedy(NearestMean):
        def predict_proba(self, images):
            scores = super().predict_proba(images)
            scores[:, 3:] = 2.0
            return scores

    done = run(stream, Greedy)
    assert len(names_of(done)) == 5
    assert done.remembered[0] > 80
    assert abs(done.forgetting) < 20


def test_the_order_of_a_methods_classes_does_not_matter(stream):
    class Backwards(NearestMean):
        @property
        def classes_(self):
            return super().classes_[::-1]

        def predict_proba(self, images):
            return super().predict_proba(images)[:, ::-1]

    assert run(stream, Backwards).remembered == run(stream, NearestMean).remembered


def test_a_method_that_has_lost_its_first_classes_remembers_nothing(stream):
    class Forgetful(NearestMean):
        @property
        def classes_(self):
            return (
                np.array([f"other {name}" for name in self._names])
                if self._asked
                else super().classes_
            )

    done = run(stream, partial(Forgetful, far=300))
    assert done.remembered[0] == done.forgetting > 80
    assert done.remembered[1] == 0


def test_the_same_run_gives_the_same_log(finished, stream):
    assert run(stream, open_with(SETTINGS)).events == finished.events


def test_times_are_kept(finished):
    assert 0 < finished.seconds_training < finished.seconds
    assert finished.forward_per_second > 0


# A method of another kind, through the same loop.


@pytest.fixture(scope="module")
def other(long_stream):
    return run(long_stream, NearestMean)


def test_another_method_goes_through_the_same_loop(other, long_stream):
    arrivals = [event.item_id for event in other.events if isinstance(event, Accepted | Rejected)]
    assert arrivals == list(other.truth)
    assert {names_of(other)[event.class_id] for event in labels_told(other).values()} <= set(
        long_stream.names
    )
    assert all(
        names_of(other)[labels_told(other)[question.id].class_id]
        == other.truth[question.representative.id]
        for question in questions_of(other)
    )
    assert 0 < other.seconds_training < other.seconds


def test_another_method_gets_the_same_figures(other):
    labels = {}
    for event in other.events:
        if isinstance(event, Accepted | Labelled):
            labels[event.item_id] = names_of(other)[event.class_id]
    right = sum(labels[item_id] == name for item_id, name in other.truth.items())
    figures = summarise(other.events, other.truth)
    assert figures.accuracy == pytest.approx(100 * right / len(other.truth))
    assert figures.labels_percent == pytest.approx(
        100 * len(questions_of(other)) / len(other.truth)
    )
    assert figures.accuracy > 90
    assert figures.classes_learned == 10
    assert (figures.images_per_label, figures.purity) == (1, 100)  # it asks about single images


# How the simulated person answers.


@pytest.mark.parametrize("delay", [1, 100])
def test_late_answers_come_late_and_those_beyond_the_end_never(long_stream, delay):
    done = run(long_stream, NearestMean, answers=Answers(delay=delay))
    told = labels_told(done)
    count = len(long_stream.names)
    assert told
    for question in questions_of(done):
        if question.position + delay > count:
            assert question.id not in told
        else:
            waited = told[question.id].position - question.position
            assert delay <= waited < delay + 16  # or at the end of the batch in which it is due


def test_late_answers_let_more_of_a_new_class_go_by(long_stream, other):
    late = run(long_stream, NearestMean, answers=Answers(delay=100))
    at_once, later = (summarise(done.events, done.truth) for done in (other, late))
    assert later.images_to_learned > at_once.images_to_learned
    assert later.accuracy < at_once.accuracy


def test_wrong_answers_name_another_class_of_the_stream(long_stream):
    done = run(long_stream, NearestMean, answers=Answers(wrong=1))
    names = names_of(done)
    told = labels_told(done)
    given = [(names[event.class_id], done.truth[event.item_id]) for event in told.values()]
    assert all(name != true for name, true in given)
    assert {name for name, _ in given} <= set(long_stream.names)


def test_what_is_never_answered_stays_open(long_stream):
    seen = []
    done = run(
        long_stream,
        NearestMean,
        answers=Answers(missing=1),
        on_model=lambda method: seen.append(len(method.questions())),
    )
    assert labels_told(done) == {}
    assert seen == [0, len(questions_of(done))]


def test_the_seed_draws_which_answers_are_wrong(long_stream):
    def wrong_ones(seed):
        done = run(long_stream, NearestMean, answers=Answers(wrong=0.3), seed=seed)
        names = names_of(done)
        return Counter(
            question_id
            for question_id, event in labels_told(done).items()
            if names[event.class_id] != done.truth[event.item_id]
        )

    assert wrong_ones(1) == wrong_ones(1) != wrong_ones(2)
