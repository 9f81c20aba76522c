import pytest

from csim.cli.typed_answer import understand
from csim.errors import InputError

BIRDS = ("gull", "tern", "k", "#2", "grey heron")
DIGITS = ("0", "7", "8")


@pytest.mark.parametrize(
    ("text", "classes", "name"),
    [
        ("7", DIGITS, "7"),  # a class, not the seventh guess
        ("2", DIGITS, "2"),  # a new digit, not the second guess
        ("#2", DIGITS, "tern"),
        ("2", ("gull", "tern"), "tern"),
        ("9", ("gull", "tern"), "9"),  # there is no ninth guess
        ("k", BIRDS, "k"),
        ("/q", BIRDS, "q"),
        ("/2", ("gull", "tern"), "2"),
        ("#2", BIRDS, "#2"),
        (" grey\u00a0heron ", BIRDS, "grey heron"),
        ("osprey", BIRDS, "osprey"),
        ("/osprey", BIRDS, "osprey"),
        ("//osprey", BIRDS, "/osprey"),
        ("", BIRDS, "gull"),
        (" ", DIGITS, "gull"),
        ("x 1", (*BIRDS, "x 1"), "x 1"),
        ("x1", BIRDS, "x1"),
    ],
)
def test_a_name_is_what_a_person_means(text, classes, name):
    typed = understand(text, ["gull", "tern", "owl"], classes)
    assert (typed.command, typed.name) == ("name", name)
    assert name in typed.meaning


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("e", "junk"), ("s", "split"), ("k", "skip"), ("u", "undo"), ("?", "help"), ("q", "quit"),
        ("x 2", "take out"),
    ],
)  # fmt: skip
def test_keys_are_commands_unless_a_class_has_that_name(text, command):
    assert understand(text, [], ["gull"]).command == command
    assert understand(text, [], ["gull", text]).command == "name"
    assert understand(f"/{text}", [], ["gull"]).name == text


def test_pictures_to_take_out_are_counted_from_one():
    assert understand("x 1 3", [], ["gull"]).pictures == (1, 3)


def test_the_meaning_says_whether_a_class_is_new_or_guessed():
    assert understand("heron", [], ["gull"]).meaning == "the new class heron"
    assert understand("gull", [], ["gull"]).meaning == "the class gull"
    assert understand("1", ["gull"], ["gull"]).meaning == "guess 1, the class gull"


@pytest.mark.parametrize("text", ["x" * 201, "gnp\u202eeman", "#9", "#x", "/", "x"])
def test_what_cannot_be_an_answer_is_refused_at_the_prompt(text):
    with pytest.raises(InputError):
        understand(text, ["gull"], ["gull"])


def test_enter_without_a_guess_is_refused():
    with pytest.raises(InputError, match="no guess"):
        understand("", [], ["gull"])
