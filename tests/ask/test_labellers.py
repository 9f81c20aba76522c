import io

import numpy as np
import pytest

from csim.ask.labellers import CallbackLabeller, TerminalLabeller, TruthLabeller, draw
from csim.errors import InputError
from csim.messages import Named, Skip, Split
from csim.records import (
    Item,
    Question,
)

ITEMS = tuple(Item(item_id, 1, np.zeros((8, 8), np.uint8)) for item_id in "abc")
QUESTION = Question(4, 9, ITEMS[1], ITEMS, guesses=((0, 0.8), (2, 0.1)))
NAMES = {0: "heron", 2: "crane"}


def answer_in_terminal(typed: str, question: Question = QUESTION) -> tuple[object, str]:
    shown = io.StringIO()
    return TerminalLabeller(lambda: NAMES, io.StringIO(typed), shown).answer(
        question
    ), shown.getvalue()


def test_the_truth_is_told_for_the_representative_only():
    assert TruthLabeller({"a": "gull", "b": "tern", "c": "gull"}).answer(QUESTION) == Named(
        4, "tern"
    )


def test_what_the_truth_does_not_know_is_skipped():
    assert TruthLabeller({"a": "gull"}).answer(QUESTION) == Skip(4)


def test_a_callback_sees_the_question_and_may_skip():
    assert CallbackLabeller(lambda question: question.representative.id).answer(QUESTION) == Named(
        4, "b"
    )
    assert CallbackLabeller(lambda question: None).answer(QUESTION) == Skip(4)


def test_a_callback_that_returns_something_else_is_refused():
    with pytest.raises(InputError, match="returned int"):
        CallbackLabeller(lambda question: 3).answer(QUESTION)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("stork\n", Named(4, "stork")),
        ("  grey heron \n", Named(4, "grey heron")),
        ("\n", Named(4, "heron")),
        ("#2\n", Named(4, "crane")),
        ("#7\n", Named(4, "#7")),
        ("2\n", Named(4, "2")),
        ("2024\n", Named(4, "2024")),
        ("?\n", Skip(4)),
        ("/\n", Split(4)),
        ("", Skip(4)),
    ],
)
def test_a_typed_line_becomes_an_answer(typed, expected):
    assert answer_in_terminal(typed)[0] == expected


def test_the_terminal_shows_the_image_the_size_and_the_guesses():
    shown = answer_in_terminal("?\n")[1]
    assert "question 4: 3 images like this one" in shown
    assert "#1  heron  (80%)" in shown
    assert "#2  crane  (10%)" in shown


def test_a_line_that_makes_no_sense_is_asked_for_again():
    alone = Question(4, 9, ITEMS[0], ITEMS[:1])
    answer, shown = answer_in_terminal("/\n\ngull\n", alone)
    assert answer == Named(4, "gull")
    assert shown.count("to split:") == 3


def test_a_picture_shows_dark_and_light_and_is_never_too_wide():
    image = np.zeros((8, 8), np.uint8)
    image[:, 4:] = 200
    assert draw(image).splitlines() == ["        ████████"] * 8
    wide = draw(np.random.default_rng(0).integers(0, 256, (50, 100, 3)).astype(np.uint8))
    assert max(len(line) for line in wide.splitlines()) <= 64


def test_a_picture_of_one_shade_is_drawn_too():
    assert set(draw(np.full((8, 8), 9, np.uint8))) == {" ", "\n"}
