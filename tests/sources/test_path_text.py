import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.sources.path_text import path_to_text

NAMES = st.binary(min_size=1).filter(lambda name: b"\0" not in name)


@pytest.mark.parametrize(
    "name", ["a.png", "two words/b.png", "a\nb.png", "café/☃.png", "-", "a\tb\rc"]
)
def test_a_usual_name_stays_as_it_is(name):
    assert path_to_text(name) == path_to_text(name.encode()) == path_to_text(Path(name)) == name


def test_backslashes_are_doubled_and_foreign_bytes_written_out():
    assert path_to_text(b"caf\xe9.png") == r"caf\xe9.png"
    assert path_to_text(rb"caf\xe9.png") == r"caf\\xe9.png"
    assert path_to_text(b"\xff\\") == r"\xff" + r"\\"


@given(NAMES, NAMES)
def test_two_names_never_give_the_same_text(first, second):
    assert (path_to_text(first) == path_to_text(second)) == (first == second)


@given(
    st.lists(st.sampled_from([b"\\", b"x", b"e", b"9", b"\xe9", b"\xc3\xa9"]), max_size=8).map(
        b"".join
    )
)
def test_names_of_the_awkward_bytes_can_be_told_from_their_text(name):
    text = path_to_text(name)
    assert text.encode("utf-8", "strict").decode() == text
    assert _bytes_of(text) == name


def _bytes_of(text):
    """Undo `path_to_text`, the slow way."""
    name = b""
    rest = text.encode()
    while rest:
        if rest.startswith(b"\\\\"):
            name = name + b"\\"
            rest = rest[2:]
        elif rest.startswith(b"\\x"):
            name = name + bytes([int(rest[2:4], 16)])
            rest = rest[4:]
        else:
            name = name + rest[:1]
            rest = rest[1:]
    return name


@given(NAMES)
def test_a_name_as_python_holds_it_gives_the_same_text_as_its_bytes(name):
    assert path_to_text(os.fsdecode(name)) == path_to_text(name)
