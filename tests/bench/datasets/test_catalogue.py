"""The known data sets: choice of files, downloads, checks, and the prepared ones."""

import dataclasses
import hashlib
import re
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bench.datasets.makers import (
    COLOUR_LABELS,
    COLOURS,
    IMAGES,
    LABELS,
    cifar_binary,
    cifar_python,
    idx,
    published,
    tar,
)

from csim.bench.datasets import cifar, emnist
from csim.bench.datasets import published as known
from csim.bench.datasets.catalogue import ENTRIES, NAMES, Entry, Variant, did_you_mean, load, read
from csim.bench.datasets.download import download
from csim.bench.datasets.files import DataFolders, cache_folder, data_folder
from csim.bench.datasets.idx import read_pairs
from csim.errors import InputError

PARTS = {
    "train-images": idx(IMAGES[:4]),
    "train-labels": idx(LABELS[:4]),
    "t10k-images": idx(IMAGES[4:]),
    "t10k-labels": idx(LABELS[4:]),
}
CLASS_NAMES = tuple("abcdefghij")
DOCS = Path(__file__).parents[3] / "docs/datasets.md"


@pytest.fixture
def folders(tmp_path):
    roots = (tmp_path / "data", tmp_path / "cache")
    return DataFolders(roots, partial(download, waits=(), timeout=600.0))


@pytest.fixture
def birds(server):
    """Return a data set of four files that the server has."""
    server.files = dict(PARTS)
    files = tuple(published(name, content, server.address(name)) for name, content in PARTS.items())
    return Entry("birds", CLASS_NAMES, 6, (Variant("birds", files, read_pairs),))


def put(folder, contents):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def refusal(entry, folders):
    with pytest.raises(InputError) as caught:
        read(entry, folders)
    return str(caught.value)


def test_the_names_are_these():
    assert NAMES == (
        "mnist", "fashion-mnist", "emnist-47", "emnist-balanced",
        "cifar-10-grey", "cifar-10", "digits",
        "groceries", "fruits", "traffic-signs", "eurosat", "flowers-102",
    )  # fmt: skip


def test_files_are_downloaded_joined_and_their_labels_named(server, folders, birds):
    data = read(birds, folders)
    assert data.name == "birds"
    assert (data.images == IMAGES).all()
    assert data.names == [CLASS_NAMES[label] for label in LABELS]
    assert all(type(name) is str for name in data.names)
    assert len(server.requests) == 4
    assert read(birds, folders).names == data.names
    assert len(server.requests) == 4


def test_only_what_is_missing_is_downloaded(server, folders, birds):
    put(folders.roots[0] / "birds", {name: PARTS[name] for name in ("train-images", "t10k-labels")})
    put(folders.roots[1] / "birds", {"train-labels": PARTS["train-labels"]})
    assert (read(birds, folders).images == IMAGES).all()
    assert [name for name, _ in server.requests] == ["t10k-images"]


def test_a_damaged_file_is_not_fetched_again_over_it(server, folders, birds):
    put(folders.roots[0] / "birds", PARTS | {"t10k-images": b"damaged"})
    message = refusal(birds, folders)
    assert f"{folders.roots[0] / 'birds' / 't10k-images'} is damaged" in message
    assert hashlib.sha256(b"damaged").hexdigest() in message
    assert hashlib.sha256(PARTS["t10k-images"]).hexdigest() in message
    assert server.requests == []


def test_another_number_of_images_is_refused(folders, birds):
    message = refusal(dataclasses.replace(birds, count=131_600), folders)
    assert message.startswith("birds has 131,600 images, but ")
    assert message.endswith("train-images holds 6; fetch it again")


def test_a_label_without_a_class_name_is_refused(folders, birds):
    message = refusal(dataclasses.replace(birds, class_names=CLASS_NAMES[:9]), folders)
    assert message.startswith("birds has 9 classes, but ")
    assert message.endswith("train-images holds label 9; fetch it again")


def colour_variants(server, *, prepared):
    """Return a grey CIFAR-10 in three variants, like the real one; the server has the archives."""
    server.files = {"b.tar.gz": tar(cifar_binary()), "p.tar.gz": tar(cifar_python())}
    files = [
        published(name, content, server.address(name)) for name, content in server.files.items()
    ]
    first = tuple(published(name, content) for name, content in prepared.items())
    variants = (
        Variant("grey", first, read_pairs),
        Variant("colour", (files[0],), cifar.grey_from_binary),
        Variant("colour", (files[1],), cifar.grey_from_python),
    )
    return Entry("objects", known.OBJECTS, 12, variants)


PREPARED = {"images.gz": idx(COLOURS[..., 0]), "labels.gz": idx(COLOUR_LABELS)}


def test_the_first_complete_variant_is_read(server, folders):
    entry = colour_variants(server, prepared=PREPARED)
    put(folders.roots[0] / "grey", PREPARED)
    put(folders.roots[0] / "colour", server.files)
    assert (read(entry, folders).images == COLOURS[..., 0]).all()
    (folders.roots[0] / "grey" / "labels.gz").unlink()
    luma = np.rint(0.299 * COLOURS[..., 0] + 0.587 * COLOURS[..., 1] + 0.114 * COLOURS[..., 2])
    assert (read(entry, folders).images == luma).all()
    (folders.roots[0] / "colour" / "b.tar.gz").unlink()
    assert (read(entry, folders).images == luma).all()
    assert server.requests == []


def test_without_any_the_first_variant_with_an_address_is_downloaded(server, folders):
    data = read(colour_variants(server, prepared=PREPARED), folders)
    assert data.names == [known.OBJECTS[label] for label in COLOUR_LABELS]
    assert [name for name, _ in server.requests] == ["b.tar.gz"]


def test_without_a_network_the_other_variants_are_named(server, folders):
    entry = colour_variants(server, prepared=PREPARED)
    server.files = {}
    message = refusal(entry, folders)
    assert message.startswith("b.tar.gz is missing: looked in ")
    assert f"get it from {server.address('b.tar.gz')}" in message
    grey, colour = (folders.roots[0] / name for name in ("grey", "colour"))
    assert message.endswith(
        f"You can use instead: images.gz and labels.gz in {grey}; p.tar.gz in {colour}"
    )


def test_progress_and_the_data_folder_reach_the_download(server, tmp_path, monkeypatch, birds):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(
        "csim.bench.datasets.catalogue.ENTRIES", (dataclasses.replace(birds, name="mnist"),)
    )
    progress = {}
    data = load(
        "mnist",
        tmp_path,
        on_progress=lambda name, done, total: progress.update({name: (done, total)}),
    )
    assert (data.images == IMAGES).all()
    assert progress == {name: (len(content), len(content)) for name, content in PARTS.items()}
    assert {path.name for path in (tmp_path / "birds").iterdir()} == set(PARTS)
    monkeypatch.setenv("CSIM_DATA", str(tmp_path))
    assert load("mnist").names == data.names
    assert len(server.requests) == 4


def test_a_data_set_without_an_address_is_reported_with_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(InputError) as caught:
        load("emnist-47", tmp_path / "data")
    assert str(caught.value) == (
        "emnist-47-images-idx3-ubyte.gz is missing: "
        f"looked in {tmp_path / 'data' / 'emnist-47'} and "
        f"{tmp_path / 'cache' / 'csim' / 'emnist-47'}; put it (26,452,191 bytes, sha256 "
        "08eb4b9fd9ea847f0bf31b87d0fa8e2ccf16d0401248079e13e705524d30b2d9) in "
        f"{tmp_path / 'data' / 'emnist-47'}; it has no public address"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist", "emnist-47"])
def test_a_file_of_the_right_name_must_have_the_published_checksum(tmp_path, name):
    (variant,) = next(entry for entry in ENTRIES if entry.name == name).variants
    put(
        tmp_path / name, dict.fromkeys((file.name for file in variant.files), PARTS["train-images"])
    )
    with pytest.raises(
        InputError, match=f"is damaged: its sha256 must be {variant.files[0].sha256}, found "
    ):
        load(name, tmp_path)


@pytest.mark.parametrize("name", ["cifar-10", "cifar-10-grey"])
@pytest.mark.parametrize(
    "file", [known.CIFAR_10_BINARY, known.CIFAR_10_PYTHON], ids=["binary", "python"]
)
def test_an_archive_must_have_the_published_checksum_before_it_is_opened(tmp_path, name, file):
    put(tmp_path / "cifar-10", {file.name: tar(cifar_binary() | cifar_python())})
    with pytest.raises(
        InputError, match=rf"{file.name} is damaged: its md5 must be {file.md5}, found "
    ) as caught:
        load(name, tmp_path)
    assert "instead" not in str(caught.value)


def test_extracted_emnist_files_are_read_without_the_archive_and_counted(tmp_path):
    (extracted, archive) = next(
        entry for entry in ENTRIES if entry.name == "emnist-balanced"
    ).variants
    put(
        tmp_path / "emnist-balanced",
        dict(zip([f.name for f in extracted.files], PARTS.values(), strict=True)),
    )
    with pytest.raises(
        InputError, match=r"emnist-balanced has 131,600 images, but .* holds 6; fetch it again"
    ):
        load("emnist-balanced", tmp_path)
    assert archive.files[0].md5 == "58c8d27c78d21e728a6bc7b3cc06412e"


def test_the_digits_need_no_file_and_no_folder(monkeypatch):
    monkeypatch.delenv("CSIM_DATA", raising=False)
    assert len(load("digits").names) == 1797


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fashion_mnist", "fashion-mnist"),
        ("MNIST", "mnist"),
        ("cifar10", "cifar-10"),
        ("emnist47", "emnist-47"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name, meant):
    with pytest.raises(
        InputError, match=rf"one of mnist, .*digits.*; got '{name}'; did you mean {meant}\b"
    ):
        load(name)


def test_a_name_like_none_is_refused_with_all_that_there_are():
    with pytest.raises(InputError, match=r"cifar-10-grey, cifar-10, digits, .*; got 'imagenet'$"):
        load("imagenet")
    assert did_you_mean("", NAMES) == ""


def test_without_a_data_folder_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("CSIM_DATA", raising=False)
    with pytest.raises(InputError, match="set CSIM_DATA"):
        load("mnist")


def files_of(entry):
    return [file for variant in entry.variants for file in variant.files]


def test_every_published_file_has_a_size_and_a_checksum_or_is_inside_one_that_has():
    for file in [file for entry in ENTRIES for file in files_of(entry)]:
        assert (file.size and file.checksum) or file.name in emnist.MEMBERS
        assert all(address.endswith(f"/{file.name}") for address in file.addresses)


def test_the_page_names_every_data_set_file_address_and_checksum():
    page = DOCS.read_text()
    assert len(page.splitlines()) < 120
    assert set(NAMES) <= set(re.findall(r"`([\w-]+)`", page))
    for entry in ENTRIES:
        for file in files_of(entry):
            assert all(address.removesuffix(file.name) in page for address in file.addresses)
            assert file.checksum is None or (file.checksum[1] in page and f"{file.size:,}" in page)
    for file in (*known.EUROSAT_FILES, *known.FLOWERS_FILES):
        assert all(address.removesuffix(file.name) in page for address in file.addresses)
        assert f"| `{file.name}` | {file.md5} |" in page


FASHION = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
]
CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabdefghnqrt"
OBJECTS = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
MNIST_TRAIN = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
MNIST_TEST = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
EMNIST_47 = [
    2800, 2800, 2800, 2800, 2800, 2800, 2800, 2800, 2800, 2800, 1970, 1222, 2800, 1395, 1597, 2775,
    818, 1014, 2800, 1730, 1529, 2800, 2800, 2536, 2800, 2800, 770, 1529, 2800, 2800, 2800, 2319,
    2340, 1682, 2213, 1727, 2800, 1654, 2800, 2800, 759, 1093, 2789, 2800, 968, 2800, 2800,
]  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "counts", "last"),
    [
        (
            "mnist",
            (70_000, 28, 28),
            np.add(MNIST_TRAIN, MNIST_TEST),
            dict(zip("0123456789", MNIST_TEST, strict=True)),
        ),
        ("fashion-mnist", (70_000, 28, 28), [7000] * 10, dict.fromkeys(FASHION, 1000)),
        ("emnist-47", (106_429, 28, 28), EMNIST_47, None),
        ("cifar-10-grey", (60_000, 32, 32), [6000] * 10, dict.fromkeys(OBJECTS, 1000)),
    ],
)
def test_a_prepared_data_set_is_complete_with_the_test_images_last(
    prepared, name, shape, counts, last
):
    titles = {
        "mnist": "0123456789",
        "fashion-mnist": FASHION,
        "emnist-47": CHARACTERS,
        "cifar-10-grey": OBJECTS,
    }[name]
    data = prepared(name)
    assert data.images.shape == shape
    assert data.images.dtype == np.uint8
    assert Counter(data.names) == dict(zip(titles, counts, strict=True))
    if last:
        assert Counter(data.names[-10_000:]) == last


@pytest.mark.data
def test_emnist_characters_are_upright_like_the_digits_of_mnist(prepared):
    mnist = prepared("mnist")
    emnist = prepared("emnist-47")
    for digit in "23457":
        ours, theirs = (
            data.images[np.array(data.names) == digit].mean(axis=0) for data in (emnist, mnist)
        )
        upright, turned = (
            np.corrcoef(image.ravel(), theirs.ravel())[0, 1] for image in (ours, ours.T)
        )
        assert upright > turned + 0.2


MD5 = {
    "mnist": [
        "f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c",
    ],
    "fashion-mnist": [
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310",
    ],
}  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("name", MD5)
def test_files_that_pass_have_the_md5_that_their_publishers_give(prepared, name):
    prepared(name)
    (variant,) = next(entry for entry in ENTRIES if entry.name == name).variants
    for file, md5 in zip(variant.files, MD5[name], strict=True):
        content = next(
            path
            for root in (data_folder(), cache_folder())
            if (path := root / name / file.name).is_file()
        ).read_bytes()
        assert hashlib.md5(content, usedforsecurity=False).hexdigest() == md5
        assert len(content) == file.size
