import pytest

from csim.bench.datasets import DataSet
from csim.bench.datasets.digits import digits
from csim.bench.run import run
from csim.bench.scenario import paper_stream
from csim.metrics.figures import summarise
from csim.records import Accepted, Asked, ClassAdded, Labelled, Rejected, Retrained
from csim.settings import Settings

SETTINGS = Settings(buffer_size=30, update_size=10, epochs=5, hidden_units=64, embedding_size=64)


@pytest.fixture(scope="module")
def stream():
    data = digits()
    few = [place for place, name in enumerate(data.names) if name in "01234"][:500]
    small = DataSet("some digits", data.images[few], [data.names[place] for place in few])
    return paper_stream(small, known_share=0.6, seed=2)


@pytest.fixture(scope="module")
def reports():
    return {"events": [], "positions": [], "models": []}


@pytest.fixture(scope="module")
def finished(stream, reports):
    def on_events(events, position):
        reports["events"] += events
        reports["positions"].append(position)

    def on_model(classifier):
        reports["models"].append(len(classifier.classes_))
        reports["open"] = len(classifier.questions())

    return run(stream, SETTINGS, on_events=on_events, on_model=on_model)


def test_the_truth_names_every_image_of_the_stream_in_order(finished, stream):
    assert list(finished.truth.values()) == stream.names
    assert list(finished.truth) == [str(position) for position in range(1, len(stream.names) + 1)]


def test_every_image_is_accepted_or_rejected_once_in_order(finished, stream):
    arrivals = [event for event in finished.events if isinstance(event, Accepted | Rejected)]
    assert [event.item_id for event in arrivals] == list(finished.truth)
    assert [event.position for event in arrivals] == list(range(1, len(stream.names) + 1))


def test_every_question_is_answered_from_the_truth(finished, reports):
    assert reports["open"] == 0
    names = {event.class_id: event.name for event in finished.events if isinstance(event, ClassAdded)}
    told = {event.question_id: event for event in finished.events if isinstance(event, Labelled) and event.is_told}
    questions = [event.question for event in finished.events if isinstance(event, Asked)]
    assert questions
    for question in questions:
        assert told[question.id].item_id == question.representative.id
        assert names[told[question.id].class_id] == finished.truth[question.representative.id]


def test_every_rejected_image_is_labelled_in_the_end(finished):
    rejected = {event.item_id for event in finished.events if isinstance(event, Rejected)}
    labelled = {event.item_id for event in finished.events if isinstance(event, Labelled)}
    assert rejected == labelled


def test_the_log_begins_with_the_warm_up(finished, stream):
    first = next(event for event in finished.events if isinstance(event, Retrained))
    known = {event.name for event in finished.events if isinstance(event, ClassAdded) and event.position == 0}
    assert known == set(stream.warm_up_names)
    assert (first.position, len(first.class_ids)) == (0, 3)


def test_new_digits_are_learned_and_the_labels_are_good(finished):
    summary = summarise(finished.events, finished.truth)
    assert summary.classes_learned == 5
    assert summary.accuracy > 90
    assert summary.labels_percent < 50


def test_progress_is_told_after_every_batch_and_the_model_shown_twice(finished, reports, stream):
    count = len(stream.names)
    assert reports["positions"] == [*range(16, count, 16), count]
    assert reports["events"] == [event for event in finished.events if event.position > 0]
    assert reports["models"] == [3, 5]


def test_the_same_run_gives_the_same_log(finished, stream):
    assert run(stream, SETTINGS).events == finished.events


def test_times_are_kept(finished):
    assert 0 < finished.seconds_training < finished.seconds
    assert finished.settings == SETTINGS
