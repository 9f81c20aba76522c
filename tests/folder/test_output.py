import csv
import io
import json
import os
import resource
from contextlib import closing, suppress
from pathlib import Path

import pytest
from digit_folder import arrivals, rows, save
from folder.story import tell

from csim.errors import FolderError, InputError, StorageError
from csim.folder.copy import copy_folder
from csim.folder.database import open_for_messages, open_for_reading
from csim.folder.folding import KeptHistory
from csim.folder.layout import Layout
from csim.folder.lines import FIELDS, lines
from csim.folder.output import Output
from csim.folder.stream import Stream
from csim.messages import AddClass, Named, RenameClass

ENDINGS = [".jsonl", ".csv"]


def opened(folder, path, stream=None):
    return Output(Layout(folder).database, path, stream)


def written(folder, path):
    """Bring a file to where the folder is and let it go."""
    with closing(opened(folder, path)) as output:
        return output.catch_up()


def all_lines(folder):
    with closing(open_for_reading(Layout(folder).database)) as connection:
        return [line for _, line in lines(connection)]


def read(path):
    """Return a file's lines as they would be in JSON."""
    with path.open(newline="", encoding="utf-8") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        header, *found = csv.reader(file)
    assert tuple(header) == FIELDS
    kinds = {"score": float, "model": int, "question": int, "position": int}
    return [
        {
            name: (kinds.get(name, str)(value) if value else None)
            for name, value in zip(FIELDS, row, strict=True)
        }
        for row in found
    ]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_file_holds_every_line_once(asked, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    assert written(asked, path) == len(all_lines(asked)) >= 200
    assert read(path) == all_lines(asked)


@pytest.mark.parametrize("ending", ENDINGS)
def test_later_runs_go_on_where_the_file_ends(asked, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    before = path.read_bytes()
    tell(asked, [Named(1, "heron")])
    with Stream(asked, trainer=None) as stream, closing(opened(asked, path)) as output:
        for start in range(200, 230, 10):
            stream.take(arrivals(230)[start : start + 10])
            assert output.catch_up() > 0
            assert output.catch_up() == 0
    assert path.read_bytes().startswith(before)
    assert read(path) == all_lines(asked)
    assert written(asked, path) == 0


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("harm", ["whole lines", "half a line", "nothing"])
def test_after_a_crash_every_line_is_there_once(asked, tmp_path, ending, harm):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    with Stream(asked, trainer=None) as stream:
        stream.take(arrivals(230)[200:])
    crashed = opened(asked, path)
    if harm != "nothing":
        crashed.catch_up()  # the lines are in the file, and the folder does not know
    crashed._connection.close()
    if harm == "half a line":
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - 37)
    assert written(asked, path) > 0
    assert read(path) == all_lines(asked)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("size", [0, 10, 100, 2000])
def test_a_crash_during_the_first_write_does_no_harm(asked, tmp_path, ending, size):
    path = tmp_path / f"out{ending}"
    crashed = opened(asked, path)
    crashed.catch_up()
    crashed._connection.close()
    os.truncate(path, size)
    tell(asked, [RenameClass(class_id, f"class {class_id}") for class_id in range(3)])
    with Stream(asked, trainer=None) as stream:
        stream.attend()
    written(asked, path)
    assert read(path) == all_lines(asked)
    assert written(asked, path) == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_was_shortened_or_deleted_is_written_again(asked, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    whole = path.read_bytes()
    for harm in (
        lambda: path.write_bytes(whole[:1000]),
        lambda: path.write_bytes(b""),
        path.unlink,
    ):
        harm()
        written(asked, path)
        assert path.read_bytes() == whole


def test_the_header_stands_once_even_if_nothing_has_happened_yet(folder, tmp_path):
    path = tmp_path / "out.csv"
    for _ in range(3):
        with closing(opened(folder, path)) as output:
            output.catch_up()
            output.catch_up()
    with Stream(folder, trainer=None) as stream, closing(opened(folder, path)) as output:
        output.catch_up()
        stream.take(arrivals(10))
        output.catch_up()
    assert path.read_bytes().count(b"line,item,decision") == 1
    assert read(path) == all_lines(folder)


def test_two_files_of_one_folder_do_not_know_of_each_other(asked, tmp_path):
    one = tmp_path / "one.jsonl"
    other = tmp_path / "other.csv"
    written(asked, one)
    with Stream(asked, trainer=None) as stream:
        stream.take(arrivals(210)[200:])
    assert written(asked, other) > written(asked, one) > 0
    assert read(one) == read(other) == all_lines(asked)


def test_standard_output_gets_json_lines_and_only_what_is_new(asked):
    out = io.BytesIO()
    with closing(opened(asked, None, out)) as output:
        output.catch_up()
    assert [json.loads(line) for line in out.getvalue().splitlines()] == all_lines(asked)
    with Stream(asked, trainer=None) as stream:
        stream.take(arrivals(205)[200:])
    rest = io.BytesIO()
    with closing(opened(asked, None, rest)) as output:
        output.catch_up()
    first = json.loads(rest.getvalue().splitlines()[0])
    assert first["item"] == "image 201"
    assert not out.closed


def test_names_with_commas_quotes_and_other_scripts_survive(asked, tmp_path):
    name = 'grey, "heron" — 鷺'
    tell(asked, [AddClass(name), Named(1, name)])
    with Stream(asked, trainer=None) as stream:
        stream.attend()
    for ending in ENDINGS:
        written(asked, tmp_path / f"out{ending}")
        assert name in [
            line["class"] for line in read(tmp_path / f"out{ending}") if line["decision"] == "told"
        ]


@pytest.mark.parametrize("name", ["out.txt", "out", "out.JSON", "jsonl"])
def test_a_file_of_another_ending_is_refused_before_it_is_made(asked, tmp_path, name):
    with pytest.raises(InputError, match=r"ends in \.jsonl or \.csv"):
        opened(asked, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_file_that_cannot_be_made_is_refused(asked, tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder.jsonl").mkdir()
    for path in (tmp_path / "file" / "out.jsonl", tmp_path / "folder.jsonl"):
        with pytest.raises(StorageError, match="choose another file"):
            opened(asked, path)


def test_no_folder_no_file(tmp_path):
    with pytest.raises(FolderError, match="is not a stream folder"):
        Output(tmp_path / "stream.db", tmp_path / "out.jsonl", None)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_and_the_next_run_writes_every_line_once(asked, tmp_path):
    path = tmp_path / "out.jsonl"
    with Stream(asked, trainer=None) as stream:
        stream.take(arrivals(350)[200:])
        written(asked, path)
        stream.take(arrivals(370)[350:])
    child = os.fork()
    if not child:  # a process that may make no file larger than this one and a little
        with suppress(BaseException):
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 200,) * 2)
            output = opened(asked, path)
            try:
                output.catch_up()
            except StorageError:
                output.close()
                os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (
        len(path.read_bytes()) > rows(asked, "SELECT size FROM outputs")[0][0]
    )  # half a line is there
    written(asked, path)
    assert read(path) == all_lines(asked)


def test_what_has_been_written_is_remembered_by_the_files_full_path(asked, tmp_path, monkeypatch):
    written(asked, tmp_path / "out.jsonl")
    monkeypatch.chdir(tmp_path)
    assert written(asked, Path("out.jsonl")) == 0
    assert rows(asked, "SELECT path FROM outputs") == [(str(tmp_path / "out.jsonl"),)]


def test_a_file_that_the_stream_has_not_written_is_left_alone(folder, tmp_path):
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text("precious\n")
    with pytest.raises(InputError, match="something else is in it"):
        Output(Layout(folder).database, theirs, None)
    assert theirs.read_text() == "precious\n"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_another_stream_under_the_same_name_is_left_alone(
    folder, asked, tmp_path, ending
):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    path.rename(tmp_path / f"moved{ending}")
    with Stream(folder, trainer=None) as stream:
        stream.take(arrivals(250)[50:])  # other images, so that its first line differs
    written(folder, path)
    theirs = path.read_bytes()
    with pytest.raises(InputError, match="something else is in it"):
        written(asked, path)
    assert path.read_bytes() == theirs
    path.unlink()
    (tmp_path / f"moved{ending}").rename(path)
    assert written(asked, path) == 0


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("more", [0, 50])
def test_a_file_that_a_restored_copy_of_the_stream_wrote_is_left_alone(
    asked, tmp_path, ending, more
):
    path = tmp_path / f"out{ending}"
    copy_folder(asked, tmp_path / "backup")
    with Stream(asked, trainer=None) as stream:
        stream.take(arrivals(220)[200:])
    written(asked, path)
    path.rename(tmp_path / f"moved{ending}")
    with Stream(tmp_path / "backup", trainer=None) as stream:
        stream.take(arrivals(205 + more)[200:])  # a shorter file than ours, and a longer one
    written(tmp_path / "backup", path)
    theirs = path.read_bytes()
    with pytest.raises(InputError, match="something else is in it"):
        written(asked, path)
    assert path.read_bytes() == theirs


def test_a_stream_goes_on_in_a_file_that_was_copied_with_it(asked, tmp_path):
    path = tmp_path / "out.jsonl"
    written(asked, path)
    whole = path.read_bytes()
    path.rename(tmp_path / "moved.jsonl")
    path.write_bytes(whole)
    assert written(asked, path) == 0
    assert path.read_bytes() == whole


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_known_after_its_first_images_were_folded(asked, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    whole = path.read_bytes()
    with Stream(asked, trainer=None, history=KeptHistory(images=10)) as stream:
        stream.take(arrivals(600)[200:])
        written(asked, path)
        save(stream)
        save(stream)
    assert all_lines(asked)[0]["item"] != "image 1"
    with Stream(asked, trainer=None) as stream:
        stream.take(arrivals(610)[600:])
    assert written(asked, path) >= 10
    assert path.read_bytes().startswith(whole)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_a_folder_that_an_older_csim_wrote_is_continued(asked, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    with closing(open_for_messages(Layout(asked).database)) as connection:
        connection.execute("UPDATE outputs SET head = NULL, inode = NULL")  # as after a migration
        connection.commit()
    with Stream(asked, trainer=None) as stream:
        stream.take(arrivals(210)[200:])
    assert written(asked, path) >= 10
    assert read(path) == all_lines(asked)
    assert None not in rows(asked, "SELECT head, inode FROM outputs")[0]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_known_after_its_first_class_was_renamed(asked, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    tell(asked, [RenameClass(class_id, f"class {class_id}") for class_id in range(3)])
    with Stream(asked, trainer=None) as stream:
        stream.attend()
    written(asked, path)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("size", [3, 20, 70])
def test_a_first_line_that_a_crash_cut_is_written_again(asked, tmp_path, ending, size):
    path = tmp_path / f"out{ending}"
    written(asked, path)
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1 if ending == ".csv" else 0
    path.write_bytes(whole[: header + size])
    written(asked, path)
    assert path.read_bytes() == whole
