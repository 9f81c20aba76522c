import os
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from export.hostile_folder import IDS, NAMES
from hypothesis import example, given
from hypothesis import strategies as st

from csim.export.file_names import folder_names, safe_name

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(TEXT)
@example("..")
@example(".")
@example("")
@example("../../etc/passwd")
@example("C:\\Windows")
@example("com1.tar.gz")
@example("NUL .txt")
@example("a" * 198 + "鷺")
def test_a_safe_name_is_one_part_of_a_path_on_every_system(text):
    name = safe_name(text)
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind("root") / name
        assert path.parent == kind("root")
        assert path.name == name
    assert name not in ("", ".", "..")
    assert not name.startswith(".")  # csim's own readers pass over those
    assert not name.endswith((".", " "))
    assert len(name.encode()) <= 201
    assert name.isprintable()
    assert (
        not os.path.isreserved(name)
        if hasattr(os.path, "isreserved")
        else not PureWindowsPath(name).is_reserved()
    )


@given(TEXT)
def test_a_safe_name_is_safe_as_it_is(text):
    assert safe_name(safe_name(text)) == safe_name(text)


@pytest.mark.parametrize(
    "text", ["grey heron", "17", "鷺", "café", "a~b", "50% wool", "-x", "=1+1", "it's", "a.b"]
)
def test_an_ordinary_name_stays(text):
    assert safe_name(text) == text


@given(st.lists(TEXT, unique=True))
@example(list(IDS))
@example(list(NAMES.values()))
@example(["a/b", "a:b", "a_b", "a_b~2", "A_B", "a_b~3"])
def test_folders_are_different_even_where_capitals_do_not_count(names):
    found = folder_names(names)
    assert set(found) == set(names)
    assert len({folder.casefold() for folder in found.values()}) == len(names)
    for folder in found.values():
        assert len(folder.encode()) <= 255
        assert PurePosixPath(folder).name == folder


@given(st.lists(TEXT, unique=True))
def test_a_name_that_is_safe_and_like_no_other_is_its_folder(names):
    found = folder_names(names)
    for name in names:
        if (
            safe_name(name) == name
            and sum(name.casefold() == other.casefold() for other in names) == 1
        ):
            assert found[name] == name


def test_the_order_of_what_must_be_changed_decides_and_nothing_else():
    assert (
        folder_names(["a/b", "a_b"])
        == folder_names(["a_b", "a/b"])
        == {"a_b": "a_b", "a/b": "a_b~2"}
    )
