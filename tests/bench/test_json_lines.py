"""JSON-lines files: entries are found again, writers lose nothing, and damage is reported."""

import json
import multiprocessing
import resource
import time

import pytest

from csim.atomic import remove_leftovers
from csim.bench.json_lines import put, read_lines
from csim.errors import InputError

LARGE = 20_000_000  # bytes: enough to be caught while they are written


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "runs" / "birds.jsonl"
    put(path, "crane", {"seed": 1})
    put(path, "bittern", {"seed": 2, "name of": "naïve ☃"})
    put(path, "heron", {"seed": 3})
    return path


def contents(path):
    return {name: entry.content for name, entry in read_lines(path).entries.items()}


def test_a_file_has_a_line_per_entry_sorted_by_name(path):
    assert path.read_text(encoding="utf-8").splitlines() == [
        '{"name":"bittern","seed":2,"name of":"naïve ☃"}',
        '{"name":"crane","seed":1}',
        '{"name":"heron","seed":3}',
    ]
    assert path.stat().st_mode & 0o777 == 0o644


def test_an_entry_is_read_with_its_line(path):
    entry = read_lines(path).entries["crane"]
    assert entry.content == {"seed": 1}
    assert entry.number == 2


def test_an_entry_of_the_same_name_is_replaced(path):
    put(path, "crane", {"seed": 9})
    assert contents(path)["crane"] == {"seed": 9}
    assert len(path.read_text().splitlines()) == 3


def test_the_same_entry_again_gives_the_same_bytes_and_no_other_file(path):
    before = path.read_bytes()
    put(path, "crane", {"seed": 1})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_without_a_file_or_even_a_folder_there_are_no_entries(tmp_path):
    (tmp_path / "file").touch()
    for path in (
        tmp_path / "none.jsonl",
        tmp_path / "no" / "folder.jsonl",
        tmp_path / "file" / "a",
    ):
        assert read_lines(path).entries == {}
        assert read_lines(path).damaged == {}


def test_empty_lines_do_not_matter(path):
    path.write_text("\n" + path.read_text() + "\n  \n")
    assert read_lines(path).damaged == {}
    assert read_lines(path).entries["crane"].number == 3
    put(path, "crane", {"seed": 9})
    assert len(path.read_text().splitlines()) == 3


def test_of_two_entries_of_the_same_name_the_later_one_counts(path):
    with path.open("a") as file:
        file.write('{"name": "crane", "seed": 7}\n')
    assert contents(path)["crane"] == {"seed": 7}
    put(path, "owl", {})
    assert path.read_text().count("crane") == 1


DAMAGE = {
    "half a line": b'{"name":"owl","se',
    "a conflict of git": b"<<<<<<< HEAD",
    "a list": b"[1, 2]",
    "a number": b"7",
    "no name": b'{"seed": 4}',
    "a name that is none": b'{"name": 4}',
    "no text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_line_is_reported_by_number_and_hides_no_other(path, damage):
    first, *others = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, damage, *others]))
    lines = read_lines(path)
    assert list(lines.damaged) == [2]
    assert set(lines.entries) == {"bittern", "crane", "heron"}
    with pytest.raises(InputError, match=f"{path}, line 2 is damaged .*delete that line"):
        lines.refuse_damage()


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_line_is_kept_by_the_next_writer(path, damage):
    path.write_bytes(damage + b"\n" + path.read_bytes())
    put(path, "owl", {"seed": 4})
    assert path.read_bytes().splitlines()[-1] == damage
    assert set(read_lines(path).entries) == {"bittern", "crane", "heron", "owl"}


def test_without_damage_nothing_is_refused(path):
    read_lines(path).refuse_damage()


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        read_lines(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "runs").touch()
    with pytest.raises(InputError, match="could not be written"):
        put(tmp_path / "runs" / "birds.jsonl", "crane", {})


def test_a_full_disk_leaves_the_old_file_and_no_trace(path):
    """The system refuses large files here, as a full disk does."""
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(InputError, match=f"{path} could not be written .*start again"):
            put(path, "owl", {"text": "x" * 2000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def write_for_ever(path):
    while True:
        put(path, "large", {"text": "x" * LARGE})


def is_writing(folder):
    return any(size_of(part) > 0 for part in folder.glob(".*.part"))


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def wait_for(claim, seconds=600):
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, "it never happened"


@pytest.fixture
def writer(path):
    """Return a process that writes a large entry again and again."""
    process = multiprocessing.get_context("fork").Process(target=write_for_ever, args=(path,))
    process.start()
    yield process
    process.kill()
    process.join()


def test_a_killed_writer_leaves_every_entry_and_the_rest_is_swept(path, writer):
    for _ in range(10):
        wait_for(lambda: is_writing(path.parent))
        assert {"bittern", "crane", "heron"} <= set(contents(path))
    writer.kill()
    writer.join()
    lines = read_lines(path)
    assert lines.damaged == {}
    assert set(lines.entries) - {"large"} == {"bittern", "crane", "heron"}
    (path.parent / ".hidden").touch()
    remove_leftovers(path.parent)
    assert {file.name for file in path.parent.iterdir()} == {path.name, ".hidden"}


def test_the_next_writer_removes_what_a_killed_one_left(path):
    (path.parent / ".abcd.part").write_text('{"name": "cra')
    put(path, "owl", {})
    assert list(path.parent.iterdir()) == [path]


def test_a_sweep_leaves_the_file_of_a_live_writer_alone(path, writer):
    wait_for(lambda: is_writing(path.parent))
    for _ in range(10):
        remove_leftovers(path.parent)
        assert writer.is_alive(), "its file was taken away"
    wait_for(lambda: "large" in contents(path))


def test_a_sweep_of_nothing_does_nothing(tmp_path):
    remove_leftovers(tmp_path / "none")
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def write_some(path, start):
    for number in range(start, start + 20):
        put(path, f"run {number:03}", {"number": number})


def test_several_writers_at_once_lose_nothing(tmp_path):
    path = tmp_path / "runs" / "birds.jsonl"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=write_some, args=(path, start)) for start in (0, 20, 40, 60)]
    for process in writers:
        process.start()
    for process in writers:
        process.join()
        assert process.exitcode == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(80))
