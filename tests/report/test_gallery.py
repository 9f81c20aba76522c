import base64
import io
from collections import Counter

import numpy as np
import pytest
from PIL import Image
from report.small_log import EVENTS, ITEMS, NASTY, TRUTH, Page, question

from csim.records import (
    Asked,
    ClassAdded,
    Divided,
    Expired,
    Item,
    Labelled,
    Question,
    Rejected,
    Revised,
    Skipped,
    Undone,
)
from csim.report.gallery import (
    LARGE,
    Card,
    answers,
    card,
    gallery,
    groups,
    strangers,
    telling,
    thumbnail,
)


def pixels(img):
    """Return the pixels that the `src` of an `<img>` holds."""
    raw = base64.b64decode(img["src"].partition(";base64,")[2])
    return np.asarray(Image.open(io.BytesIO(raw)))


def many_groups(sizes, mixed=()):
    """Return a log with a group of each size, and the truth; mixed groups end with a stranger."""
    events = []
    truth = {}
    place = 0
    for number, size in enumerate(sizes, start=1):
        items = tuple(
            Item(str(place + n), place + n, np.zeros((8, 8), np.uint8)) for n in range(1, size + 1)
        )
        place += size
        truth |= {item.id: "crane" for item in items}
        if number in mixed:
            truth[items[-1].id] = "stranger"
        events += [Rejected(item.position, item.id, None, 0.1, 1) for item in items]
        events.append(Asked(place, Question(number, place, items[0], items)))
    return events, truth


def test_every_question_is_shown_when_there_are_few():
    page = Page(gallery(EVENTS, TRUTH))
    assert page.problems == []
    assert page.count("article") == 3
    assert page.count("img") == 3 + 1 + 1, "one image per member"


@pytest.mark.parametrize(("asked", "shown"), [(0, 0), (1, 1), (24, 24), (25, 24), (90, 24)])
def test_no_more_groups_are_shown_than_fit(asked, shown):
    events, truth = many_groups([1 + n % 5 for n in range(asked)])
    assert Page(gallery(events, truth)).count("article") == shown


def test_a_log_without_questions_says_so():
    assert Page(gallery([], None)).words == ["No question was asked."]


def test_the_largest_groups_are_preferred_and_stand_in_order_of_asking():
    sizes = [1, 9, 2, 8, 3, 7, 4, 6, 5, 1]
    events, truth = many_groups(sizes)
    chosen = telling(events, truth, 4)
    assert [len(question.members) for question in chosen] == [9, 8, 7, 6]
    assert [question.id for question in chosen] == sorted(question.id for question in chosen)


def test_a_mixed_group_is_shown_though_larger_ones_are_pure():
    events, truth = many_groups([9] * 30 + [2], mixed=[31])
    assert 31 in {question.id for question in telling(events, truth, 24)}


def test_the_first_group_of_a_class_is_shown_though_it_is_small():
    events, truth = many_groups([9] * 30 + [2])
    told = events[-1].question
    events += [ClassAdded(280, 5, "heron")]
    events += [
        Labelled(280, item.id, 5, told.id, is_told=item == told.representative)
        for item in told.members
    ]
    assert told in telling(events, truth, 24)


def test_strangers_are_those_of_another_class_than_the_representative():
    asked = [event.question for event in EVENTS if isinstance(event, Asked)]
    assert [strangers(question, TRUTH) for question in asked] == [
        Counter({"gull": 1}),
        Counter(),
        Counter(),
    ]
    assert strangers(asked[0], None) == Counter()


def test_a_stranger_is_marked_and_named_in_words():
    page = Page(gallery(EVENTS, TRUTH))
    assert [img["alt"] for img in page.all("img", "stranger")] == ["image 7, truly gull"]
    assert page.count("article", "mixed") == 1
    assert "3 images, purity 67%" in page.words
    assert "wrong: 1 × gull" in page.words


def test_strangers_are_shown_even_if_the_group_is_too_large_to_show_whole():
    events, truth = many_groups([60], mixed=[1])
    page = Page(gallery(events, truth))
    assert page.count("img", "stranger") == 1
    assert page.count("img") == 24
    assert "+36" in page.words


def test_without_the_truth_no_group_is_called_pure_or_mixed():
    page = Page(gallery(EVENTS, None))
    assert page.count("article") == 3
    assert page.count("img", "stranger") == page.count("article", "mixed") == 0
    assert not any("pur" in words for words in page.words)


def test_a_nasty_class_name_stays_text():
    page = Page(gallery(EVENTS, {**TRUTH, "7": NASTY + "'>"}))
    assert page.problems == []
    assert NASTY in page.words
    assert page.count("b") == 0
    assert page.all("img", "stranger")[0]["alt"] == f"image 7, truly {NASTY}'>"


def test_questions_are_told_by_what_became_of_them():
    assert answers(EVENTS) == {1: NASTY, 2: NASTY, 3: "skipped"}


def test_a_corrected_answer_is_the_one_shown():
    corrected = [*EVENTS, *(Revised(12, item, 2, 1) for item in ("3", "4", "7"))]
    assert answers(corrected)[1] == "gull"


def test_an_answer_taken_back_is_none():
    undone = [*EVENTS, Undone(12, 2), Revised(12, "6", 2, None)]
    assert answers(undone)[2] == "not answered"


def test_a_split_question_names_its_parts_and_an_expired_one_is_no_answer():
    events = [
        *(Rejected(n, str(n), 0, 0.1, 1) for n in (1, 2, 3)),
        ClassAdded(0, 0, "crane"),
        Asked(3, question(1, 3, 1, 2)),
        Divided(3, 1, (2, 3)),
        Asked(3, question(2, 3, 1)),
        Asked(3, question(3, 3, 2)),
        Labelled(3, "1", 0, 2, is_told=True),
        Expired(9, 3),
    ]
    assert answers(events) == {1: "split into 2", 2: "crane", 3: "expired"}


def test_a_question_skipped_and_answered_later_shows_its_answer():
    events = [*EVENTS, Labelled(12, "12", 1, 3, is_told=True)]
    assert any(isinstance(event, Skipped) for event in events)
    assert answers(events)[3] == "gull"


@pytest.mark.parametrize("shape", [(8, 8), (28, 28), (32, 32, 3), (5, 9)])
def test_a_small_image_keeps_every_pixel(shape):
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    img = Page(thumbnail(Item("a", 1, image))).all("img")[0]
    assert np.array_equal(pixels(img), image)


@pytest.mark.parametrize(("shape", "small"), [((512, 256, 3), (64, 32, 3)), ((100, 400), (16, 64))])
def test_a_large_image_is_made_small(shape, small):
    image = np.full(shape, 77, np.uint8)
    drawn = pixels(Page(thumbnail(Item("a", 1, image))).all("img")[0])
    assert drawn.shape == small
    assert (drawn == 77).all()


def test_a_slice_of_a_larger_array_can_be_shown_and_is_not_edited():
    whole = np.arange(256, dtype=np.uint8).reshape(16, 16)
    kept = whole.copy()
    img = Page(thumbnail(Item("a", 1, whole[::2, ::-2]))).all("img")[0]
    assert np.array_equal(pixels(img), kept[::2, ::-2])
    assert np.array_equal(whole, kept)


def test_a_picture_says_what_it_is_to_those_who_cannot_see_it():
    img = Page(thumbnail(ITEMS[0], role="shown to the person")).all("img")[0]
    assert img["alt"] == img["title"] == "image 1, shown to the person"


def test_a_photograph_takes_little_room_and_still_looks_like_itself():
    waves = (
        np.sin(np.arange(64) / 5)[:, None, None]
        * np.cos(np.arange(64) / 7)[None, :, None]
        * np.array([1, 0.5, 2])
    )
    photograph = (
        (128 + 60 * waves + np.random.default_rng(0).normal(0, 6, (64, 64, 3)))
        .clip(0, 255)
        .astype(np.uint8)
    )
    img = Page(thumbnail(Item("a", 1, photograph))).all("img")[0]
    assert img["src"].startswith("data:image/jpeg")
    assert len(img["src"]) < 5_000
    assert np.abs(pixels(img).astype(int) - photograph).mean() < 10


def test_few_pixels_are_drawn_as_squares_and_many_are_not():
    few, many = (
        Page(thumbnail(Item("a", 1, np.zeros((side, side), np.uint8)))) for side in (28, 100)
    )
    assert few.count("img", "pixels") == 1
    assert many.count("img", "pixels") == 0


def test_the_image_that_a_person_saw_is_shown_larger():
    image = np.full((400, 200), 9, np.uint8)
    assert pixels(Page(thumbnail(Item("a", 1, image), side=LARGE)).all("img")[0]).shape == (160, 80)


def test_a_group_whose_picture_is_gone_is_shown_all_the_same():
    page = Page(card(Card(7, 1234, NASTY, None, [ITEMS[0]], 5_000, note=NASTY)))
    assert page.problems == []
    assert page.count("img") == 1
    assert {NASTY, "question 7, image 1,234", "5,000 images", "+4,998", "picture not kept"} <= set(
        page.words
    )


def test_no_groups_are_told_in_words():
    assert Page(groups([])).words == ["No question was asked."]


def test_of_a_very_long_id_the_end_is_shown():
    title = Page(thumbnail(Item("deep/" * 800 + "0001.png", 1, ITEMS[0].image))).all("img")[0][
        "title"
    ]
    assert title.startswith("image …")
    assert title.endswith("deep/0001.png")
    assert len(title) < 120
