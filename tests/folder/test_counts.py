from collections import Counter

import pytest

from csim.folder.reader import Reader


@pytest.fixture
def reader(reference):
    with Reader(reference) as reader:
        yield reader


def test_images_and_pictures_are_those_of_a_plain_loop(reader):
    items = list(reader.items())
    pictured = [item for item in items if item.has_picture]
    assert reader.counts.images() == sum(item.place > 0 for item in items) == 420
    assert reader.counts.images(warm_up=True) == len(items)
    assert reader.counts.pictures() == len(pictured)
    assert reader.counts.pictures(told_only=True) == sum(item.is_told for item in pictured)
    assert reader.counts.without_class() == sum(
        item.name is None and item.place > 0 for item in items
    )
    assert reader.counts.labelled_by_answers() == sum(
        item.question_id is not None and item.place > 0 for item in items
    )


def test_lines_are_as_many_as_are_read(reader):
    assert reader.counts.lines() == sum(1 for _ in reader.history.lines())


def test_parts_add_up_to_the_classes_of_today(reader):
    names = {row.id: row.name for row in reader.classes()}
    found: Counter = Counter()
    rejected = 0
    for count in reader.counts.by_part(7):
        assert 0 <= count.part < 7
        found[names.get(count.class_id)] += count.images
        rejected += count.rejected
    items = [item for item in reader.items() if item.place > 0]
    assert found == Counter(item.name for item in items)
    assert rejected == sum(not item.is_accepted for item in items)


def test_classes_are_counted_under_the_class_they_were_merged_into(reader):
    ids = {row.name: row.id for row in reader.classes()}
    at_start = Counter(ids.get(item.name) for item in reader.items() if item.place < 0)
    at_start.pop(None, None)
    assert reader.counts.warm_up_images() == at_start
    first: dict = {}
    for question in reader.questions(None):
        if question.name is not None:
            first.setdefault(ids[question.name], question.position)
    assert reader.counts.first_asked() == first
