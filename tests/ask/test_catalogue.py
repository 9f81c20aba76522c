import pytest

from csim.ask.catalogue import Catalogue, clean_labels, clean_name
from csim.errors import ClassError, InputError


def birds() -> Catalogue:
    catalogue = Catalogue()
    for name in ("heron", "crane", "stork"):
        catalogue.add(name, is_lasting=True)
    return catalogue


def test_ids_count_up_and_names_are_found_again():
    catalogue = birds()
    assert catalogue.names() == {0: "heron", 1: "crane", 2: "stork"}
    assert catalogue.find(" crane ") == 1
    assert catalogue.find("gull") is None


def test_an_id_is_found_whatever_the_class_is_called():
    catalogue = birds()
    catalogue.rename(1, "coot")
    assert (catalogue.find(1), catalogue.find("coot"), catalogue.find("crane")) == (1, 1, None)
    catalogue.merge(1, 2)
    assert catalogue.find(1) == 2
    catalogue.remove(2)
    for gone in (1, 2, 99, -1):
        with pytest.raises(ClassError, match=f"no class has the id {gone}"):
            catalogue.find(gone)


def test_an_id_is_never_given_twice():
    catalogue = birds()
    catalogue.remove(2)
    catalogue.merge(1, 0)
    assert catalogue.add("stork", is_lasting=False) == 3
    assert catalogue.add("crane", is_lasting=False) == 4


def test_a_name_that_is_taken_is_refused_and_nothing_changes():
    catalogue = birds()
    with pytest.raises(ClassError, match="'crane' belongs to class 1"):
        catalogue.rename(0, "crane")
    with pytest.raises(ClassError, match="belongs to class 0"):
        catalogue.add("heron ", is_lasting=True)
    assert catalogue.names() == {0: "heron", 1: "crane", 2: "stork"}


def test_renaming_keeps_the_id_and_may_repeat_the_own_name():
    catalogue = birds()
    catalogue.rename(0, "heron")
    catalogue.rename(0, "grey heron")
    assert catalogue.find("grey heron") == 0
    assert catalogue.find("heron") is None


def test_old_ids_stand_for_what_became_of_their_class():
    catalogue = birds()
    catalogue.merge(0, 1)
    catalogue.merge(1, 2)
    assert [catalogue.current(class_id) for class_id in (0, 1, 2)] == [2, 2, 2]
    catalogue.remove(2)
    assert [catalogue.current(class_id) for class_id in (0, 1, 2)] == [None, None, None]


@pytest.mark.parametrize(("source", "target"), [(0, 9), (9, 0), (1, 1)])
def test_a_merge_that_makes_no_sense_changes_nothing(source, target):
    catalogue = birds()
    with pytest.raises(ClassError):
        catalogue.merge(source, target)
    assert len(catalogue.names()) == 3


def test_a_class_lives_as_long_as_an_answer_or_the_warm_up_stands_behind_it():
    catalogue = birds()
    gull = catalogue.add("gull", is_lasting=False)
    catalogue.support(gull)
    catalogue.support(gull)
    assert not catalogue.withdraw(gull)
    assert catalogue.withdraw(gull)
    catalogue.support(0)
    assert not catalogue.withdraw(0)


def test_a_merge_hands_support_on():
    catalogue = birds()
    gull = catalogue.add("gull", is_lasting=False)
    tern = catalogue.add("tern", is_lasting=False)
    catalogue.support(gull)
    catalogue.support(tern)
    catalogue.merge(gull, tern)
    assert not catalogue.withdraw(tern)
    assert catalogue.withdraw(tern)


def test_state_survives_a_round_trip():
    catalogue = birds()
    catalogue.merge(0, 1)
    catalogue.remove(2)
    again = Catalogue()
    again.restore(catalogue.state())
    assert again.names() == catalogue.names()
    assert [again.current(c) for c in (0, 1, 2)] == [1, 1, None]
    assert again.add("gull", is_lasting=False) == 3


@pytest.mark.parametrize(
    "name",
    ["", "   ", "\n", "a\nb", "a\x00b", "x" * 10_000, "x" * 201, "\u200d", "\u3000\u00a0", "a\tb",
     "a\u2028b", "gnp\u202eeman", "\u2066x\u2069", "a\ud800"],
)  # fmt: skip
def test_a_name_must_be_one_short_line_of_text(name):
    with pytest.raises(InputError, match="class name"):
        clean_name(name)


@pytest.mark.parametrize("name", [None, 7, b"heron", ["heron"]])
def test_a_name_must_be_text(name):
    with pytest.raises(InputError, match="must be text"):
        clean_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with a non-joiner
        "\u0d28\u0d4d\u200d",  # Malayalam, ends with a joiner
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # one emoji made of three
        "\u2764\ufe0f",
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",  # a flag made of tags
        "\u05d0\u200f!",  # Hebrew with a direction mark
    ],
)
def test_a_name_may_hold_what_its_script_needs(name):
    assert clean_name(name) == name


def test_the_first_labels_name_two_classes_of_two_images_after_cleaning():
    assert clean_labels(["a", "b ", "b", " a"]) == ["a", "b", "b", "a"]
    with pytest.raises(InputError, match="at least two classes, got 1"):
        clean_labels(["a", "a ", "a", " a"])
    with pytest.raises(InputError, match="at least two classes, got 0"):
        clean_labels([])
    with pytest.raises(InputError, match="at least two images; 'b' has one"):
        clean_labels(["a", "a", "b"])
    with pytest.raises(InputError, match="must be text"):
        clean_labels(["a", "a", None, None])


def test_names_that_look_the_same_are_the_same():
    assert clean_name("grey\u00a0heron") == clean_name("grey\u3000heron") == "grey heron"
    assert clean_name("e\u0301gret") == clean_name("\u00e9gret")
    assert clean_name("x" * 200) == "x" * 200
