"""The search for files, downloads of missing ones, and errors about damaged ones."""

import hashlib
import sys
from functools import partial
from pathlib import Path

import pytest
from bench.datasets.makers import published

from csim.bench.datasets.download import download
from csim.bench.datasets.files import DataFolders, RemoteFile, cache_folder, data_folder
from csim.errors import InputError

CONTENT = b"a small file" * 100
NAME = "images.gz"


@pytest.fixture
def roots(tmp_path):
    """Return a data folder and a cache, neither of which exists yet."""
    return tmp_path / "data", tmp_path / "cache"


@pytest.fixture
def folders(roots):
    return DataFolders(roots, partial(download, waits=(), timeout=600.0))


@pytest.fixture
def file(server):
    server.files[NAME] = CONTENT
    return published(NAME, CONTENT, server.address(NAME))


def put(root, content=CONTENT):
    (root / "birds").mkdir(parents=True)
    (root / "birds" / NAME).write_bytes(content)


def read(folders, file):
    with folders.open("birds", file) as opened:
        return opened.read()


def refusal(folders, file):
    with pytest.raises(InputError) as caught:
        folders.open("birds", file)
    return str(caught.value)


@pytest.mark.parametrize("index", [0, 1])
def test_a_file_in_the_data_folder_or_the_cache_is_opened_without_a_download(
    server, roots, folders, file, index
):
    put(roots[index])
    assert folders.find("birds", file) == roots[index] / "birds" / NAME
    assert read(folders, file) == CONTENT
    assert server.requests == []


def test_the_data_folder_comes_before_the_cache(roots, folders, file):
    put(roots[0])
    put(roots[1], b"other")
    assert read(folders, file) == CONTENT


def test_a_missing_file_is_downloaded_into_the_data_folder_once(server, roots, folders, file):
    assert folders.find("birds", file) is None
    assert read(folders, file) == read(folders, file) == CONTENT
    assert (roots[0] / "birds" / NAME).read_bytes() == CONTENT
    assert not roots[1].exists()
    assert len(server.requests) == 1


def test_without_a_writable_data_folder_the_cache_is_used(server, roots, folders, file):
    roots[0].touch()  # a file instead of the folder
    assert read(folders, file) == read(folders, file) == CONTENT
    assert (roots[1] / "birds" / NAME).read_bytes() == CONTENT
    assert len(server.requests) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that nobody can write to")
def test_a_folder_that_is_not_writable_is_skipped(tmp_path, file):
    folders = DataFolders((Path("/proc"), tmp_path), partial(download, waits=()))
    with folders.open("self", file) as opened:
        assert opened.read() == CONTENT
    assert (tmp_path / "self" / NAME).is_file()


def test_with_nowhere_to_write_to_it_says_so(roots, folders, file):
    for root in roots:
        root.touch()
    assert "cannot write in" in refusal(folders, file)


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_a_damaged_file_is_reported_and_left_alone(server, roots, folders, file, kind):
    put(roots[0], b"damaged")
    expected = hashlib.new(kind, CONTENT).hexdigest()
    found = hashlib.new(kind, b"damaged").hexdigest()
    message = refusal(folders, RemoteFile(NAME, file.addresses, **{kind: expected}))
    assert f"{roots[0] / 'birds' / NAME} is damaged" in message
    assert f"its {kind} must be {expected}, found {found} in 7 bytes" in message
    assert f"delete it, and csim fetches it again from {file.addresses[0]}" in message
    assert (roots[0] / "birds" / NAME).read_bytes() == b"damaged"
    assert server.requests == []


def test_a_damaged_file_without_an_address_must_be_replaced(roots, folders):
    put(roots[0], b"damaged")
    assert "replace it with a complete copy" in refusal(folders, published(NAME, CONTENT))


def test_the_stronger_checksum_is_the_one_that_counts(roots, folders):
    put(roots[0])
    assert read(folders, published(NAME, CONTENT, md5="0" * 32)) == CONTENT


def test_without_checksums_the_size_must_be_right(roots, folders):
    put(roots[0])
    assert read(folders, RemoteFile(NAME)) == CONTENT
    assert read(folders, RemoteFile(NAME, size=1200)) == CONTENT
    assert "it must have 7 bytes, it has 1,200" in refusal(folders, RemoteFile(NAME, size=7))


def test_a_missing_file_without_an_address_is_reported_with_checksum_and_folder(roots, folders):
    message = refusal(folders, published(NAME, CONTENT))
    assert message.startswith(
        f"{NAME} is missing: looked in {roots[0] / 'birds'} and {roots[1] / 'birds'}; "
    )
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert f"put it (1,200 bytes, sha256 {digest}) in {roots[0] / 'birds'}" in message
    assert "it has no public address" in message
    assert not roots[0].exists()


def test_a_file_that_cannot_be_fetched_is_reported_with_its_address(server, roots, folders):
    file = published(NAME, CONTENT, server.address("gone"))
    message = refusal(folders, file)
    assert message.startswith(f"{NAME} is missing: looked in {roots[0] / 'birds'} and ")
    assert (
        f"in {roots[0] / 'birds'}; get it from {server.address('gone')}. The download failed: "
        in message
    )
    assert "404" in message


def test_a_folder_instead_of_a_file_is_reported(roots, folders, file):
    (roots[0] / "birds" / NAME).mkdir(parents=True)
    assert f"{roots[0] / 'birds' / NAME} cannot be read" in refusal(folders, file)


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
