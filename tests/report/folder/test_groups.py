import io
import sqlite3

import numpy as np
import pytest
from PIL import Image
from report.small_folder import copy_of, small_folder, truth
from report.small_log import Page

from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import RemoveClass
from csim.report.folder.groups import examples, open_cards, picture, settled_cards
from csim.report.gallery import card

TRUTH = {item: "FOUR" if name == "four" else name for item, name in truth().items()}


@pytest.fixture(scope="module")
def reader():
    with Reader(small_folder()) as reader:
        yield reader


def changed(tmp_path, *statements):
    """Return a reader of a copy after some statements."""
    root = copy_of(tmp_path)
    connection = sqlite3.connect(root / "stream.db")
    with connection:
        for statement, values in statements:
            connection.execute(statement, values)
    connection.close()
    return Reader(root)


def test_open_groups_are_the_oldest_that_wait_with_their_guesses(reader):
    cards = open_cards(reader, most=5)
    assert [found.question_id for found in cards] == [
        question.id for question in reader.questions("open")
    ][:5]
    assert {found.outcome for found in cards} == {"What is this?"}
    assert all(found.note.startswith("the model's guess: ") for found in cards)
    assert all(found.odd is None for found in cards), "nobody has looked yet"


def test_settled_groups_do_not_wait_and_stand_in_order_of_asking(reader):
    shown = [found.question_id for found in settled_cards(reader, {}, None, most=40)]
    assert shown == [
        question.id for question in reader.questions(None) if question.status != "open"
    ]
    assert len(settled_cards(reader, {}, None, most=7)) == 7
    assert settled_cards(reader, {}, None, most=0) == []


def test_a_group_says_what_became_of_it(reader):
    outcomes = {
        found.question_id: found.outcome for found in settled_cards(reader, {}, None, most=40)
    }
    expected = {"skipped": "skipped", "undone": "taken back"}
    for question in reader.questions(None):
        if question.status != "open":
            assert outcomes[question.id] == (question.name or expected[question.status])


def test_the_first_group_of_each_class_is_among_few(reader):
    wanted = {}
    for question in reader.questions("answered"):
        if len(question.members) > 1:
            wanted.setdefault(question.name, question.id)
    shown = {found.question_id for found in settled_cards(reader, {}, None, most=10)}
    assert len(wanted) == 4
    assert set(wanted.values()) <= shown


def test_mixed_groups_are_shown_and_their_strangers_come_first(reader):
    mixed = [
        question.id
        for question in reader.questions("answered")
        if len({TRUTH[reader.item(place).id] for place in question.members}) > 1
    ]
    cards = {
        found.question_id: found
        for found in settled_cards(reader, dict.fromkeys(mixed, 3), TRUTH, most=8)
    }
    assert set(mixed[:2]) <= set(cards)
    found = cards[mixed[0]]
    assert found.odd
    marks = [item.id in found.odd for item in found.others]
    assert marks == sorted(marks, reverse=True)


def test_a_group_is_shown_with_a_few_of_its_images_and_its_size(reader, tmp_path):
    first = reader.questions("answered")[0].id
    more = (
        "INSERT OR IGNORE INTO members SELECT ?, place FROM items"
        " WHERE picture IS NOT NULL AND place > 0"
    )
    with changed(tmp_path, (more, (first,))) as other:
        largest = max(other.questions("answered"), key=lambda question: len(question.members))
        found = next(
            found
            for found in settled_cards(other, {}, None, most=40)
            if found.question_id == largest.id
        )
    assert largest.id == first
    assert found.size == len(largest.members) > 15
    assert len(found.others) == 14
    assert found.representative.position == largest.representative
    assert f"+{found.size - 15}" in Page(card(found)).words


def test_examples_are_the_newest_of_a_class_by_who_named_them(reader):
    ids = {row.name: row.id for row in reader.classes()}
    found = examples(reader, list(ids.values()))
    for name, class_id in ids.items():
        mine = [item for item in reader.items() if item.name == name and item.has_picture]
        mine.sort(key=lambda item: -item.place)
        assert [item.id for item in found[class_id].told] == [
            item.id for item in mine if item.is_told
        ][:6]
        assert [item.id for item in found[class_id].given] == [
            item.id for item in mine if not item.is_told
        ][:6]
    assert len(found[ids["three"]].given) == 6
    assert found[ids["never seen"]].told == []


def test_examples_of_classes_that_are_not_asked_for_are_not_made(reader):
    assert list(examples(reader, [0])) == [0]


def test_a_picture_is_what_was_kept(reader):
    item = next(row for row in reader.items() if row.place > 0 and row.has_picture)
    kept = np.asarray(Image.open(io.BytesIO(reader.picture(item.place))))
    assert np.array_equal(picture(reader, item.place, item.id).image, kept)


def test_a_large_picture_is_made_small_and_a_damaged_one_is_none(tmp_path):
    buffer = io.BytesIO()
    Image.new("RGB", (640, 320), "red").save(buffer, "JPEG")
    with changed(tmp_path, ("UPDATE pictures SET file = ?", (buffer.getvalue(),))) as reader:
        item = next(row for row in reader.items() if row.has_picture)
        assert picture(reader, item.place, item.id).image.shape == (32, 64, 3)
        assert picture(reader, item.place, item.id, 160).image.shape == (80, 160, 3)
    connection = sqlite3.connect(reader.layout.database)
    with connection:
        connection.execute("UPDATE pictures SET file = ?", (buffer.getvalue()[:500],))
    connection.close()
    with Reader(reader.layout.root) as reader:
        assert picture(reader, item.place, item.id) is None


def test_groups_whose_pictures_are_gone_are_shown_without(tmp_path):
    gone = ("UPDATE items SET picture = NULL", ()), ("DELETE FROM pictures", ())
    with changed(tmp_path, *gone) as reader:
        cards = settled_cards(reader, {}, TRUTH, most=40) + open_cards(reader, 40)
        assert len(cards) == len(reader.questions(None))
        assert all(found.representative is None and not found.others for found in cards)
        page = Page("".join(map(card, cards)))
        assert page.problems == []
        assert page.count("img") == 0
        assert page.words.count("picture not kept") == len(cards)
        found = examples(reader, [0, 1])
        assert not found[0].told
        assert not found[1].given


def test_a_question_whose_class_was_removed_says_so(tmp_path):
    root = copy_of(tmp_path)
    with Reader(root) as reader:
        three = next(row.id for row in reader.classes() if row.name == "three")
        threes = sum(row.name == "three" for row in reader.questions("answered"))
    send(root, [RemoveClass(three)])
    with Reader(root) as reader:
        outcomes = [found.outcome for found in settled_cards(reader, {}, None, most=40)]
        assert outcomes.count("class removed") == threes > 1
        assert "three" not in outcomes
