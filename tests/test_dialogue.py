import numpy as np
import pytest

from csim.ask.audit import Audit
from csim.ask.budget import Budget
from csim.ask.catalogue import Catalogue
from csim.ask.ledger import Ledger
from csim.dialogue import Dialogue
from csim.errors import ClassError, InputError, QuestionError
from csim.messages import (
    AddClass,
    Correct,
    Junk,
    LabelImages,
    MergeClasses,
    Named,
    RemoveClass,
    RenameClass,
    RestoreClass,
    Skip,
    Split,
    Undo,
    UndoAnswers,
)
from csim.records import (
    JUNK,
    Asked,
    ClassAdded,
    ClassesMerged,
    ClassRemoved,
    ClassRenamed,
    ClassRestored,
    Corrected,
    Divided,
    Expired,
    Group,
    Item,
    Joined,
    Labelled,
    Left,
    Revised,
    Skipped,
    Undone,
)
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut


def group(*ids: str) -> Group:
    members = tuple(Item(item_id, 3, np.zeros((8, 8), np.uint8)) for item_id in ids)
    return Group(members, members[0], np.zeros(2))


def no_guess(vector) -> tuple:
    return ()


def dialogue(recent: dict | None = None) -> Dialogue:
    """One class from the warm-up, "old", and two questions: 1 about a and b, 2 about c."""
    made = Dialogue(
        Ledger(100),
        Catalogue(),
        ClassStore(10, OldestOut()),
        Budget(0.5),
        Audit(0, seed=0),
        (recent or {}).get,
    )
    made.edit(AddClass("old"), 0)
    made.ask([group("a", "b"), group("c")], no_guess, position=4)
    return made


def stored(made: Dialogue, class_id: int) -> list[str]:
    return [item.id for item in made.store.items(class_id)]


def test_an_answer_labels_the_whole_group_and_adds_the_class():
    made = dialogue()
    assert made.hear(Named(1, "heron"), 9) == [
        ClassAdded(9, 1, "heron"),
        Labelled(9, "a", 1, 1, is_told=True),
        Labelled(9, "b", 1, 1, is_told=False),
    ]
    assert stored(made, 1) == ["a", "b"]


def test_a_second_answer_of_the_same_name_adds_no_class():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    assert made.hear(Named(2, " heron"), 9) == [Labelled(9, "c", 1, 2, is_told=True)]


def test_a_skipped_question_can_still_be_answered():
    made = dialogue()
    assert made.hear(Skip(2), 9) == [Skipped(9, 2)]
    assert stored(made, 1) == []
    made.check([Named(2, "heron")])
    assert made.hear(Named(2, "heron"), 12)[-1] == Labelled(12, "c", 1, 2, is_told=True)


def test_undoing_takes_the_labels_back_and_the_only_answer_takes_the_class_with_it():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    assert made.hear(Undo(1), 20) == [
        Undone(20, 1),
        Revised(20, "a", 1, None),
        Revised(20, "b", 1, None),
        ClassRemoved(20, 1),
    ]
    assert stored(made, 1) == []
    assert made.catalogue.names() == {0: "old"}


def test_undoing_leaves_a_class_that_another_answer_or_the_warm_up_stands_behind():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.hear(Named(2, "heron"), 9)
    assert made.hear(Undo(1), 20) == [
        Undone(20, 1),
        Revised(20, "a", 1, None),
        Revised(20, "b", 1, None),
    ]
    assert stored(made, 1) == ["c"]
    made.hear(Correct(2, "old"), 21)
    made.hear(Undo(2), 22)
    assert made.catalogue.names() == {0: "old"}


def test_an_undone_question_can_be_answered_anew():
    made = dialogue()
    made.hear(Named(1, "hern"), 9)
    made.hear(Undo(1), 10)
    made.check([Named(1, "heron")])
    made.hear(Named(1, "heron"), 11)
    assert stored(made, 2) == ["a", "b"]
    assert made.catalogue.names() == {0: "old", 2: "heron"}


def test_a_correction_moves_all_that_the_answer_had_spread_to():
    made = dialogue()
    made.hear(Named(1, "hern"), 9)
    assert made.hear(Correct(1, "heron"), 30) == [
        ClassAdded(30, 2, "heron"),
        Corrected(30, 1, 2),
        Revised(30, "a", 1, 2),
        Revised(30, "b", 1, 2),
        ClassRemoved(30, 1),
    ]
    assert stored(made, 2) == ["a", "b"]


def test_a_correction_to_a_class_that_is_there_names_the_question_and_that_class():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.hear(Named(2, "heron"), 9)
    assert made.hear(Correct(2, " old"), 30) == [Corrected(30, 2, 0), Revised(30, "c", 1, 0)]
    assert stored(made, 0) == ["c"]


def test_a_correction_to_the_same_name_changes_nothing_that_lasts():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.hear(Correct(1, "heron"), 30)
    assert made.catalogue.names() == {0: "old", 1: "heron"}
    assert made.hear(Undo(1), 31)[-1] == ClassRemoved(31, 1)


def test_a_split_question_is_asked_in_parts():
    made = dialogue()
    events = made.take([Split(1)], {Split(1): [group("a"), group("b")]}, no_guess, 9)
    assert events[0] == Divided(9, 1, (3, 4))
    assert [event.question.representative.id for event in events[1:]] == ["a", "b"]
    assert [question.id for question in made.ledger.questions()] == [2, 3, 4]


def test_a_split_is_undone_and_the_question_is_answered_whole():
    made = dialogue()
    made.take([Split(1)], {Split(1): [group("a"), group("b")]}, no_guess, 6)
    assert made.hear(Undo(1), 7) == [Undone(7, 1), Expired(7, 3), Expired(7, 4)]
    made.hear(Named(1, "heron"), 8)
    assert stored(made, 1) == ["a", "b"]


def test_undoing_a_split_tells_which_images_came_and_went_meanwhile():
    made = dialogue()
    made.take([Split(1)], {Split(1): [group("a"), group("b", "d")]}, no_guess, 6)
    made.ask([group("d")], no_guess, 6, {3: group("e").members})
    assert made.hear(Undo(1), 7)[:2] == [Undone(7, 1), Joined(7, 1, ("e",))]
    made = dialogue()
    made.ask([group("x", "y", "z")], no_guess, 6)
    made.take([Split(3)], {Split(3): [group("x"), group("y", "z")]}, no_guess, 6)
    made.ask([group("z")], no_guess, 6)
    assert made.hear(Undo(3), 7)[:2] == [Undone(7, 3), Left(7, 3, ("z",))]


def test_several_answers_are_undone_together_or_not_at_all():
    made = dialogue()
    made.hear(Named(1, "heron"), 5)
    with pytest.raises(QuestionError, match="question 2 is open"):
        made.edit(UndoAnswers((1, 2)), 6)
    assert stored(made, 1) == ["a", "b"]
    made.hear(Named(2, "crane"), 7)
    events = made.edit(UndoAnswers((1, 2)), 8)
    assert [event.question_id for event in events if isinstance(event, Undone)] == [1, 2]
    assert list(made.catalogue.names().values()) == ["old"]


def test_a_merge_moves_the_images_and_old_answers_can_still_be_undone():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.hear(Named(2, "crane"), 9)
    assert made.edit(MergeClasses(1, 2), 15) == [ClassesMerged(15, 1, 2)]
    assert stored(made, 2) == ["a", "b", "c"]
    assert made.hear(Undo(1), 16) == [
        Undone(16, 1),
        Revised(16, "a", 2, None),
        Revised(16, "b", 2, None),
    ]
    assert stored(made, 2) == ["c"]


def test_removing_a_class_revises_its_stored_images():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    assert made.edit(RemoveClass(1), 15) == [
        ClassRemoved(15, 1),
        Revised(15, "a", 1, None),
        Revised(15, "b", 1, None),
    ]
    assert made.hear(Undo(1), 16) == [Undone(16, 1)]


def test_restoring_a_class_brings_back_its_id_its_name_and_its_labels():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    before = made.state() | {"store": made.store.state()}
    made.edit(RemoveClass(1), 15)
    assert made.edit(RestoreClass(1), 16) == [
        ClassRestored(16, 1, "heron", ()),
        Revised(16, "a", None, 1),
        Labelled(16, "b", 1, 1, is_told=False),
    ]
    assert stored(made, 1) == ["a", "b"]
    assert made.store.is_told("a")
    after = made.state() | {"store": made.store.state()}
    assert after["catalogue"] == before["catalogue"]
    assert after["ledger"]["class_id"] == before["ledger"]["class_id"]
    assert after["store"]["told"] == before["store"]["told"]
    assert made.hear(Undo(1), 17) == [
        Undone(17, 1),
        Revised(17, "a", 1, None),
        Revised(17, "b", 1, None),
        ClassRemoved(17, 1),  # its only answer is withdrawn
    ]


def test_what_was_said_about_an_image_meanwhile_outlives_the_restoration_of_its_class():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.hear(Named(2, "heron"), 9)
    made.edit(RemoveClass(1), 15)
    made.hear(Undo(1), 16)
    made.hear(Correct(2, "crane"), 16)
    assert made.edit(RestoreClass(1), 17) == [ClassRestored(17, 1, "heron", ())]
    assert stored(made, 1) == []
    assert stored(made, 2) == ["c"]
    assert made.catalogue.names() == {0: "old", 1: "heron", 2: "crane"}


def test_a_restored_class_has_the_classes_that_were_merged_into_it():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.edit(MergeClasses(0, 1), 10)
    made.edit(RemoveClass(1), 11)
    assert made.catalogue.current(0) is None
    assert made.edit(RestoreClass(1), 12)[0] == ClassRestored(12, 1, "heron", (0,))
    assert [made.catalogue.current(class_id) for class_id in (0, 1)] == [1, 1]


def test_a_restored_class_needs_its_name():
    made = dialogue()
    made.edit(RemoveClass(0), 9)
    made.edit(AddClass("old"), 10)
    with pytest.raises(ClassError, match="'old' belongs to class 1"):
        made.edit(RestoreClass(0), 11)
    made.edit(RenameClass(1, "new"), 12)
    made.edit(RestoreClass(0), 13)
    assert made.catalogue.names() == {0: "old", 1: "new"}


def test_a_removed_class_survives_save_and_load_and_is_then_restored():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.edit(RemoveClass(1), 15)
    again = dialogue()
    again.restore(made.state())
    again.store.restore(made.store.state())
    assert again.edit(RestoreClass(1), 16) == made.edit(RestoreClass(1), 16)
    assert stored(again, 1) == ["a", "b"]


def test_renaming_keeps_the_id():
    made = dialogue()
    assert made.edit(RenameClass(0, "older"), 3) == [ClassRenamed(3, 0, "older")]
    assert made.class_id("older") == 0
    with pytest.raises(ClassError, match="no class is called 'old'"):
        made.class_id("old")


@pytest.mark.parametrize("name", ["", "x" * 10_000])
def test_a_bad_name_among_good_answers_lets_none_through(name):
    made = dialogue()
    with pytest.raises(InputError):
        made.check([Named(1, "heron"), Named(2, name)])
    assert made.catalogue.names() == {0: "old"}
    assert len(made.ledger.questions()) == 2


@pytest.mark.parametrize(
    "edit",
    [
        AddClass("old"),
        RenameClass(7, "x"),
        MergeClasses(0, 0),
        RemoveClass(3),
        AddClass(""),
        RestoreClass(0),
        RestoreClass(9),
    ],
)
def test_a_bad_edit_changes_nothing(edit):
    made = dialogue()
    with pytest.raises((ClassError, InputError)):
        made.edit(edit, 9)
    assert made.catalogue.names() == {0: "old"}


def test_answers_that_name_a_class_are_counted_and_corrections_with_them():
    made = dialogue()
    counts = [made.told]
    for answer in (
        Skip(2),
        Named(1, "hern"),
        Correct(1, "heron"),
        Undo(1),
        Named(1, "heron"),
        Named(2, "old"),
    ):
        made.hear(answer, 9)
        counts.append(made.told)
    assert counts == [0, 0, 1, 2, 2, 3, 4]


def test_neither_a_split_nor_an_edit_counts_as_told():
    made = dialogue()
    made.take([Split(1)], {Split(1): [group("a"), group("b")]}, no_guess, 9)
    made.edit(AddClass("heron"), 9)
    made.edit(MergeClasses(1, 0), 9)
    assert made.told == 0


def test_every_question_is_paid_for_and_the_parts_of_a_split_too():
    made = dialogue()  # two questions, half a question per image
    assert made.budget.left(4) == 0
    assert made.budget.left(6) == 1
    made.take([Split(1)], {Split(1): [group("a"), group("b")]}, no_guess, 9)
    assert made.budget.left(8) == 0
    assert made.budget.left(10) == 1


def test_asking_about_nothing_costs_nothing():
    made = dialogue()
    assert made.ask([], no_guess, 9) == []
    assert made.budget.left(9) == 2


def item(item_id: str) -> Item:
    return group(item_id).representative


def test_a_question_carries_the_guess_at_its_representative():
    made = dialogue()
    far = Group((item("x"),), item("x"), np.array([9.0]))
    near = Group((item("y"),), item("y"), np.array([2.0]))
    asked = made.ask([far, near], lambda vector: ((0, float(vector[0])),), 9)
    assert [event.question.guesses for event in asked] == [((0, 9.0),), ((0, 2.0),)]


def test_images_that_join_a_question_cost_nothing_and_are_answered_with_it():
    made = dialogue()
    left = made.budget.left(9)
    assert made.ask([], no_guess, 9, {1: [item("x"), item("y")]}) == [Joined(9, 1, ("x", "y"))]
    assert made.budget.left(9) == left
    assert [event.item_id for event in made.hear(Named(1, "heron"), 12)[1:]] == ["a", "b", "x", "y"]
    assert [made.store.is_told(item_id) for item_id in "abxy"] == [True, False, False, False]
    assert stored(made, 1) == ["a", "b", "x", "y"]


def test_an_image_joins_a_question_once_and_only_news_is_told():
    made = dialogue()
    made.ask([], no_guess, 9, {1: [item("x")]})
    assert made.ask([], no_guess, 10, {1: [item("a"), item("x"), item("y")], 2: [item("c")]}) == [
        Joined(10, 1, ("y",))
    ]


def test_joining_comes_before_asking_and_both_may_make_old_questions_expire():
    made = Dialogue(
        Ledger(4),
        Catalogue(),
        ClassStore(10, OldestOut()),
        Budget(1),
        Audit(0, seed=0),
        {}.get,
    )
    made.ask([group("a"), group("b")], no_guess, 4)
    kinds = [
        type(event) for event in made.ask([group("c")], no_guess, 9, {2: [item("x"), item("y")]})
    ]
    assert kinds == [Joined, Asked, Expired]
    assert [question.id for question in made.ledger.questions()] == [2, 3]


def test_an_image_leaves_an_open_question_when_another_takes_it():
    made = dialogue()
    assert made.ask([], no_guess, 9, {2: [item("b"), item("x")]}) == [
        Left(9, 1, ("b",)),
        Joined(9, 2, ("b", "x")),
    ]
    left, asked = made.ask([group("x", "b")], no_guess, 10)
    assert left == Left(10, 2, ("b", "x"))
    assert [member.id for member in asked.question.members] == ["x", "b"]
    assert [[member.id for member in question.members] for question in made.ledger.questions()] == [
        ["a"], ["c"], ["x", "b"]
    ]  # fmt: skip


def test_an_image_that_a_question_shows_does_not_join_another():
    made = dialogue()
    assert made.ask([], no_guess, 9, {1: [item("c")]}) == []


def test_a_split_speaks_of_no_image_that_a_person_is_or_was_shown_for_another_question():
    made = dialogue()
    made.hear(Skip(1), 7)
    made.ask([group("b")], no_guess, 8)
    assert made.members([Split(1)]) == {Split(1): [item("a")]}
    made.hear(Named(3, "heron"), 9)
    assert made.members([Split(1)]) == {Split(1): [item("a")]}
    made.ledger.size = 3
    made.ledger.expire()  # forgets what was answered; the store still knows
    assert made.members([Split(1)]) == {Split(1): [item("a")]}


def test_two_splits_at_once_do_not_ask_about_the_same_image():
    made = dialogue()
    made.hear(Skip(1), 7)
    made.ask([group("d", "b", "e")], no_guess, 8)
    both = made.members([Split(1), Named(2, "heron"), Split(3)])
    assert both == {Split(1): [item("a"), item("b")], Split(3): [item("d"), item("e")]}


def asked_twice() -> Dialogue:
    """Question 3 is about b, which question 1, put aside, has among its members."""
    made = dialogue()
    made.hear(Skip(1), 7)
    made.ask([group("b")], no_guess, 8)
    return made


def test_an_answer_does_not_overwrite_what_a_person_told_another_question():
    made = asked_twice()
    made.hear(Named(3, "crane"), 9)
    assert made.hear(Named(1, "heron"), 10) == [
        ClassAdded(10, 2, "heron"),
        Labelled(10, "a", 2, 1, is_told=True),
    ]
    assert (stored(made, 1), stored(made, 2)) == (["b"], ["a"])
    assert made.store.is_told("b")


def test_what_a_person_tells_of_an_image_replaces_what_was_spread_to_it():
    made = asked_twice()
    made.hear(Named(1, "heron"), 9)
    assert made.hear(Named(3, "crane"), 10)[-1] == Labelled(10, "b", 2, 3, is_told=True)
    assert (stored(made, 1), stored(made, 2)) == (["a"], ["b"])


@pytest.mark.parametrize("first", [1, 3])
def test_a_correction_leaves_what_a_person_told_another_question(first):
    made = asked_twice()
    for question_id in (first, 4 - first):
        made.hear(Named(question_id, {1: "heron", 3: "crane"}[question_id]), 9)
    crane = made.class_id("crane")
    revised = [
        event.item_id for event in made.hear(Correct(1, "stork"), 20) if isinstance(event, Revised)
    ]
    assert revised == ["a"]
    assert stored(made, crane) == ["b"]


@pytest.mark.parametrize("first", [1, 3])
def test_undoing_an_answer_leaves_what_a_person_told_another_question(first):
    made = asked_twice()
    for question_id in (first, 4 - first):
        made.hear(Named(question_id, {1: "heron", 3: "crane"}[question_id]), 9)
    crane = made.class_id("crane")
    revised = [event.item_id for event in made.hear(Undo(1), 20) if isinstance(event, Revised)]
    assert revised == ["a"]
    assert stored(made, crane) == ["b"]


def test_undoing_takes_images_that_joined_back_with_the_others():
    made = dialogue()
    made.ask([], no_guess, 9, {1: [item("x")]})
    made.hear(Named(1, "heron"), 12)
    assert [e.item_id for e in made.hear(Undo(1), 20) if isinstance(e, Revised)] == ["a", "b", "x"]
    assert "x" not in made.store.ids


def test_questions_classes_and_costs_survive_a_restore():
    made = dialogue()
    other = Dialogue(
        Ledger(100),
        Catalogue(),
        ClassStore(10, OldestOut()),
        Budget(0.5),
        Audit(0, seed=0),
        {}.get,
    )
    made.hear(Named(1, "hern"), 9)
    made.hear(Correct(1, "heron"), 9)
    other.ask([group("z")] * 3, no_guess, 2)  # a restore forgets what was there
    other.told = 77
    other.restore(made.state())
    assert other.told == 2
    assert [other.budget.left(position) for position in range(20)] == [
        made.budget.left(p) for p in range(20)
    ]
    assert other.catalogue.names() == made.catalogue.names()
    assert [question.id for question in other.ledger.questions()] == [2]


def test_junk_labels_the_group_without_adding_a_class():
    made = dialogue()
    assert made.hear(Junk(1), 9) == [
        Labelled(9, "a", JUNK, 1, is_told=True),
        Labelled(9, "b", JUNK, 1, is_told=False),
    ]
    assert stored(made, JUNK) == ["a", "b"]
    assert made.catalogue.names() == {0: "old"}
    assert made.told == 1


def test_a_class_called_junk_has_nothing_to_do_with_junk():
    made = dialogue()
    made.hear(Junk(1), 9)
    assert made.hear(Named(2, "junk"), 9)[0] == ClassAdded(9, 1, "junk")
    assert (stored(made, JUNK), stored(made, 1)) == (["a", "b"], ["c"])


def test_junk_refers_to_itself_until_its_last_answer_is_undone():
    made = dialogue()
    assert made.catalogue.current(JUNK) is None
    made.hear(Junk(1), 9)
    made.hear(Junk(2), 9)
    made.hear(Undo(1), 10)
    assert made.catalogue.current(JUNK) == JUNK
    assert made.hear(Undo(2), 11) == [Undone(11, 2), Revised(11, "c", JUNK, None)]
    assert made.catalogue.current(JUNK) is None
    assert stored(made, JUNK) == []


def test_junk_is_corrected_to_a_class_and_a_class_to_junk():
    made = dialogue()
    made.hear(Junk(2), 9)
    assert made.hear(Correct(2, "heron"), 10) == [
        ClassAdded(10, 1, "heron"),
        Corrected(10, 2, 1),
        Revised(10, "c", JUNK, 1),
    ]
    assert made.hear(Correct(2, None), 11) == [
        Corrected(11, 2, JUNK),
        Revised(11, "c", 1, JUNK),
        ClassRemoved(11, 1),
    ]
    assert made.told == 3


def test_junk_cannot_be_edited_as_if_it_were_a_class():
    made = dialogue()
    made.hear(Junk(1), 9)
    for edit in (RenameClass(JUNK, "x"), RemoveClass(JUNK), MergeClasses(JUNK, 0)):
        with pytest.raises(ClassError, match="no class has the id -2"):
            made.edit(edit, 10)


def test_labelling_an_image_opens_a_question_and_answers_it_without_budget():
    made = dialogue({"x": item("x")})
    left = made.budget.left(20)
    asked, labelled = made.edit(LabelImages(("x",), "old"), 9)
    assert labelled == Labelled(9, "x", 0, asked.question.id, is_told=True)
    kinds = [type(event) for event in made.edit(LabelImages(("x",), None), 10)]
    assert kinds == [Corrected, Revised]  # it is about the same question
    assert made.budget.left(20) == left
    (given,) = [question for question in made.ledger.questions("answered") if question.is_given]
    assert (given.representative.id, given.guesses) == ("x", ())
    assert stored(made, JUNK) == ["x"]


def test_an_image_that_is_labelled_leaves_the_open_question_that_it_was_in():
    made = dialogue({"b": item("b")})
    kinds = [type(event) for event in made.edit(LabelImages(("b",), "heron"), 9)]
    assert kinds == [Left, Asked, ClassAdded, Labelled]
    assert [member.id for member in made.ledger.entry(1).question.members] == ["a"]


def test_an_earlier_answer_no_longer_labels_an_image_that_is_labelled_since():
    made = dialogue()
    made.hear(Named(1, "heron"), 9)
    made.edit(LabelImages(("b",), "crane"), 10)  # it is stored
    assert [e.item_id for e in made.hear(Undo(1), 11) if isinstance(e, Revised)] == ["a"]
    assert stored(made, 2) == ["b"]


def test_an_image_that_a_question_shows_alone_answers_that_question():
    made = dialogue()
    assert made.edit(LabelImages(("c",), None), 9) == [Labelled(9, "c", JUNK, 2, is_told=True)]


@pytest.mark.parametrize(
    ("item_ids", "name", "reason"),
    [
        (("x", "gone"), "heron", "csim holds no"),
        (("x", "a"), "heron", "question 1 shows the image 'a' for its group of 2"),
        ((), "heron", "at least one"),
        (("x", "x"), "heron", "all different"),
        (("x",), " ", "visible character"),
    ],
)
def test_labels_of_images_are_taken_together_or_not_at_all(item_ids, name, reason):
    made = dialogue({"x": item("x")})
    before = made.state()
    with pytest.raises(InputError, match=reason):
        made.edit(LabelImages(item_ids, name), 9)
    assert made.state()["catalogue"] == before["catalogue"]
    assert made.state()["ledger"]["id"] == before["ledger"]["id"]
