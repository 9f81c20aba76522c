from collections import Counter

import numpy as np
import pytest
from report.small_folder import NASTY, arrivals, copy_of, new_folder, small_folder

import csim.records as r
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import MergeClasses, Named, RemoveClass, Undo
from csim.metrics.answers import labels_spent, questions
from csim.report.folder.facts import gather

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader():
    with Reader(small_folder()) as reader:
        yield reader


@pytest.fixture(scope="module")
def facts(reader):
    return gather(reader)


def course(facts, name):
    return next(row.course for row in facts.classes if row.course.name == name)


def test_questions_and_labels_are_those_that_the_metrics_count_in_the_log(reader, facts):
    events = reader.history.events()
    assert facts.asked.tolist() == questions(events)
    assert facts.spent.tolist() == labels_spent(events)
    assert any(isinstance(event, r.Corrected) for event in events)


def test_an_answer_that_was_taken_back_and_given_again_is_two_labels(tmp_path):
    root = copy_of(tmp_path)
    with Reader(root) as reader:
        before = len(gather(reader).spent)
        question_id = reader.questions("answered")[0].id
    send(root, [Undo(question_id), Named(question_id, "zero")])
    with Reader(root) as reader:
        assert gather(reader).spent.tolist() == labels_spent(reader.history.events())
        assert len(gather(reader).spent) == before + 1


def test_images_are_counted_part_by_part_as_a_plain_loop_counts_them(reader, facts):
    parts = len(facts.arrived)
    plain: Counter = Counter()
    for item in reader.items():
        if item.place > 0:
            part = (item.place - 1) * parts // 220
            plain[part, item.name] += 1
            plain[part, "at all"] += 1
            plain[part, "rejected"] += not item.is_accepted
    assert parts == 11
    assert facts.arrived.tolist() == [plain[part, "at all"] for part in range(parts)]
    assert facts.rejected.tolist() == [plain[part, "rejected"] for part in range(parts)]
    assert facts.waiting.tolist() == [plain[part, None] for part in range(parts)]
    for row in facts.classes:
        assert row.course.counts.tolist() == [plain[part, row.course.name] for part in range(parts)]


def test_every_image_of_the_stream_is_counted_once(facts):
    assert facts.images == facts.arrived.sum() == 220
    assert sum(row.images for row in facts.classes) + facts.waiting.sum() == 220
    assert all(row.images == row.course.counts.sum() for row in facts.classes)


def test_new_classes_come_in_the_order_in_which_they_were_found_and_known_ones_last(reader, facts):
    ids = {
        row.name: row.id for row in reader.classes()
    }  # given in the order in which classes are found
    new = sorted(["three", "FOUR", "never seen"], key=ids.__getitem__)
    assert [row.course.name for row in facts.classes] == [*new, NASTY, "zero"]


def test_a_class_was_learned_with_the_first_model_that_gives_it(reader, facts):
    assert [course(facts, name).learned for name in (NASTY, "zero")] == [0, 0]
    first = {
        class_id: event.position
        for event in reversed(reader.history.events())
        if isinstance(event, r.Retrained)
        for class_id in event.class_ids
    }
    ids = {row.course.name: row.id for row in facts.classes}
    assert course(facts, "three").learned == first[ids["three"]]
    assert course(facts, "FOUR").learned == first[ids["FOUR"]]
    assert course(facts, "never seen").learned is None
    assert (facts.first, facts.learned) == (2, 4)


def test_a_merged_class_passes_its_questions_to_its_target(reader, facts):
    """The first question about a three was answered "drei"."""
    first = next(question for question in reader.questions("answered") if question.name == "three")
    assert course(facts, "three").asked == first.position
    assert "drei" not in {row.course.name for row in facts.classes}


def test_a_class_that_is_merged_into_one_not_learned_is_known_all_the_same(tmp_path):
    root = copy_of(tmp_path)
    with Reader(root) as reader:
        ids = {row.name: row.id for row in reader.classes()}
    send(root, [MergeClasses(ids["three"], ids["never seen"])])
    with Reader(root) as reader:
        facts = gather(reader)
    assert course(facts, "never seen").learned == 160
    assert facts.learned == 4


def test_images_whose_class_was_removed_have_none(tmp_path):
    root = copy_of(tmp_path)
    with Reader(root) as reader:
        four = next(row for row in reader.classes() if row.name == "FOUR")
    send(root, [RemoveClass(four.id)])
    with Reader(root) as reader:
        facts = gather(reader)
    assert "FOUR" not in {row.course.name for row in facts.classes}
    assert sum(row.images for row in facts.classes) + facts.waiting.sum() == 220


def test_labelled_images_of_the_start_stand_apart(facts):
    labelled = {row.course.name: row.labelled for row in facts.classes}
    assert labelled[NASTY] + labelled["zero"] == 40
    assert labelled["three"] == labelled["never seen"] == 0
    assert (
        sum(row.told for row in facts.classes) < len(facts.spent) == facts.status.told
    )  # splits, and what was undone


def test_models_and_troubles_are_listed(facts):
    assert [(row.version, row.installed_at, len(row.class_ids)) for row in facts.models] == [
        (1, 0, 2),
        (2, 160, 3),
        (3, 160, 4),
    ]
    assert facts.models[0].images == 40
    assert facts.models[1].seconds > 0
    assert [(found.id, found.kind) for found in facts.troubles] == [
        ("empty.png", "empty"),
        ("<script>.png", "damaged"),
    ]


def test_a_stream_that_nothing_has_come_to_has_facts_too(tmp_path):
    with Reader(new_folder(tmp_path / "new")) as reader:
        facts = gather(reader)
    assert (facts.images, facts.first, facts.learned, facts.named) == (0, 2, 2, 0)
    assert facts.arrived.tolist() == facts.waiting.tolist() == [0]
    assert len(facts.asked) == len(facts.spent) == 0


def test_inside_a_moment_nothing_changes_though_the_stream_goes_on(tmp_path):
    root = new_folder(tmp_path / "new")
    with Reader(root) as reader, Stream(root, trainer=None) as stream:
        stream.take(arrivals()[:5])
        with reader.transaction():
            before = gather(reader)
            stream.take(arrivals()[5:25])
            after = gather(reader)
        assert before.images == after.images == 5
        assert np.array_equal(before.arrived, after.arrived)
        assert gather(reader).images == 25
