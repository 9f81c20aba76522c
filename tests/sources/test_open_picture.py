import io
import itertools
import struct
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFile
from PIL.PngImagePlugin import PngInfo
from sources.image_files import KINDS, black, encode, exif, noise, png_with, shades, sideways

from csim.sources import arrival
from csim.sources.arrival import Trouble
from csim.sources.open_picture import MAX_PIXELS, format_of, make_plain, open_picture, used_bits

GREY = Image.fromarray(shades(30, 40))
COLOUR = Image.fromarray(np.dstack([shades(30, 40), 255 - shades(30, 40), shades(30, 40) // 2]))
FORMATS = ("1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "I;16")


# Pillow says so when it meets a damaged note about the camera.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Corrupt EXIF:UserWarning", "ignore:Truncated File Read:UserWarning"
)


def opened(content, **options):
    """Return what a file shows as an array."""
    picture = open_picture("some id", content, **options)
    assert not isinstance(picture, Trouble), picture
    assert picture.mode in ("L", "RGB")
    return np.asarray(picture).astype(int)


def trouble(content):
    found = open_picture("some id", content)
    assert isinstance(found, Trouble), found
    assert found.id == "some id"
    assert found.kind in arrival.KINDS
    assert found.reason
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("picture", [GREY, COLOUR], ids=["grey", "colour"])
def test_five_formats_are_read(kind, picture):
    shown = opened(encode(picture, kind, **({"quality": 95} if kind in ("jpeg", "webp") else {})))
    expected = np.asarray(picture).astype(int)
    if shown.ndim > expected.ndim:  # WebP knows no grey
        expected = expected[..., None]
    assert abs(shown - expected).max() <= (12 if kind in ("jpeg", "webp") else 0)


@pytest.mark.parametrize(
    "compression", ["tiff_lzw", "packbits", "tiff_deflate", "tiff_adobe_deflate", "raw"]
)
def test_compressed_tiffs_are_read(compression):
    assert (opened(encode(COLOUR, "tiff", compression=compression)) == np.asarray(COLOUR)).all()


@pytest.mark.parametrize(
    ("content", "kind", "named"),
    [
        (b"", "empty", "no bytes"),
        (b"just text, no image", "not-an-image", "none of these"),
        (b"\0" * 100, "not-an-image", "none of these"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not-an-image", "none of these"),
        (b"\0\0\0\x18ftypheic" + bytes(100), "damaged", "HEIC"),
        (b"\0\0\0\x1cftypavif" + bytes(100), "damaged", "AVIF"),
        (b"%PDF-1.7 and so on", "unknown-format", "PDF"),
        (encode(GREY, "jpeg2000"), "unknown-format", "JPEG 2000"),
        (encode(GREY, "gif"), "animated", "GIF"),
    ],
)
def test_what_is_no_image_or_of_another_format_is_refused_by_name(content, kind, named):
    found = trouble(content)
    assert found.kind == kind
    assert named in found.reason


def frames(count=3):
    return [Image.fromarray(noise(20, 20, 3, seed=seed)) for seed in range(count)]


@pytest.mark.parametrize("kind", ["gif", "png", "webp", "tiff"])
def test_a_file_of_several_pictures_is_refused(kind):
    first, *rest = frames()
    assert trouble(encode(first, kind, save_all=True, append_images=rest)).kind == "animated"


def test_the_depth_map_that_a_phone_hides_in_a_jpeg_does_no_harm():
    first, *rest = frames()
    content = encode(first, "mpo", save_all=True, append_images=rest, quality=95)
    assert Image.open(io.BytesIO(content)).n_frames == 3
    assert (opened(content) == opened(encode(first, "jpeg", quality=95))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_off_is_damaged_wherever_it_is_cut(kind):
    content = encode(Image.fromarray(noise(60, 60, 3)), kind)
    for kept in (12, 20, 40, 100, len(content) // 2, len(content) * 9 // 10):
        assert trouble(content[:kept]).kind in ("damaged", "not-an-image"), kept
    assert trouble(content[: len(content) * 9 // 10]).kind == "damaged"


def test_sixteen_hundred_million_pixels_in_a_small_file_are_refused_before_they_are_decoded(
    monkeypatch,
):
    content = black(40_000, 40_000)
    assert 190_000 < len(content) < 200_000
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("it was decoded"))
    found = trouble(content)
    assert found.kind == "too-large"
    assert "40000×40000" in found.reason


@pytest.mark.parametrize(
    "side", [8_001, 10_000, 14_000, 60_000]
)  # Pillow is silent, warns, warns, raises
def test_too_many_pixels_give_a_trouble_and_no_warning(side):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trouble(png_with(side, side, 8, zlib.compress(bytes(100)))).kind == "too-large"


def test_a_webp_of_too_many_pixels_is_refused():
    content = bytearray(encode(GREY.convert("RGBA"), "webp", lossless=True, exif=exif(1)))
    assert content[12:16] == b"VP8X"
    content[24:30] = struct.pack("<I", 16_382)[:3] * 2
    assert trouble(bytes(content)).kind in ("too-large", "damaged")


def test_the_most_pixels_are_still_taken():
    picture = open_picture("a", black(8_000, MAX_PIXELS // 8_000))
    assert picture.size == (8_000, 8_000)
    assert picture.getextrema() == (0, 0)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["png", "jpeg", "webp", "tiff"])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_rotation_noted_by_the_camera_is_honoured(kind, mode, orientation):
    upright = np.asarray(GREY.convert(mode))
    stored = Image.fromarray(sideways(upright, orientation))
    options = {"quality": 98} if kind in ("jpeg", "webp") else {}
    shown = opened(encode(stored, kind, exif=exif(orientation), **options))
    assert shown.shape[:2] == (30, 40)
    assert abs(shown - (upright if shown.ndim == upright.ndim else upright[..., None])).max() < 14


@pytest.mark.parametrize("orientation", [3, 6])
def test_deep_and_transparent_pictures_are_turned_too(orientation):
    deep = shades(30, 40).astype(np.uint16) * 256
    assert (
        opened(encode(sideways(deep, orientation), exif=exif(orientation))) == shades(30, 40)
    ).all()
    see_through = np.dstack([shades(30, 40)] * 3 + [np.full((30, 40), 255, np.uint8)])
    assert (
        opened(encode(sideways(see_through, orientation), exif=exif(orientation)))
        == see_through[..., :3]
    ).all()


@pytest.mark.parametrize(
    "note", [b"Exif\0\0", b"Exif\0\0nonsense", b"Exif\0\0MM\0*\0\0\0\x08\xff\xff"]
)
def test_a_damaged_note_about_the_camera_does_not_spoil_the_image(note):
    assert opened(encode(GREY, "jpeg", exif=note)).shape == (30, 40)


def test_an_orientation_that_does_not_exist_is_upright():
    assert (opened(encode(GREY, exif=exif(9))) == np.asarray(GREY)).all()


def test_of_sixteen_bits_the_upper_eight_remain():
    deep = np.array([[0, 255, 256, 40_000, 65_535]] * 3, np.uint16)
    for content in (
        encode(deep),
        encode(deep, "tiff"),
        encode(deep.astype(">u2"), "tiff"),
        encode(deep, "tiff", compression="tiff_lzw"),
    ):
        assert opened(content)[0].tolist() == [0, 0, 1, 156, 255]


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_depths_of_no_known_scale_are_refused(dtype):
    found = trouble(encode(np.full((9, 9), 100, dtype), "tiff"))
    assert found.kind == "unknown-format"
    assert "8 or 16 bits" in found.reason


def test_printers_colours_become_red_green_and_blue():
    assert abs(opened(encode(COLOUR.convert("CMYK"), "tiff")) - np.asarray(COLOUR)).max() <= 1
    assert (
        abs(opened(encode(COLOUR.convert("CMYK"), "jpeg", quality=98)) - np.asarray(COLOUR)).max()
        < 16
    )


def test_palettes_keep_their_colours_and_black_and_white_is_grey():
    few = Image.fromarray(np.repeat(np.array([[[255, 0, 0], [0, 0, 255]]], np.uint8), 9, axis=0))
    assert (
        opened(encode(few.convert("P", palette=Image.Palette.ADAPTIVE))) == np.asarray(few)
    ).all()
    assert opened(encode(Image.new("1", (9, 9), 1))).tolist() == [[255] * 9] * 9


@pytest.mark.parametrize(
    ("alpha", "expected"), [(0, [255, 255, 255]), (255, [200, 100, 0]), (128, [227, 177, 127])]
)
@pytest.mark.parametrize("kind", ["png", "webp", "tiff"])
def test_what_is_transparent_shows_white_paper(kind, alpha, expected):
    options = {"lossless": True, "exact": True} if kind == "webp" else {}
    content = encode(Image.new("RGBA", (9, 9), (200, 100, 0, alpha)), kind, **options)
    assert abs(opened(content)[4, 4] - expected).max() <= 1


def test_transparent_grey_stays_grey_on_white():
    assert opened(encode(Image.new("LA", (9, 9), (100, 0)))).tolist() == [[255] * 9] * 9
    assert opened(encode(Image.new("LA", (9, 9), (100, 255)))).tolist() == [[100] * 9] * 9


def test_a_transparent_colour_of_a_palette_or_of_a_grey_picture_shows_white():
    two = Image.new("P", (9, 9), 0)
    two.putpalette([255, 0, 0, 0, 0, 255])
    two.putpixel((0, 0), 1)
    shown = opened(encode(two, transparency=0))
    assert shown[4, 4].tolist() == [255, 255, 255]
    assert shown[0, 0].tolist() == [0, 0, 255]
    shown = opened(encode(Image.new("L", (9, 9), 7), transparency=7))
    assert shown[4, 4] == 255


def test_a_large_jpeg_is_decoded_smaller_if_that_is_enough():
    large = Image.fromarray(shades(900, 1200))
    content = encode(large, "jpeg", quality=95)
    assert opened(content).shape == (900, 1200)
    assert opened(content, least=200).shape == (225, 300)
    assert opened(content, least=2000).shape == (900, 1200)
    small = np.asarray(large.resize((300, 225), Image.Resampling.BOX)).astype(int)
    assert abs(opened(content, least=200) - small).mean() < 1


def test_the_format_is_told_by_the_first_bytes():
    assert [format_of(encode(GREY, kind)) for kind in KINDS] == [
        "JPEG",
        "PNG",
        "WebP",
        "BMP",
        "TIFF",
    ]
    assert format_of(b"hello") is None
    assert format_of(b"") is None


def test_a_plain_picture_is_left_as_it_is():
    assert make_plain(GREY) is GREY
    assert make_plain(COLOUR) is COLOUR


def examples():
    """Return files of all formats and modes that Pillow can write, with EXIF data if possible."""
    text = PngInfo()
    text.add_text("comment", "packed" * 20, zip=True)
    text.add_itxt("XML:com.adobe.xmp", '<x tiff:Orientation="6"/>')
    files = [encode(COLOUR, "png", pnginfo=text, icc_profile=b"profile" * 20)]
    for kind, mode in itertools.product(KINDS, FORMATS):
        picture = (
            Image.fromarray(noise(12, 10).astype(np.uint16) * 256)
            if mode == "I;16"
            else COLOUR.convert(mode)
        )
        for options in ({"exif": exif(6)}, {}) if kind != "bmp" else ({},):
            try:
                files.append(encode(picture.crop((0, 0, 10, 12)), kind, **options))
            except (OSError, ValueError):  # this format has no such mode
                continue
    return files


EXAMPLES = examples()


def test_the_examples_to_spoil_are_many_and_good():
    assert len(EXAMPLES) > 40
    for content in EXAMPLES:
        opened(content)


def read_or_refuse(content):
    """Any error would be a failure; Pillow may warn about notes that are damaged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = open_picture("some id", content, least=8)
    assert isinstance(found, Trouble) or found.mode in ("L", "RGB")


@given(st.binary(max_size=300))
def test_random_bytes_are_never_an_error(content):
    read_or_refuse(content)


BEGINNINGS = [content[:start] for content in EXAMPLES for start in (4, 12, 26)]


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=200))
def test_random_bytes_after_a_good_beginning_are_never_an_error(beginning, rest):
    read_or_refuse(beginning + rest)


@settings(max_examples=400)
@given(st.sampled_from(EXAMPLES), st.randoms(use_true_random=False))
def test_a_spoilt_file_is_never_an_error(content, random):
    spoilt = bytearray(content)
    for _ in range(random.randint(1, 6)):
        index = random.randrange(len(spoilt) if random.random() < 0.4 else min(len(spoilt), 200))
        match random.randrange(4):
            case 0:
                spoilt[index] ^= 1 << random.randrange(8)
            case 1:
                spoilt[index] = random.choice([0, 1, 127, 128, 255])
            case 2:
                spoilt[index:index] = random.randbytes(4)
            case 3:
                del spoilt[index : index + random.randint(1, 8)]
        spoilt = spoilt or bytearray(b"\0")
    read_or_refuse(bytes(spoilt))


DEEP = (np.arange(81, dtype=np.uint16).reshape(9, 9) * 51)[::-1]  # 12 bits: 0 to 4,080


def sixteen_bits(kind, **options):
    return encode(Image.fromarray(np.ascontiguousarray(DEEP)), kind, **options)


@pytest.mark.parametrize("kind", ["png", "tiff"])
def test_twelve_bits_in_a_sixteen_bit_file_are_scaled_by_the_depth_given(kind):
    seen = np.asarray(open_picture("a", sixteen_bits(kind), bits=12))
    assert (seen == DEEP >> 4).all()
    assert np.asarray(open_picture("a", sixteen_bits(kind))).max() == 15
    assert used_bits(open_picture("a", sixteen_bits(kind))) == 12


def test_a_tiff_that_states_its_depth_is_scaled_by_it():
    file = sixteen_bits("tiff", tiffinfo={281: 4095})
    seen = open_picture("a", file)
    assert (np.asarray(seen) == DEEP >> 4).all()
    assert used_bits(seen) is None


def test_values_above_the_depth_given_become_white():
    assert np.asarray(open_picture("a", sixteen_bits("png"), bits=10)).max() == 255


def test_files_of_eight_bits_have_no_depth_to_ask_about():
    assert used_bits(open_picture("a", encode(GREY))) is None
