import os
import sys
import time

import pytest
from sources.image_files import encode, save, shades
from waiting import no_hang

from csim.errors import InputError, SettingsError
from csim.sources.arrival import Arrival, Trouble
from csim.sources.decode import decode
from csim.sources.watch import WatchedDirectory

pytestmark = pytest.mark.slow

IMAGE = encode(shades(9, 9))
LOOKS = 6  # without anything new, after which nothing more comes
QUICK = {"every": 0.3, "settle": 0.2}


@pytest.fixture(params=["with watchfiles", "without"], autouse=True)
def _watchfiles(request, monkeypatch):
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "watchfiles", None)


@pytest.fixture
def watch(tmp_path):
    """Return a maker of watches over a temporary folder, all closed in the end."""
    watches = []

    def begin(root=tmp_path, **options):
        watches.append(iter(WatchedDirectory(root, **(QUICK | options))))
        return watches[-1]

    yield begin
    for one in watches:
        one.close()


def old(path, seconds=100):
    """Set the modification time of a file to so many seconds ago."""
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def until(found, count):
    """Return so many arrivals and troubles."""
    got = []
    with no_hang():
        while len(got) < count:
            one = next(found)
            if one is not None:
                got.append(one)
    return got


def ids(found, count):
    return [one.id for one in until(found, count)]


def nothing_more(found):
    return [next(found) for _ in range(LOOKS)] == [None] * LOOKS


def test_what_changes_or_returns_is_fresh_and_what_was_there_is_not(tmp_path, watch):
    for name in ("a.png", "b.png"):
        old(save(IMAGE, tmp_path / name))
    found = watch()
    assert [one.is_fresh for one in until(found, 2)] == [False, False]
    assert nothing_more(found)
    (tmp_path / "a.png").unlink()
    assert nothing_more(found)
    save(encode(shades(9, 8)), tmp_path / "a.png")
    assert [(one.id, one.is_fresh) for one in until(found, 1)] == [("a.png", True)]


def test_first_comes_what_is_there_in_order_of_paths_and_then_what_comes(tmp_path, watch):
    for name in ("b.png", "a/2.png", "a/1.png", "a.png"):
        old(save(IMAGE, tmp_path / name))
    found = watch()
    assert ids(found, 4) == ["a/1.png", "a/2.png", "a.png", "b.png"]
    save(IMAGE, tmp_path / "0.png")
    assert ids(found, 1) == ["0.png"]
    save(IMAGE, tmp_path / "new folder" / "deep" / "c.png")
    assert ids(found, 1) == ["new folder/deep/c.png"]
    assert nothing_more(found)


def test_an_arrival_is_a_file_that_can_be_decoded(tmp_path, watch):
    save(IMAGE, tmp_path / "a.png")
    (arrival,) = until(watch(), 1)
    assert arrival == Arrival("a.png", b"")
    assert decode(arrival, (9, 9)).kept == IMAGE


def test_while_nothing_comes_a_none_comes_at_least_every_half_second(watch, monkeypatch):
    pauses = []

    def changes(*_, debounce, rust_timeout, yield_on_timeout, **__):
        while yield_on_timeout:
            pauses.append(max(debounce, rust_timeout) / 1000)
            yield set()

    if sys.modules.get("watchfiles", "installed") is not None:
        monkeypatch.setattr("watchfiles.watch", changes)
    monkeypatch.setattr(time, "sleep", pauses.append)
    found = watch()
    assert [next(found) for _ in range(9)] == [None] * 9
    assert len(pauses) >= 8
    assert max(pauses) <= 0.5


def test_with_watchfiles_a_file_is_noticed_long_before_the_next_rescan(tmp_path, watch):
    found = watch(every=10_000)
    old(save(IMAGE, tmp_path / "first.png"))
    assert ids(found, 1) == ["first.png"]
    save(IMAGE, tmp_path / "second.png")
    if sys.modules.get("watchfiles", "installed") is None:
        assert nothing_more(found)
    else:
        assert ids(found, 1) == ["second.png"]


def test_a_system_that_watches_no_more_folders_is_no_harm(tmp_path, watch, monkeypatch, caplog):
    def no_watch(*_, **__):
        raise OSError("OS file watch limit reached")

    if sys.modules.get("watchfiles", "installed") is not None:
        monkeypatch.setattr("watchfiles.watch", no_watch)
    found = watch()
    next(found)
    save(IMAGE, tmp_path / "a.png")
    assert ids(found, 1) == ["a.png"]
    assert all("limit reached" in record.message for record in caplog.records)


def test_a_file_is_left_alone_while_it_is_written(tmp_path, watch):
    found = watch(settle=600)
    with open(tmp_path / "slow.png", "wb") as file:
        for first in range(0, len(IMAGE), 20):
            file.write(IMAGE[first : first + 20])
            file.flush()
            assert next(found) is None
    old(tmp_path / "slow.png", 700)
    (arrival,) = until(found, 1)
    assert decode(arrival, (9, 9)).kept == IMAGE
    assert nothing_more(found)


def test_a_file_renamed_into_place_is_taken_whole(tmp_path, watch):
    found = watch()
    save(IMAGE[:30], tmp_path / "a.png.part")
    save(IMAGE[:30], tmp_path / ".b.png")
    assert nothing_more(found)
    old(save(IMAGE, tmp_path / "a.png.part")).rename(tmp_path / "a.png")
    old(save(IMAGE, tmp_path / ".b.png")).rename(tmp_path / "b.png")
    got = until(found, 2)
    assert sorted(one.id for one in got) == ["a.png", "b.png"]
    assert all(decode(one, (9, 9)).kept == IMAGE for one in got)


def test_a_file_that_changes_after_it_was_taken_comes_again_under_its_id(tmp_path, watch):
    found = watch()
    save(IMAGE[:30], tmp_path / "a.png")
    (early,) = until(found, 1)
    assert decode(early, (9, 9)).kind == "damaged"
    save(IMAGE, tmp_path / "a.png")
    (late,) = until(found, 1)
    assert late.id == early.id
    assert decode(late, (9, 9)).kept == IMAGE


def test_a_file_that_was_gone_comes_again(tmp_path, watch):
    found = watch()
    save(IMAGE, tmp_path / "a.png")
    assert ids(found, 1) == ["a.png"]
    (tmp_path / "a.png").unlink()
    assert nothing_more(found)
    old(save(IMAGE, tmp_path / "a.png"))
    assert ids(found, 1) == ["a.png"]


def test_an_empty_file_is_waited_for_and_in_the_end_a_trouble(tmp_path, watch):
    found = watch()
    save(b"", tmp_path / "young.png")
    old(save(b"", tmp_path / "old.png"))
    (arrival,) = until(found, 1)
    assert arrival.id == "old.png"
    assert decode(arrival, (9, 9)).kind == "empty"
    assert nothing_more(found)
    for name in ("young.png", "old.png"):
        save(IMAGE, tmp_path / name)
    assert sorted(ids(found, 2)) == ["old.png", "young.png"]


def test_a_clock_that_runs_ahead_does_not_hold_a_file_back(tmp_path, watch):
    old(save(IMAGE, tmp_path / "a.png"), -3600)
    assert ids(watch(), 1) == ["a.png"]


def test_hidden_and_other_files_are_passed_over(tmp_path, watch):
    found = watch()
    for name in (".a.png", ".hidden/b.png", "c.txt", "d.png.tmp", "e.part", "deep/.hidden/f.png"):
        old(save(IMAGE, tmp_path / name))
    assert nothing_more(found)


def test_an_image_in_a_linked_folder_comes_once(tmp_path, watch):
    root = tmp_path / "root"
    save(IMAGE, root / "b" / "1.png")
    (root / "a").symlink_to("b")
    (root / "out").symlink_to(tmp_path / "outside")
    found = watch(root)
    assert ids(found, 1) == ["b/1.png"]
    save(IMAGE, root / "b" / "2.png")
    assert ids(found, 1) == ["b/2.png"]
    save(IMAGE, tmp_path / "outside" / "3.png")
    assert ids(found, 1) == ["out/3.png"]
    save(IMAGE, tmp_path / "outside" / "4.png")
    assert ids(found, 1) == ["out/4.png"]
    assert nothing_more(found)


def test_names_of_any_bytes_come(tmp_path, watch):
    found = watch()
    save(IMAGE, tmp_path / os.fsdecode(b"\xff\n.png"))
    (arrival,) = until(found, 1)
    assert arrival.id == "\\xff\n.png"
    assert decode(arrival, (9, 9)).kept == IMAGE


def test_a_folder_that_is_closed_is_told_once(public_folder, as_nobody, watch):
    old(save(IMAGE, public_folder / "open" / "a.png"))
    (public_folder / "closed").mkdir(mode=0)
    with as_nobody():
        found = watch(public_folder)
        got = until(found, 2)
        assert [one.id for one in got] == ["closed", "open/a.png"]
        assert isinstance(got[0], Trouble)
        assert nothing_more(found)


def test_a_root_that_goes_away_is_told_and_may_come_back(tmp_path, watch):
    root = tmp_path / "root"
    old(save(IMAGE, root / "a.png"))
    found = watch(root)
    assert ids(found, 1) == ["a.png"]
    root.rename(tmp_path / "moved")
    (trouble,) = until(found, 1)
    assert (trouble.id, trouble.kind) == (".", "vanished")
    old(save(IMAGE, root / "b.png"))
    assert ids(found, 1) == ["b.png"]


def test_it_ends_when_told_to(tmp_path):
    for number in range(5):
        old(save(IMAGE, tmp_path / f"{number}.png"))
    got = []
    for found in WatchedDirectory(tmp_path, stop=lambda: len(got) == 3):
        if found is not None:
            got.append(found)
    assert len(got) == 3


@pytest.mark.parametrize("wrong", [{"every": 0}, {"settle": -1}, {"every": float("nan")}])
def test_times_that_are_none_are_refused(tmp_path, wrong):
    with pytest.raises(SettingsError, match="seconds above 0"):
        WatchedDirectory(tmp_path, **wrong)


def test_what_is_no_folder_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        WatchedDirectory(tmp_path / "nowhere")
