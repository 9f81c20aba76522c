"""Tiny data sets in the formats of the official ones, written by hand."""

import gzip
import hashlib
import io
import pickle
import struct
import tarfile
import zipfile

import numpy as np

from csim.bench.datasets.files import RemoteFile

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 9, 8), dtype=np.uint8)
LABELS = np.array([3, 0, 9, 1, 1, 2], np.uint8)
COLOURS = np.random.default_rng(1).integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)  # two a batch
COLOUR_LABELS = np.array([6, 9, 9, 4, 1, 1, 2, 7, 8, 3, 0, 5], np.uint8)
BATCHES = (
    "data_batch_1",
    "data_batch_2",
    "data_batch_3",
    "data_batch_4",
    "data_batch_5",
    "test_batch",
)


def idx(array, magic=None):
    header = struct.pack(
        f">{1 + array.ndim}I", (0x800 + array.ndim) if magic is None else magic, *array.shape
    )
    return gzip.compress(header + array.tobytes())


def published(name, content, *addresses, **changes):
    """Describe a file with this content."""
    known = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()} | changes
    return RemoteFile(name, addresses, **known)


def tar(members):
    """Pack contents by member name."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def zipped(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def planes(image):
    """Return the bytes of an image in the order of CIFAR-10: channel, row, column."""
    return bytes(
        int(image[row, column, channel])
        for channel in range(3)
        for row in range(32)
        for column in range(32)
    )


def cifar_binary(**changes):
    """Return the members of the binary archive."""
    members = {
        f"cifar-10-batches-bin/{batch}.bin": b"".join(
            bytes([COLOUR_LABELS[index]]) + planes(COLOURS[index])
            for index in (2 * number, 2 * number + 1)
        )
        for number, batch in enumerate(BATCHES)
    }
    return {"cifar-10-batches-bin/batches.meta.txt": b"airplane\n"} | members | changes


def cifar_python(**changes):
    """Return the members of the Python archive."""
    members = {
        f"cifar-10-batches-py/{batch}": old_pickle(
            b"".join(planes(COLOURS[index]) for index in (2 * number, 2 * number + 1)),
            COLOUR_LABELS[2 * number : 2 * number + 2].tolist(),
        )
        for number, batch in enumerate(BATCHES)
    }
    return {"cifar-10-batches-py/batches.meta": pickle.dumps({})} | members | changes


def old_pickle(rows, labels, width=3072, code=b"u1"):
    """Pickle a batch opcode by opcode, as Python 2 and its NumPy made the official ones."""

    def text(value):
        return b"U" + bytes([len(value)]) + value

    number = struct.Struct("<i")
    element = (
        b"cnumpy\ndtype\n"
        + text(code)
        + b"K\0K\1\x87R(K\3"
        + text(b"|")
        + b"NNN"
        + b"J\xff\xff\xff\xff" * 2
    )
    shape = b"J" + number.pack(len(rows) // width) + b"J" + number.pack(width) + b"\x86"
    return b"".join([
        b"\x80\2}(", text(b"batch_label"), text(b"training batch 1 of 5"),
        text(b"labels"), b"](", *(b"K" + bytes([label]) for label in labels), b"e",
        text(b"data"), b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n",
        b"K\0\x85", text(b"b"), b"\x87R",
        b"(K\1", shape, element, b"K\0tb", b"\x89T", number.pack(len(rows)), rows, b"tb",
        text(b"filenames"), b"](", text(b"leptodactylus_pentadactylus_s_000004.png"), b"e",
        b"u.",
    ])  # fmt: skip
