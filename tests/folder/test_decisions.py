"""What csim decided about images, by id."""

from digit_folder import arrivals
from folder.story import tell

from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.messages import Named
from csim.sources.arrival import Decoded


def test_decisions_are_found_by_id_and_unknown_ids_are_left_out(asked):
    with Reader(asked) as reader:
        rows = reader.decisions.of(["image 3", "nothing", "image 1"])
        assert set(rows) == {"image 1", "image 3"}
        assert [rows[item_id].place for item_id in ("image 1", "image 3")] == [1, 3]
        item = reader.item(3)
    found = rows["image 3"]
    assert (found.is_accepted, found.score, found.model) == (
        item.is_accepted, item.score, item.model,
    )  # fmt: skip
    assert found.class_name == item.name
    assert found.time is not None


def test_more_ids_than_one_query_takes_are_found(asked):
    with Reader(asked) as reader:
        ids = [f"image {number}" for number in range(1, 1500)]
        assert len(reader.decisions.of(ids)) == 200
        assert reader.decisions.of([]) == {}


def test_the_fingerprint_of_what_a_client_sent_is_kept(folder):
    first, second = arrivals(2)
    with Stream(folder, trainer=None) as stream:
        stream.take([Decoded(first.id, first.image, first.kept, b"print"), second])
    with Reader(folder) as reader:
        rows = reader.decisions.of([first.id, second.id])
    assert rows[first.id].fingerprint == b"print"
    assert rows[second.id].fingerprint is None


def test_an_answer_shows_in_the_class_of_today(asked):
    with Reader(asked) as reader:
        question = reader.question_pages.one(1)
        before = reader.decisions.of([question.representative_id])[question.representative_id]
    assert before.asked_in == 1
    with Stream(asked, trainer=None) as stream:
        tell(asked, [Named(1, "heron")])
        stream.attend()
    with Reader(asked) as reader:
        after = reader.decisions.of([question.representative_id])[question.representative_id]
    assert (after.class_name, after.is_told, after.answered_by) == ("heron", True, 1)
    assert (after.nearest, after.score) == (before.nearest, before.score)
