import time

from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import Junk, LabelImages, Named, RenameClass, Skip, Split, Undo
from csim.records import JUNK


def test_messages_are_read_newest_first_with_their_questions(asked):
    send(asked, [Named(1, "owl"), Skip(2), RenameClass(0, "nought")])
    with Reader(asked) as reader:
        rows = reader.said.newest(10)
        assert [row.message for row in rows] == [
            RenameClass(0, "nought"),
            Skip(2),
            Named(1, "owl"),
        ]
        assert rows[0].question is None
        assert (rows[1].question.id, rows[1].question.status) == (2, "skipped")
        assert rows[2].question.class_name == "owl"
        assert reader.said.newest(1, before=rows[0].number) == [rows[1]]


def test_an_answer_taught_the_images_that_got_its_class_since(asked):
    send(asked, [Named(1, "owl"), Junk(2), Skip(3)])
    with Reader(asked) as reader:
        rows = {row.question.id: row for row in reader.said.newest(10)}
        taught = reader.said.taught(list(rows.values()))
        owl = next(row for row in reader.classes() if row.name == "owl")
        assert taught[rows[1].number] == owl.images
        assert rows[2].question.class_id == JUNK
        assert taught[rows[2].number] == reader.counts.junk()
        assert rows[3].number not in taught


def test_an_answer_that_was_taken_back_taught_nothing(asked):
    send(asked, [Named(1, "owl"), Undo(1)])
    with Reader(asked) as reader:
        assert reader.said.taught(reader.said.newest(10)) == {}


def test_labels_that_were_given_unasked_are_questions_until_they_are_undone(asked):
    with Reader(asked) as reader:
        shown = reader.question_pages.showing(list(range(1, 201)))
        item = reader.item(next(place for place in range(1, 201) if place not in shown))
    send(asked, [LabelImages((item.id,), "owl")])
    with Reader(asked) as reader:
        (row,) = reader.said.newest(1)
        (question_id,) = reader.said.given(row.step)
    send(asked, [Undo(question_id)])
    with Reader(asked) as reader:
        assert reader.said.given(row.step) == []


def test_what_was_said_can_be_undone_while_the_question_is_as_it_left_it(asked):
    send(asked, [Skip(1), Named(1, "owl"), Split(2), Named(3, "owl"), Undo(3), Named(99, "owl")])
    with Reader(asked) as reader:
        found = {row.message: row.can_undo for row in reader.said.newest(10)}
    assert [message for message, can_undo in found.items() if can_undo] == [
        Split(2),
        Named(1, "owl"),
    ]


def test_answers_are_counted_since_a_time(asked):
    send(asked, [Named(1, "owl"), Skip(2), Junk(3)])
    with Reader(asked) as reader:
        assert reader.said.answers_since(0) == 2
        assert reader.said.answers_since(time.time() + 60) == 0


def test_changes_of_classes_are_read_newest_first(asked):
    send(asked, [Named(1, "owl"), RenameClass(0, "nought")])
    with Reader(asked) as reader:
        changes = reader.said.class_changes()
    assert [change.kind for change in changes[:2]] == ["ClassRenamed", "ClassAdded"]
    assert changes[0].body["name"] == "nought"
