import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources.image_files import encode, save, shades
from waiting import no_hang

from csim.errors import InputError
from csim.sources.decode import decode
from csim.sources.path_list import PathList, split


def ids(lines, **options):
    return [None if found is None else found.id for found in PathList(lines, **options)]


def test_every_line_is_a_path_and_an_id():
    found = list(PathList([b"a.png\n", b"/srv/b c.jpg\n", b"no line end"]))
    assert [arrival.id for arrival in found] == ["a.png", "/srv/b c.jpg", "no line end"]
    assert [arrival.picture for arrival in found] == [
        Path("a.png"),
        Path("/srv/b c.jpg"),
        Path("no line end"),
    ]


def test_empty_lines_are_passed_over_and_the_line_ends_of_windows_taken_off():
    assert ids([b"\n", b"a.png\r\n", b"", b"\r\n", b" \n", b"b.png\n"]) == ["a.png", " ", "b.png"]


def test_ended_by_zero_bytes_a_path_may_hold_line_ends():
    assert ids([b"a\nb.png\0", b"c.png\r", b"d.png\n"], end=b"\0") == [
        "a\nb.png",
        "c.png\r",
        "d.png\n",
    ]


def test_names_of_any_bytes_can_be_read(tmp_path):
    path = save(encode(shades(9, 9)), tmp_path / os.fsdecode(b"\xe9\\ \n.png"))
    (arrival,) = PathList([os.fsencode(path) + b"\0"], end=b"\0")
    assert arrival.id == f"{tmp_path}" + r"/\xe9\\ " + "\n.png"
    assert decode(arrival, (9, 9)).kept == path.read_bytes()


def test_files_are_taken_whatever_their_ending_and_those_that_are_not_there_are_troubles(tmp_path):
    path = save(encode(shades(9, 9)), tmp_path / "photograph")
    good, gone = PathList([os.fsencode(path), b"/nowhere/at/all.png\n"])
    assert decode(good, (9, 9)).kept == path.read_bytes()
    assert decode(gone, (9, 9)).kind == "vanished"


def test_a_list_with_zero_bytes_that_was_announced_as_lines_is_refused_with_advice():
    with pytest.raises(InputError, match="zero bytes end its paths"):
        ids([b"a.png\0b.png\0"])


def test_the_list_is_read_as_it_is_used():
    lines = iter([b"a.png\n", b"b.png\n", b"c.png\n"])
    assert next(iter(PathList(lines))).id == "a.png"
    assert list(lines) == [b"b.png\n", b"c.png\n"]


def test_nothing_new_is_passed_on():
    assert ids([b"a.png\n", None, b"b.png\n"]) == ["a.png", None, "b.png"]


@given(st.lists(st.binary(max_size=20).map(lambda part: part.replace(b"\0", b"0"))))
def test_a_stream_is_split_at_its_ends(parts):
    assert list(split(io.BytesIO(b"".join(part + b"\0" for part in parts)), b"\0")) == [*parts, b""]
    assert list(split(io.BytesIO(b"\0".join(parts)), b"\0")) == (parts or [b""])


def test_a_file_is_split_as_what_lies_in_memory(tmp_path):
    content = b"\n".join(b"%d.png" % number for number in range(50_000))
    with open(save(content, tmp_path / "list"), "rb") as stream:
        assert list(split(stream, b"\n")) == content.split(b"\n")


def test_a_pipe_gives_what_is_there_says_when_nothing_is_and_goes_on():
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        parts = split(stream, b"\n")
        os.write(writing, b"a.png\nb.p")
        with no_hang():
            assert [next(parts), next(parts)] == [b"a.png", None]
        os.write(writing, b"ng\n")
        assert next(part for part in parts if part is not None) == b"b.png"
        os.close(writing)
        assert [part for part in parts if part is not None] == [b""]
