import numpy as np
import pytest

from csim.ask.ledger import Ledger
from csim.errors import QuestionError, SettingsError
from csim.messages import Correct, Named, Skip, Split, Undo
from csim.records import (
    Group,
    Item,
)

ANSWERS = {
    "named": lambda q: Named(q, "heron"),
    "skip": Skip,
    "split": Split,
    "undo": Undo,
    "correct": lambda q: Correct(q, "crane"),
}
APPLIES = {
    "open": {"named", "skip", "split"},
    "skipped": {"named", "split", "undo"},
    "undone": {"named", "skip", "split"},
    "answered": {"undo", "correct"},
    "split": {"undo"},
}


def group(*ids: str) -> Group:
    members = tuple(Item(item_id, 1, np.full((8, 8), len(item_id), np.uint8)) for item_id in ids)
    return Group(members, members[-1], np.zeros(2))


def ledger_with(*groups: Group, size: int = 100) -> Ledger:
    ledger = Ledger(size)
    ledger.open(groups, [((0, 0.7), (1, 0.1))] * len(groups), position=5)
    return ledger


def bring_to(ledger: Ledger, question_id: int, status: str) -> None:
    if status == "answered":
        ledger.mark(question_id, "answered", 3)
    elif status == "split":
        split(ledger, question_id, group("a"), group("b"))
    elif status != "open":
        ledger.mark(question_id, status)


def split(ledger: Ledger, question_id: int, *parts: Group) -> list[int]:
    ledger.mark(question_id, "split")
    made = [part.id for part in ledger.open(parts, [()] * len(parts), position=6)]
    ledger.splits.divide(question_id, made)
    return made


def test_questions_are_numbered_and_open():
    ledger = ledger_with(group("a", "b"), group("c"))
    assert [(q.id, q.position, q.representative.id) for q in ledger.questions()] == [
        (1, 5, "b"),
        (2, 5, "c"),
    ]
    assert ledger.questions()[0].guesses == ((0, 0.7), (1, 0.1))


@pytest.mark.parametrize("status", APPLIES)
@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_applies_only_from_the_states_in_the_drawing(status, kind):
    ledger = ledger_with(group("a", "b"))
    bring_to(ledger, 1, status)
    answer = ANSWERS[kind](1)
    if kind in APPLIES[status]:
        ledger.check([answer])
    else:
        with pytest.raises(QuestionError, match=f"question 1 is {status}"):
            ledger.check([answer])
    assert ledger.entry(1).status == status


@pytest.mark.parametrize("question_id", [0, 3, -1, "1"])
def test_an_unknown_question_is_refused(question_id):
    with pytest.raises(QuestionError, match="no question has the id"):
        ledger_with(group("a"), group("b")).check([Named(question_id, "heron")])


def test_two_answers_to_one_question_are_refused_together():
    with pytest.raises(QuestionError, match="comes twice"):
        ledger_with(group("a", "b")).check([Skip(1), Named(1, "heron")])


def test_a_settled_question_remembers_its_class_until_it_is_undone():
    ledger = ledger_with(group("a", "b"))
    assert [item.id for item in ledger.mark(1, "answered", 3)[0].members] == ["a", "b"]
    assert ledger.questions("answered")[0].id == 1
    question, class_id = ledger.mark(1, "undone")
    assert (question.id, class_id, ledger.entry(1).status) == (1, 3, "undone")


def test_one_image_cannot_be_split():
    with pytest.raises(QuestionError, match="one image only"):
        ledger_with(group("a")).check([Split(1)])


@pytest.mark.parametrize(
    "parts", [(("a", "b", "c"),), (("a",), ("b",)), (("a", "b"), ("b", "c")), (("a", "b", "c"), ())]
)
def test_parts_must_hold_every_image_once(parts):
    ledger = ledger_with(group("a", "b", "c"))
    with pytest.raises(QuestionError, match="parts of question 1"):
        ledger.check([Split(1, parts)])
    ledger.check([Split(1, (("a", "c"), ("b",)))])


def test_room_is_made_by_forgetting_settled_questions_first_and_the_oldest_of_the_rest_next():
    ledger = ledger_with(group("a", "b"), group("c", "d"), group("e", "f"), size=4)
    ledger.mark(2, "answered", 0)
    assert ledger.expire() == []
    assert [q.id for q in ledger.questions()] == [1, 3]
    ledger.open([group("g", "h")], [()], position=9)
    assert ledger.expire() == [1]
    assert [q.id for q in ledger.questions()] == [3, 4]
    assert "a" not in ledger.members.ids
    assert "e" in ledger.members.ids


@pytest.mark.parametrize("status", ["answered", "skipped", "split", "undone"])
def test_a_question_that_was_open_is_listed_no_more_also_after_a_restart(status):
    ledger = ledger_with(group("a", "b"), group("c", "d"), group("e", "f"))
    assert [question.id for question in ledger.questions()] == [1, 2, 3]
    ledger.mark(2, status)
    ledger.open([group("g")], [()], position=9)
    again = Ledger(100)
    again.restore(ledger.state())
    for one in (ledger, again):
        assert [question.id for question in one.questions()] == [1, 3, 4]
        assert [question.id for question in one.questions(status)] == [2]


def test_a_ledger_that_is_full_for_long_remembers_no_more_than_it_may():
    ledger = Ledger(50)
    for number in range(400):
        ledger.open([group(f"{number}a", f"{number}b")], [()], position=number)
        ledger.mark(number + 1, "answered", 0)
        ledger.expire()
    assert len(ledger.questions("answered")) == 25
    assert len(ledger.state()["items"]["ids"]) == 50
    assert sum(f"{number}a" in ledger.members.ids for number in range(400)) == 25


@pytest.mark.parametrize("seed", range(20))
def test_the_ledger_knows_the_members_of_open_questions_whatever_happens(seed):
    rng = np.random.default_rng(seed)
    ledger = Ledger(30)
    names = [f"image {index}" for index in range(40)]
    for position in range(60):
        open_ids = [question.id for question in ledger.questions()]
        some = group(*rng.choice(names, 4, replace=False).tolist())
        act = rng.integers(5)
        if act == 0 or not open_ids:
            ledger.remove_members(some.members)
            ledger.open([some], [()], position=position)
            ledger.expire()
        elif act == 1:
            (joined,) = ledger.select_joinable({open_ids[0]: some.members}).values()
            ledger.remove_members(joined)
            ledger.join(open_ids[0], joined)
        elif act == 2:
            ledger.remove_members(some.members[:2])
        elif act == 3:
            ledger.mark(int(rng.choice(open_ids)), str(rng.choice(["answered", "skipped"])))
        else:
            question = ledger.entry(int(rng.choice(open_ids))).question
            parts = [Group((item,), item, np.zeros(2)) for item in question.members]
            split(ledger, question.id, *parts)
            if rng.random() < 0.5:
                ledger.splits.reunite(question.id)
        again = Ledger(30)
        again.restore(ledger.state())
        members = {item.id for question in ledger.questions() for item in question.members}
        for each in (ledger, again):
            assert [name in each.asked_before().covered for name in names] == [
                name in members for name in names
            ]


def test_an_image_in_a_split_question_and_its_part_is_held_until_both_are_gone():
    ledger = ledger_with(group("a", "b"))
    ledger.mark(1, "split")
    ledger.open([group("a"), group("b")], [(), ()], position=9)
    ledger.size = 2
    assert ledger.expire() == []
    assert "a" in ledger.members.ids
    assert "b" in ledger.members.ids


def item(item_id: str) -> Item:
    return group(item_id).representative


def test_images_join_an_open_question_once_each_behind_its_members():
    ledger = ledger_with(group("a", "b"), group("c"))
    assert ledger.select_joinable({1: [item("x"), item("a"), item("y")]}) == {
        1: [item("x"), item("y")]
    }
    ledger.join(1, [item("x"), item("y")])
    assert ledger.select_joinable({1: [item("y"), item("x")]}) == {1: []}
    question = ledger.entry(1).question
    assert [member.id for member in question.members] == ["a", "b", "x", "y"]
    assert (question.id, question.position, question.representative.id) == (1, 5, "b")
    assert question.guesses == ((0, 0.7), (1, 0.1))
    assert [member.id for member in ledger.entry(2).question.members] == ["c"]


def test_a_question_that_nobody_asked_cannot_be_joined():
    with pytest.raises(QuestionError, match="no question has the id 7"):
        ledger_with(group("a")).join(7, [item("x")])


def test_images_that_joined_need_room_as_the_others_do_and_leave_with_their_question():
    ledger = ledger_with(group("a"), group("b"), size=3)
    ledger.join(1, [item("x"), item("y")])
    assert "x" in ledger.members.ids
    assert ledger.expire() == [1]
    assert "x" not in ledger.members.ids
    assert "b" in ledger.members.ids


def test_an_image_that_another_question_shows_joins_none():
    ledger = ledger_with(group("a"), group("b"), group("c"), group("d"))
    ledger.mark(3, "skipped")
    ledger.mark(4, "split")
    assert ledger.select_joinable({1: [item("b"), item("c"), item("d")]}) == {1: [item("d")]}


def test_members_are_removed_from_open_questions_but_not_from_those_that_show_them():
    ledger = ledger_with(group("a", "b", "c"), group("d", "e"), group("f", "g"))
    ledger.mark(3, "skipped")
    left = ledger.remove_members([item("a"), item("c"), item("d"), item("g"), item("x")])
    assert [(question_id, [member.id for member in gone]) for question_id, gone in left] == [
        (1, ["a"]),
        (2, ["d"]),
    ]
    assert [member.id for member in ledger.entry(1).question.members] == ["b", "c"]
    assert ledger.entry(1).question.representative.id == "c"
    assert "a" not in ledger.members.ids
    assert "g" in ledger.members.ids
    assert ledger.remove_members([item("a")]) == []


def test_a_removed_member_needs_no_room():
    ledger = ledger_with(group("a", "b", "c"), size=2)
    ledger.remove_members([item("a")])
    assert ledger.expire() == []
    assert "a" not in ledger.members.ids


def test_an_answer_does_not_label_excluded_members():
    ledger = ledger_with(group("a", "b", "c"), group("d", "e"))
    again = Ledger(100)
    ledger.mark(1, "answered", 0)
    ledger.members.exclude(["a", "d", "x"])
    again.restore(ledger.state())
    for kept in (ledger, again):
        assert [item.id for item in kept.entry(1).answered_members()] == ["b", "c"]
        assert [item.id for item in kept.entry(2).answered_members()] == [
            "d",
            "e",
        ]  # not answered yet
        assert [item.id for item in kept.entry(1).question.members] == ["a", "b", "c"]


def test_who_joined_is_settled_saved_and_split_with_the_rest():
    ledger = ledger_with(group("a", "b"))
    again = Ledger(100)
    ledger.join(1, [item("x")])
    ledger.check([Split(1, (("a", "x"), ("b",)))])
    again.restore(ledger.state())
    assert again.questions() == ledger.questions()
    assert [member.id for member in again.mark(1, "answered", 0)[0].members] == ["a", "b", "x"]
    assert "x" in again.members.ids


def test_a_split_that_is_undone_leaves_the_question_with_what_its_parts_hold_now():
    ledger = ledger_with(group("a", "b", "c"))
    parts = split(ledger, 1, group("a"), group("b", "c"))
    ledger.remove_members(group("b").members)
    ledger.join(parts[0], group("d").members)
    before, after, gone = ledger.splits.reunite(1)
    assert [item.id for item in before.members] == ["a", "b", "c"]
    assert [item.id for item in after.members] == ["a", "c", "d"]
    assert gone == parts
    assert ledger.entry(1).status == "undone"
    assert ["b" in ledger.members.ids, "c" in ledger.members.ids] == [False, True]
    with pytest.raises(QuestionError, match="no question has the id 2"):
        ledger.entry(2)


@pytest.mark.parametrize("status", ["answered", "split"])
def test_a_split_is_undone_only_after_its_parts(status):
    ledger = ledger_with(group("a", "b", "c"))
    first, _ = split(ledger, 1, group("a", "b"), group("c"))
    bring_to(ledger, first, status)
    with pytest.raises(QuestionError, match=f"question 2, is {status}; undo question 2 first"):
        ledger.check([Undo(1)])
    if status == "split":
        ledger.splits.reunite(first)
    else:
        ledger.mark(first, "undone")
    ledger.check([Undo(1)])


def test_a_split_whose_parts_are_forgotten_stays_split():
    ledger = ledger_with(group("a", "b"))
    split(ledger, 1, group("a"), group("b"))
    ledger.size = 3
    ledger.entry(1).status = "open"  # so that a part is forgotten first
    ledger.mark(2, "answered", 3)
    ledger.expire()
    ledger.mark(1, "split")
    with pytest.raises(QuestionError, match="no longer holds its parts"):
        ledger.check([Undo(1)])


def test_a_split_question_that_made_room_for_its_parts_is_forgotten():
    ledger = ledger_with(group("a", "b"), size=2)
    ledger.mark(1, "split")
    parts = ledger.open([group("a"), group("b")], [(), ()], position=6)
    ledger.expire()
    ledger.splits.divide(1, [part.id for part in parts])
    with pytest.raises(QuestionError, match="no question has the id 1"):
        ledger.check([Undo(1)])


def test_a_split_is_not_undone_if_another_question_shows_its_image():
    ledger = ledger_with(group("a", "b"))
    split(ledger, 1, group("a"), group("c"))
    ledger.open([group("b")], [()], position=7, is_given=True)
    with pytest.raises(QuestionError, match="question 4 shows the image of question 1 now"):
        ledger.check([Undo(1)])


def test_a_split_can_be_undone_after_a_restore():
    ledger = ledger_with(group("a", "b"))
    parts = split(ledger, 1, group("a"), group("b"))
    other = Ledger(100)
    other.restore(ledger.state())
    other.check([Undo(1)])
    assert other.splits.reunite(1)[2] == parts


def test_state_survives_a_round_trip():
    ledger = ledger_with(group("a", "b"), group("c"), group("d"))
    ledger.mark(1, "answered", 4)
    ledger.mark(2, "skipped")
    again = Ledger(100)
    again.restore(ledger.state())
    assert [again.entry(q).status for q in (1, 2, 3)] == ["answered", "skipped", "open"]
    assert again.questions("answered") == ledger.questions("answered")
    assert again.questions("answered")[0].representative.image.tolist() == [[1] * 8] * 8
    assert again.mark(1, "undone")[1] == 4
    assert again.open([group("z")], [()], position=9)[0].id == 4


def test_a_ledger_without_room_is_refused():
    with pytest.raises(SettingsError):
        Ledger(0)


def test_the_ledger_knows_what_its_questions_show_until_they_are_split_or_forgotten():
    ledger = ledger_with(group("a", "bb"), size=4)
    content = {name: group(name).representative.content.tobytes() for name in ("a", "bb", "ccc")}
    assert [content[name] in ledger.asked_before().shown for name in content] == [
        False,
        True,
        False,
    ]
    split(ledger, 1, group("a"), group("ccc"))
    assert [content[name] in ledger.asked_before().shown for name in content] == [True, False, True]
    restored = Ledger(4)
    restored.restore(ledger.state())
    for each in (ledger, restored):
        each.splits.reunite(1)
        assert [content[name] in each.asked_before().shown for name in content] == [
            False,
            True,
            False,
        ]
    ledger.mark(1, "answered", 3)
    ledger.open([group("a", "b", "c", "ccc")], [()], position=7)
    ledger.expire()
    assert [content[name] in ledger.asked_before().shown for name in content] == [
        False,
        False,
        True,
    ]


def test_several_questions_may_show_the_same_content():
    ledger = ledger_with(group("a"), group("b"))
    content = group("a").representative.content.tobytes()
    split(ledger, 1, group("ccc"))
    assert content in ledger.asked_before().shown
    ledger.mark(2, "split")
    assert content not in ledger.asked_before().shown
