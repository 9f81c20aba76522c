"""HEIC and AVIF are read if something is installed that can, and else counted, never skipped."""

import io
import sys

import numpy as np
import pillow_heif
import pytest
from PIL import Image, features

from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.decode import decode
from csim.sources.directory import Directory
from csim.sources.open_picture import format_of, open_picture
from csim.sources.phone_formats import phone_readers

PICTURE = Image.fromarray(
    np.linspace(0, 255, 64 * 48 * 3).reshape(48, 64, 3).astype(np.uint8), "RGB"
)


def encode(kind, picture=PICTURE):
    file = io.BytesIO()
    if kind == "HEIC":
        pillow_heif.from_pillow(picture).save(file, quality=95)
    else:
        picture.save(file, "AVIF", quality=95)
    return file.getvalue()


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(features, "check", lambda name: False)
    phone_readers.cache_clear()
    yield
    phone_readers.cache_clear()


@pytest.mark.parametrize("kind", ["HEIC", "AVIF"])
def test_a_picture_of_a_phone_is_read(kind):
    content = encode(kind)
    assert format_of(content) == kind
    picture = open_picture("a", content)
    assert picture.size == (64, 48)
    assert np.asarray(picture) == pytest.approx(np.asarray(PICTURE).astype(float), abs=25)


def test_a_heic_is_kept_in_a_format_that_browsers_show():
    decoded = decode(Arrival("a", encode("HEIC")), (16, 16, 3))
    assert isinstance(decoded, Decoded)
    assert format_of(decoded.kept) == "PNG"


@pytest.mark.parametrize("kind", ["HEIC", "AVIF"])
def test_without_a_plug_in_it_is_counted_and_the_reason_says_what_to_install(
    kind, nothing_installed
):
    found = decode(Arrival("a", encode(kind)), (16, 16))
    assert isinstance(found, Trouble)
    assert found.kind == "unknown-format"
    assert "install" in found.reason


def test_a_damaged_one_is_a_trouble():
    for kind in ("HEIC", "AVIF"):
        content = encode(kind)
        found = open_picture("a", content[: len(content) // 2])
        assert isinstance(found, Trouble)
        assert found.kind == "damaged"


def test_a_folder_yields_them(tmp_path):
    names = ["a.HEIC", "b.heif", "c.avif", "d.HIF"]
    for name in names:
        (tmp_path / name).write_bytes(encode("AVIF" if name.endswith("avif") else "HEIC"))
    assert [arrival.id for arrival in Directory(tmp_path)] == names
