"""Where files are looked for and put, and what is said of those that are missing or damaged."""

import hashlib
import sys
from functools import partial
from pathlib import Path

import pytest
from bench.datasets.makers import published

from csim.bench.datasets.download import download
from csim.bench.datasets.files import Places, RemoteFile, cache_folder, data_folder
from csim.errors import InputError

CONTENT = b"a small file" * 100
NAME = "images.gz"


@pytest.fixture
def roots(tmp_path):
    """Return a data folder and a cache, neither of which is there yet."""
    return tmp_path / "data", tmp_path / "cache"


@pytest.fixture
def places(roots):
    return Places(roots, partial(download, waits=(), timeout=600.0))


@pytest.fixture
def file(server):
    server.files[NAME] = CONTENT
    return published(NAME, CONTENT, server.address(NAME))


def put(root, content=CONTENT):
    (root / "birds").mkdir(parents=True)
    (root / "birds" / NAME).write_bytes(content)


def read(places, file):
    with places.open("birds", file) as opened:
        return opened.read()


def refusal(places, file):
    with pytest.raises(InputError) as caught:
        places.open("birds", file)
    return str(caught.value)


@pytest.mark.parametrize("place", [0, 1])
def test_a_file_in_the_data_folder_or_the_cache_is_opened_without_a_download(
    server, roots, places, file, place
):
    put(roots[place])
    assert places.find("birds", file) == roots[place] / "birds" / NAME
    assert read(places, file) == CONTENT
    assert server.requests == []


def test_the_data_folder_comes_before_the_cache(roots, places, file):
    put(roots[0])
    put(roots[1], b"other")
    assert read(places, file) == CONTENT


def test_a_missing_file_is_downloaded_into_the_data_folder_once(server, roots, places, file):
    assert places.find("birds", file) is None
    assert read(places, file) == read(places, file) == CONTENT
    assert (roots[0] / "birds" / NAME).read_bytes() == CONTENT
    assert not roots[1].exists()
    assert len(server.requests) == 1


def test_without_a_data_folder_to_write_to_the_cache_takes_it(server, roots, places, file):
    roots[0].touch()  # a file in the place of the folder
    assert read(places, file) == read(places, file) == CONTENT
    assert (roots[1] / "birds" / NAME).read_bytes() == CONTENT
    assert len(server.requests) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that nobody can write to")
def test_a_folder_that_is_there_but_takes_no_file_is_passed_over(tmp_path, file):
    places = Places((Path("/proc"), tmp_path), partial(download, waits=()))
    with places.open("self", file) as opened:
        assert opened.read() == CONTENT
    assert (tmp_path / "self" / NAME).is_file()


def test_with_nowhere_to_write_to_it_says_so(roots, places, file):
    for root in roots:
        root.touch()
    assert "cannot write in" in refusal(places, file)


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_a_damaged_file_is_told_and_left_alone(server, roots, places, file, kind):
    put(roots[0], b"damaged")
    expected, found = (hashlib.new(kind, content).hexdigest() for content in (CONTENT, b"damaged"))
    message = refusal(places, RemoteFile(NAME, file.addresses, **{kind: expected}))
    assert f"{roots[0] / 'birds' / NAME} is damaged" in message
    assert f"its {kind} must be {expected}, found {found} in 7 bytes" in message
    assert f"delete it, it is then fetched again from {file.addresses[0]}" in message
    assert (roots[0] / "birds" / NAME).read_bytes() == b"damaged"
    assert server.requests == []


def test_a_damaged_file_without_an_address_must_be_put_there_again(roots, places):
    put(roots[0], b"damaged")
    assert "delete it, put a whole copy there" in refusal(places, published(NAME, CONTENT))


def test_the_stronger_checksum_is_the_one_that_counts(roots, places):
    put(roots[0])
    assert read(places, published(NAME, CONTENT, md5="0" * 32)) == CONTENT


def test_without_checksums_the_size_must_be_right(roots, places):
    put(roots[0])
    assert read(places, RemoteFile(NAME)) == CONTENT
    assert read(places, RemoteFile(NAME, size=1200)) == CONTENT
    assert "it must have 7 bytes, it has 1,200" in refusal(places, RemoteFile(NAME, size=7))


def test_a_missing_file_without_an_address_is_told_with_what_is_expected_and_where(roots, places):
    message = refusal(places, published(NAME, CONTENT))
    assert message.startswith(
        f"{NAME} is missing: looked in {roots[0] / 'birds'} and {roots[1] / 'birds'}; "
    )
    assert (
        f"put it (1,200 bytes, sha256 {hashlib.sha256(CONTENT).hexdigest()}) in {roots[0] / 'birds'}"
        in message
    )
    assert "it has no public address" in message
    assert not roots[0].exists()


def test_a_file_that_cannot_be_fetched_is_told_with_its_address(server, roots, places):
    file = published(NAME, CONTENT, server.address("gone"))
    message = refusal(places, file)
    assert message.startswith(f"{NAME} is missing: looked in {roots[0] / 'birds'} and ")
    assert (
        f"in {roots[0] / 'birds'}; get it from {server.address('gone')}. The download failed: "
        in message
    )
    assert "404" in message


def test_a_folder_in_the_place_of_a_file_is_told(roots, places, file):
    (roots[0] / "birds" / NAME).mkdir(parents=True)
    assert f"{roots[0] / 'birds' / NAME} cannot be read" in refusal(places, file)


def test_the_data_folder_is_taken_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("CSIM_DATA", str(tmp_path))
    assert data_folder() == tmp_path


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_data_folder_it_says_what_to_set(monkeypatch, value):
    monkeypatch.delenv("CSIM_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("CSIM_DATA", value)
    with pytest.raises(InputError, match="set CSIM_DATA to their folder, or pass --data-dir"):
        data_folder()


def test_the_cache_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / "home" / ".cache" / "csim"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache" / "csim"
