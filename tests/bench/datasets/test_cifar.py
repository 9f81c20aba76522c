import io
import os
import pickle
import tarfile

import numpy as np
import pytest
from bench.datasets.makers import (
    COLOUR_LABELS,
    COLOURS,
    cifar_binary,
    cifar_python,
    old_pickle,
    tar,
)

from csim.bench.datasets.cifar import (
    from_binary,
    from_python,
    grey_from_binary,
    grey_from_python,
    to_grey,
)
from csim.errors import InputError

BIN = "cifar-10-batches-bin/"
PY = "cifar-10-batches-py/"
ARCHIVES = [(from_binary, cifar_binary), (from_python, cifar_python)]


def file_of(content):
    file = io.BytesIO(content)
    file.name = "cifar.tar.gz"
    return file


def read(reader, members):
    return reader([file_of(tar(members))])


@pytest.mark.parametrize(("reader", "members"), ARCHIVES)
def test_an_archive_gives_colour_images_in_the_official_order(reader, members):
    images, labels = read(reader, members())
    assert images.shape == (12, 32, 32, 3)
    assert images.dtype == labels.dtype == np.uint8
    assert images.flags.c_contiguous
    assert (images == COLOURS).all()
    assert (labels == COLOUR_LABELS).all()


@pytest.mark.parametrize(("reader", "members"), ARCHIVES)
def test_the_order_in_the_archive_and_its_folders_do_not_matter(
    reader, members, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    turned = {
        f"../../{name.split('/')[1]}": content for name, content in reversed(members().items())
    }
    images, labels = read(reader, turned)
    assert (images == COLOURS).all()
    assert (labels == COLOUR_LABELS).all()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("reader", "members"), [(grey_from_binary, cifar_binary), (grey_from_python, cifar_python)]
)
def test_grey_is_the_rounded_luma(reader, members):
    images, labels = read(reader, members())
    assert images.shape == (12, 32, 32)
    assert images.dtype == np.uint8
    for index in np.ndindex(2, 32, 32):
        red, green, blue = COLOURS[index].tolist()
        assert images[index] == round(0.299 * red + 0.587 * green + 0.114 * blue)
    assert (labels == COLOUR_LABELS).all()


def test_grey_of_grey_is_the_same_and_blocks_leave_no_seam():
    shades = np.random.default_rng(2).integers(0, 256, (10_003, 2, 2), dtype=np.uint8)
    images, labels = to_grey((np.repeat(shades[..., None], 3, axis=3), shades[:, 0, 0]))
    assert (images == shades).all()
    assert labels is not None


@pytest.mark.parametrize(("reader", "members"), ARCHIVES)
def test_a_missing_batch_is_named(reader, members):
    kept = {name: content for name, content in members().items() if "data_batch_4" not in name}
    with pytest.raises(InputError, match=r"cifar\.tar\.gz must hold data_batch_4"):
        read(reader, kept)


def test_a_link_instead_of_a_batch_is_not_followed(tmp_path):
    (tmp_path / "secret").write_bytes(bytes(3073))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in cifar_binary():
            entry = tarfile.TarInfo(name)
            entry.type = tarfile.SYMTYPE
            entry.linkname = str(tmp_path / "secret")
            archive.addfile(entry)
    with pytest.raises(InputError, match=r"must hold data_batch_1\.bin"):
        from_binary([file_of(packed.getvalue())])


@pytest.mark.parametrize("reader", [from_binary, from_python])
@pytest.mark.parametrize(
    "content", [b"", b"no archive", tar(cifar_binary())[:2000]], ids=["empty", "foreign", "cut"]
)
def test_a_damaged_archive_is_refused_by_name(reader, content):
    with pytest.raises(InputError, match=r"cifar\.tar\.gz is damaged"):
        reader([file_of(content)])


@pytest.mark.parametrize("content", [b"", bytes(3072), bytes(3073 * 2 + 1)])
def test_records_of_another_length_are_refused(content):
    with pytest.raises(
        InputError, match=r"test_batch\.bin in cifar\.tar\.gz must hold records of 3,073 bytes"
    ):
        read(from_binary, cifar_binary(**{f"{BIN}test_batch.bin": content}))


class Attack:
    """Run a command when unpickled."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Attack(os.mkdir, ("owned",)), protocol=2),
        pickle.dumps(
            {b"data": Attack(eval, ("__import__('os').mkdir('owned')",)), b"labels": [1]},
            protocol=2,
        ),
        pickle.dumps(Attack(getattr, (np.dtype, "type")), protocol=2),
        b"cnumpy\nload\n(S'owned'\ntR.",
        b"cnumpy.core.multiarray\nfromfile\n(S'owned'\ntR.",
        b"cos\nmkdir\n(S'owned'\ntR.",
    ],
)
def test_a_pickle_can_run_nothing(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError,
        match=r"test_batch in cifar\.tar\.gz is not a batch of CIFAR-10 .*is not allowed",
    ):
        read(from_python, cifar_python(**{f"{PY}test_batch": content}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\2",
        b"garbage",
        pickle.dumps([1, 2], protocol=2),
        pickle.dumps({}, protocol=2),
        old_pickle(bytes(3072), [1])[:-40],
        old_pickle(bytes(3072), [1, 2]),
        old_pickle(bytes(3072), []),
        old_pickle(bytes(3072), [1], width=1024),
        old_pickle(bytes(3072), [1], code=b"i1"),
        pickle.dumps({b"data": "text", b"labels": [1]}, protocol=2),
    ],
    ids=[
        "empty", "header", "garbage", "list", "no keys", "cut", "two labels", "no label",
        "other width", "other type", "text",
    ],
)  # fmt: skip
def test_a_damaged_or_foreign_batch_is_refused_by_name(content):
    with pytest.raises(InputError, match=r"test_batch in cifar\.tar\.gz (is not|must hold)"):
        read(from_python, cifar_python(**{f"{PY}test_batch": content}))


def test_a_pickle_with_a_changed_byte_is_read_or_refused_but_never_fails_otherwise():
    intact = old_pickle(bytes(3072), [1])
    members = cifar_python()
    errors = []
    for offset in range(0, 420, 7):
        content = bytearray(intact)
        content[offset] ^= 0x15
        try:
            read(from_python, members | {f"{PY}test_batch": bytes(content)})
        except InputError as error:
            errors.append(str(error))
    assert len(errors) > 10
    assert all("test_batch" in error for error in errors)
