import io
import os
import zlib

import numpy as np
import pytest
from PIL import Image
from sources.image_files import exif, png_with, sideways

from csim.errors import InputError
from csim.sources.decode import decode
from csim.sources.image_folder import labelled_files, read_images, read_labelled


def picture(shade=100, size=(12, 10), mode="L"):
    """Return an image of `size` (height, width) with a mark in its upper left corner."""
    image = Image.new(mode, (size[1], size[0]), shade)
    image.putpixel((0, 0), 255 if isinstance(shade, int) else (255, 255, 255))
    return image


def save(image, path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, **options)


def refusal(folder):
    """Return why a folder is refused, None if it is read; any error but ours is a failure."""
    try:
        read_images(folder)
    except InputError as error:
        return str(error)
    return None


def test_every_subfolder_is_a_class(tmp_path):
    save(picture(10), tmp_path / "heron" / "b.png")
    save(picture(20), tmp_path / "heron" / "a.png")
    save(picture(30), tmp_path / "crane" / "z.png")
    images, names = read_labelled(tmp_path)
    assert names == ["crane", "heron", "heron"]
    assert images[:, 5, 5].tolist() == [30, 20, 10]
    assert images.shape == (3, 12, 10)
    assert images.dtype == np.uint8


def test_deeper_folders_belong_to_the_class_on_top_and_loose_files_to_none(tmp_path):
    save(picture(10), tmp_path / "heron" / "2024" / "may" / "a.png")
    save(picture(30), tmp_path / "crane" / "z.png")
    save(picture(50), tmp_path / "loose.png")
    images, names = read_labelled(str(tmp_path))
    assert names == ["crane", "heron"]
    assert len(read_images(tmp_path)) == 3
    assert images[:, 5, 5].tolist() == [30, 10]


def test_images_come_in_order_of_their_paths(tmp_path):
    for shade, name in enumerate(["c.png", "a.bmp", "b/1.png", "a.tif"]):
        save(picture(shade), tmp_path / name)
    assert read_images(tmp_path)[:, 5, 5].tolist() == [1, 3, 2, 0]


def test_endings_are_known_in_capitals_and_other_files_are_passed_over(tmp_path):
    save(picture(10), tmp_path / "A.PNG")
    (tmp_path / "notes.txt").write_text("not an image")
    (tmp_path / "folder.png").mkdir()
    assert len(read_images(tmp_path)) == 1


@pytest.mark.parametrize("suffix", ["png", "bmp", "tif", "tiff", "jpg", "jpeg", "webp"])
def test_all_known_formats_are_read(tmp_path, suffix):
    save(picture(100), tmp_path / f"a.{suffix}")
    images = read_images(tmp_path)
    assert images[0, 5, 5].tolist() == pytest.approx(100 if images.ndim == 3 else [100] * 3, abs=3)


def test_all_grey_files_give_grey_images(tmp_path):
    save(picture(10), tmp_path / "a.png")
    save(picture(1, mode="1"), tmp_path / "b.png")
    images = read_images(tmp_path)
    assert images.shape == (2, 12, 10)
    assert images[1, 5, 5] == 255


def test_one_colour_file_makes_all_images_colour(tmp_path):
    save(picture(10), tmp_path / "a.png")
    save(picture((1, 2, 3), mode="RGB"), tmp_path / "b.png")
    images = read_images(tmp_path)
    assert images.shape == (2, 12, 10, 3)
    assert images[:, 5, 5].tolist() == [[10, 10, 10], [1, 2, 3]]


def test_palettes_and_transparency_are_read_as_colour(tmp_path):
    colourful = picture((200, 30, 40), mode="RGB")
    save(colourful.convert("P", palette=Image.Palette.ADAPTIVE), tmp_path / "palette.png")
    save(colourful.convert("RGBA"), tmp_path / "rgba.png")
    assert read_images(tmp_path)[:, 5, 5].tolist() == [[200, 30, 40]] * 2


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_rotation_noted_by_the_camera_is_honoured(tmp_path, orientation):
    upright = np.zeros((12, 10), np.uint8)
    upright[:3, :2] = 250
    stored = Image.fromarray(sideways(upright, orientation))
    save(stored, tmp_path / "a.png", exif=exif(orientation))
    assert (read_images(tmp_path)[0] == upright).all()


def test_sixteen_bits_are_brought_to_eight(tmp_path):
    deep = np.full((12, 10), 40_000, np.uint16)
    deep[0, 0] = 65_535
    save(Image.fromarray(deep), tmp_path / "a.png")
    images = read_images(tmp_path)
    assert images[0, 5, 5] == 40_000 // 256
    assert images[0, 0, 0] == 255


def test_sixteen_bits_among_colour_files_are_read_too(tmp_path):
    save(Image.fromarray(np.full((12, 10), 40_000, np.uint16)), tmp_path / "a.png")
    save(picture((1, 2, 3), mode="RGB"), tmp_path / "b.png")
    assert read_images(tmp_path)[0, 5, 5].tolist() == [156, 156, 156]


@pytest.mark.parametrize("dtype", [">u2", "i4", "f4"])
def test_rare_depths_are_read_or_refused_with_our_error(tmp_path, dtype):
    save(Image.fromarray(np.full((12, 10), 100, dtype)), tmp_path / "a.tif")
    assert "a.tif" in (refusal(tmp_path) or "a.tif")


def test_different_sizes_are_refused_with_advice(tmp_path):
    save(picture(10), tmp_path / "x" / "a.png")
    save(picture(20, size=(30, 40)), tmp_path / "y" / "b.png")
    for read in (read_images, read_labelled):
        with pytest.raises(InputError, match=r"2 different sizes.*size="):
            read(tmp_path)


def test_different_sizes_are_resized_on_request(tmp_path):
    half = picture(0, size=(30, 40))
    half.paste(200, (20, 0, 40, 30))  # the right half is light
    save(picture(10), tmp_path / "x" / "a.png")
    save(half, tmp_path / "y" / "b.png")
    images, _ = read_labelled(tmp_path, size=(9, 16))
    assert images.shape == (2, 9, 16)
    assert images[1, 4, 2] < 5
    assert images[1, 4, 13] > 195
    assert read_images(tmp_path, size=(9, 16)).shape == (2, 9, 16)


def png_bytes():
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)).save(
        buffer, "png"
    )
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"just text, no image", png_bytes()[:20], png_bytes()[:300], png_bytes()[:-200]],
    ids=["empty", "text", "header only", "cut early", "cut late"],
)
def test_a_file_that_is_no_whole_image_is_refused_by_name(tmp_path, content):
    save(picture(10), tmp_path / "good.png")
    (tmp_path / "bad.png").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.png cannot be read"):
        read_images(tmp_path)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("kind", ["png", "jpeg", "tiff", "webp", "bmp"])
def test_flipped_bits_are_read_or_refused_with_our_error(tmp_path, kind):
    buffer = io.BytesIO()
    rng = np.random.default_rng(0)
    exif = Image.Exif()
    exif[0x0112] = 6
    image = Image.fromarray(rng.integers(0, 256, (10, 10), dtype=np.uint8))
    image.save(buffer, kind, **({} if kind == "bmp" else {"exif": exif}))
    refused = []
    for _ in range(150):
        content = bytearray(buffer.getvalue())
        for index in rng.integers(0, len(content), 3):
            content[index] ^= 1 << int(rng.integers(8))
        (tmp_path / f"a.{kind}").write_bytes(content)
        refused.append(refusal(tmp_path))
    assert any(refused)
    assert all(f"a.{kind}" in message for message in refused if message)


def test_a_folder_that_is_missing_is_refused(tmp_path):
    save(picture(10), tmp_path / "file.png")
    for path in (tmp_path / "nowhere", tmp_path / "file.png"):
        for read in (read_images, read_labelled):
            with pytest.raises(InputError, match="is not a folder"):
                read(path)


def test_a_folder_without_images_is_refused(tmp_path):
    (tmp_path / "sub").mkdir()
    for read in (read_images, read_labelled):
        with pytest.raises(InputError, match=r"holds no image; csim reads files that end in \.png"):
            read(tmp_path)


def test_a_folder_without_classes_is_refused(tmp_path):
    save(picture(10), tmp_path / "a.png")
    with pytest.raises(InputError, match="subfolder of images per class"):
        read_labelled(tmp_path)


@pytest.mark.parametrize("side", [8_001, 10_000, 60_000])
def test_a_file_that_would_unpack_to_gigabytes_is_refused(tmp_path, side):
    (tmp_path / "bomb.png").write_bytes(png_with(side, side, 8, zlib.compress(bytes(100))))
    with pytest.raises(InputError, match=rf"bomb\.png.*64,000,000 pixels.*{side}×{side}"):
        read_images(tmp_path)


def test_a_subfolder_that_may_not_be_listed_is_refused_by_name(public_folder, as_nobody):
    save(picture(10), public_folder / "heron" / "a.png")
    (public_folder / "crane").mkdir(mode=0)
    with as_nobody(), pytest.raises(InputError, match=r"crane cannot be read.*Permission denied"):
        read_labelled(public_folder)


def test_large_files_are_brought_to_size_one_by_one(tmp_path):
    for name in ("a.jpg", "b.png"):
        save(picture(100, size=(2400, 3200)), tmp_path / name)
    images = read_images(tmp_path, size=(8, 8))
    assert images.shape == (2, 8, 8)
    assert abs(images[:, 4:, 4:].astype(int) - 100).max() <= 2


def test_labelled_files_come_with_their_class_and_an_id_of_their_own(tmp_path):
    save(picture(10), tmp_path / "heron" / "2024" / "a.png")
    save(picture(20), tmp_path / "crane" / "a.png")
    save(picture(30), tmp_path / "loose.png")
    files = list(labelled_files(tmp_path))
    assert [(arrival.id, name) for arrival, name in files] == [
        ("labelled/crane/a.png", "crane"),
        ("labelled/heron/2024/a.png", "heron"),
    ]
    assert [arrival.picture.read_bytes() for arrival, _ in files] == [
        (tmp_path / "crane" / "a.png").read_bytes(),
        (tmp_path / "heron" / "2024" / "a.png").read_bytes(),
    ]
    assert [name for _, name in files] == read_labelled(tmp_path)[1]


def test_labelled_files_are_those_that_read_labelled_reads(tmp_path):
    for number, name in enumerate(["b/1.png", "a/2.png", "a/1.png", os.fsdecode(b"caf\xe9/1.png")]):
        save(picture(number), tmp_path / name)
    images, names = read_labelled(tmp_path)
    decoded = [
        (decode(arrival, (12, 10)).image, name) for arrival, name in labelled_files(str(tmp_path))
    ]
    assert [name for _, name in decoded] == names == ["a", "a", "b", r"caf\xe9"]
    assert (np.stack([image for image, _ in decoded]) == images).all()


def test_a_folder_without_labelled_files_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="holds no image"):
        labelled_files(tmp_path)
    save(picture(10), tmp_path / "loose.png")
    with pytest.raises(InputError, match="subfolder of images per class"):
        labelled_files(tmp_path)
