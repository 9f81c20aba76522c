from collections import Counter

import pytest

from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.sources.arrival import Trouble


@pytest.fixture
def reader(reference):
    with Reader(reference) as reader:
        yield reader


def test_a_spread_sample_has_equally_many_images_of_each_class(reader):
    pictured = Counter(item.name for item in reader.items() if item.has_picture)
    found = Counter(item.name for item in reader.samples.spread(60))
    assert found.total() == 60
    enough = [found[name] for name in pictured if pictured[name] > found[name]]
    assert max(enough) - min(enough) <= 1
    assert len(reader.samples.spread(10**6)) == pictured.total()


def test_the_newest_images_are_told_ones_and_others_of_each_class(reader):
    found = Counter((item.name, item.is_told) for item in reader.samples.newest(2))
    pictured = Counter(
        (item.name, item.is_told)
        for item in reader.items()
        if item.has_picture and item.name is not None
    )
    assert found == {key: min(count, 2) for key, count in pictured.items()}


def test_groups_have_the_members_of_their_questions(reader):
    questions = reader.questions(None)
    sizes = reader.samples.group_sizes()
    assert [(group.question_id, group.status, group.images) for group in sizes] == [
        (question.id, question.status, len(question.members)) for question in questions
    ]
    found = {
        (member.question_id, member.representative, member.item_id)
        for member in reader.samples.group_members()
    }
    expected = {
        (question.id, reader.item(question.representative).id, item.id)
        for question in questions
        for item in reader.members(question.id)
    }
    assert found == expected


def test_labels_are_those_at_arrival_and_today(reader):
    current = reader.current_classes()
    arrived = {
        event.item_id: current[event.class_id].name
        for event in reader.history.events()
        if type(event).__name__ == "Accepted" and event.class_id in current
    }
    items = {item.id: item for item in reader.items() if item.place > 0}
    labels = list(reader.samples.labels())
    assert [label.item_id for label in labels] == list(items)
    for label in labels:
        assert label.at_arrival == arrived.get(label.item_id)
        assert label.today == items[label.item_id].name
        assert label.is_told == items[label.item_id].is_told


def test_the_newest_troubles_come_first(asked):
    with Stream(asked, trainer=None) as stream:
        for name in "abc":
            stream.note(Trouble(name, "damaged", "why"))
    with Reader(asked) as reader:
        assert [found.id for found in reader.samples.troubles(2)] == ["c", "b"]
