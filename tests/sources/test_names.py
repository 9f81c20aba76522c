import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.sources.names import text_of

NAMES = st.binary(min_size=1).filter(lambda name: b"\0" not in name)


@pytest.mark.parametrize(
    "name", ["a.png", "two words/b.png", "a\nb.png", "café/☃.png", "-", "a\tb\rc"]
)
def test_a_usual_name_stays_as_it_is(name):
    assert text_of(name) == text_of(name.encode()) == text_of(Path(name)) == name


def test_backslashes_are_doubled_and_foreign_bytes_written_out():
    assert text_of(b"caf\xe9.png") == r"caf\xe9.png"
    assert text_of(rb"caf\xe9.png") == r"caf\\xe9.png"
    assert text_of(b"\xff\\") == r"\xff" + r"\\"


@given(NAMES, NAMES)
def test_two_names_never_give_the_same_text(first, second):
    assert (text_of(first) == text_of(second)) == (first == second)


@given(
    st.lists(st.sampled_from([b"\\", b"x", b"e", b"9", b"\xe9", b"\xc3\xa9"]), max_size=8).map(
        b"".join
    )
)
def test_names_of_the_awkward_bytes_can_be_told_from_their_text(name):
    text = text_of(name)
    assert text.encode("utf-8", "strict").decode() == text
    assert _bytes_of(text) == name


def _bytes_of(text):
    """Undo `text_of`, the slow way."""
    name, rest = b"", text.encode()
    while rest:
        if rest.startswith(b"\\\\"):
            name, rest = name + b"\\", rest[2:]
        elif rest.startswith(b"\\x"):
            name, rest = name + bytes([int(rest[2:4], 16)]), rest[4:]
        else:
            name, rest = name + rest[:1], rest[1:]
    return name


@given(NAMES)
def test_a_name_as_python_holds_it_gives_the_same_text_as_its_bytes(name):
    assert text_of(os.fsdecode(name)) == text_of(name)
