import os
from pathlib import Path

import pytest
from PIL import Image, TiffImagePlugin
from sources.image_files import encode, save, shades

from csim.errors import InputError
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.decode import decode
from csim.sources.directory import Directory

IMAGE = encode(shades(9, 9))


def fill(root, *names):
    for name in names:
        save(IMAGE, root / name)


def ids(root):
    return [found.id for found in Directory(root)]


def test_images_come_in_order_of_their_paths(tmp_path):
    names = [
        "b/2.png",
        "c.png",
        "a.bmp",
        "b/1.png",
        "a/z.png",
        "a.b/x.png",
        "B.jpg",
        "b/1/deep.webp",
        "b.png",
    ]
    fill(tmp_path, *names)
    assert ids(tmp_path) == sorted(names, key=lambda name: Path(name).parts)
    for arrival in Directory(str(tmp_path)):
        assert arrival.picture == tmp_path / arrival.id


def test_it_can_be_walked_again_and_finds_what_is_there_then(tmp_path):
    fill(tmp_path, "a.png")
    directory = Directory(tmp_path)
    assert len(list(directory)) == 1
    fill(tmp_path, "b.png")
    assert len(list(directory)) == 2


def test_other_files_and_hidden_ones_are_passed_over(tmp_path):
    fill(
        tmp_path,
        "A.PNG",
        "b.jpeg",
        "notes.txt",
        "c.png.part",
        "d.tmp",
        "._b.jpeg",
        ".hidden/e.png",
        "png",
    )
    assert ids(tmp_path) == ["A.PNG", "b.jpeg"]


def test_images_of_other_formats_are_found_so_that_they_can_be_counted(tmp_path):
    (tmp_path / "a.PSD").write_bytes(b"8BPS" + bytes(100))
    (tmp_path / "b.gif").write_bytes(b"GIF89a" + bytes(100))
    kinds = [decode(arrival, (9, 9)).kind for arrival in Directory(tmp_path)]
    assert kinds == ["unknown-format", "animated"]


def test_raw_files_of_cameras_are_counted_and_their_previews_are_not_taken(tmp_path):
    preview = Image.fromarray(shades(9, 9))
    nef = TiffImagePlugin.ImageFileDirectory_v2()
    nef[254] = 1  # a small version of another picture
    nef[330] = 8  # where the others are
    dng = TiffImagePlugin.ImageFileDirectory_v2()
    dng[50706] = b"\x01\x04\x00\x00"
    preview.save(tmp_path / "a.NEF", "TIFF", tiffinfo=nef)
    preview.save(tmp_path / "b.dng", "TIFF", tiffinfo=dng)
    (tmp_path / "c.cr2").write_bytes(b"II*\0\x10\0\0\0CR\x02\0" + bytes(100))
    (tmp_path / "d.cr3").write_bytes(b"\0\0\0\x18ftypcrx " + bytes(100))
    (tmp_path / "e.raf").write_bytes(b"FUJIFILMCCD-RAW 0201" + bytes(100))
    (tmp_path / "f.orf").write_bytes(b"IIRO" + bytes(100))
    (tmp_path / "g.rw2").write_bytes(b"IIU\0" + bytes(100))
    (tmp_path / "h.heics").write_bytes(b"\0\0\0\x18ftyphevc" + bytes(100))
    troubles = [decode(arrival, (9, 9)) for arrival in Directory(tmp_path)]
    assert [trouble.kind for trouble in troubles] == ["unknown-format"] * 8
    assert all("raw" in trouble.reason for trouble in troubles[:7])


def test_a_tiff_that_is_a_small_version_alone_is_an_image(tmp_path):
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[254] = 1
    Image.fromarray(shades(9, 9)).save(tmp_path / "a.tif", tiffinfo=tags)
    (arrival,) = Directory(tmp_path)
    assert isinstance(decode(arrival, (9, 9)), Decoded)


def test_equal_names_in_different_folders_and_equal_contents_are_different_images(tmp_path):
    fill(tmp_path, "x/1.png", "y/1.png", "y/2.png")
    found = list(Directory(tmp_path))
    assert [arrival.id for arrival in found] == ["x/1.png", "y/1.png", "y/2.png"]
    assert len({decode(arrival, (9, 9)).kept for arrival in found}) == 1


def test_names_of_any_bytes_are_found_and_can_be_read(tmp_path):
    names = [
        b"line\nend.png",
        b"latin \xe9.png",
        "utf é.png".encode(),
        rb"back\slash.png",
        b"\xff\xfe/deep.png",
    ]
    for name in names:
        save(IMAGE, tmp_path / os.fsdecode(name))
    found = list(Directory(tmp_path))
    assert {arrival.id for arrival in found} == {
        "line\nend.png", r"latin \xe9.png", "utf é.png", r"back\\slash.png", r"\xff\xfe/deep.png",
    }  # fmt: skip
    assert all(decode(arrival, (9, 9)).kept == IMAGE for arrival in found)


def test_a_file_that_is_no_image_is_found_and_is_a_trouble_when_it_is_read(tmp_path):
    save(b"a letter", tmp_path / "a.png")
    (arrival,) = Directory(tmp_path)
    assert decode(arrival, (9, 9)).kind == "not-an-image"


def test_a_file_that_vanishes_after_it_was_listed_is_a_trouble_and_the_others_are_read(tmp_path):
    fill(tmp_path, "a.png", "b.png", "c.png")
    kinds = []
    for arrival in Directory(tmp_path):
        (tmp_path / "b.png").unlink(missing_ok=True)
        kinds.append(getattr(decode(arrival, (9, 9)), "kind", None))
    assert kinds == [None, "vanished", None]


def test_a_folder_that_may_not_be_listed_is_a_trouble_and_the_others_are(public_folder, as_nobody):
    fill(public_folder, "a/1.png", "closed/2.png", "z/3.png")
    (public_folder / "closed").chmod(0)
    with as_nobody():
        one, two, three = Directory(public_folder)
    assert isinstance(two, Trouble)
    assert (two.id, two.kind) == ("closed", "unreadable")
    assert (one.id, three.id) == ("a/1.png", "z/3.png")


def test_a_root_that_is_closed_is_a_trouble_of_its_own(public_folder, as_nobody):
    (public_folder / "root").mkdir(mode=0)
    directory = Directory(public_folder / "root")
    with as_nobody():
        (found,) = directory
    assert (found.id, found.kind) == (".", "unreadable")


def test_links_to_files_are_followed_and_broken_ones_are_troubles_when_they_are_read(tmp_path):
    save(IMAGE, tmp_path / "elsewhere" / "real.png")
    root = tmp_path / "root"
    root.mkdir()
    (root / "good.png").symlink_to("../elsewhere/real.png")
    (root / "broken.png").symlink_to("nowhere.png")
    (root / "loop.png").symlink_to("loop.png")
    kinds = {found.id: getattr(decode(found, (9, 9)), "kind", None) for found in Directory(root)}
    assert kinds == {"broken.png": "vanished", "good.png": None, "loop.png": "unreadable"}


def test_links_in_a_circle_end(tmp_path):
    fill(tmp_path, "root/a/1.png", "root/b/2.png", "outside/3.png")
    root = tmp_path / "root"
    (root / "a" / "up").symlink_to("..")
    (root / "a" / "self").symlink_to(".")
    (root / "a" / "across").symlink_to("../b")
    (root / "b" / "back").symlink_to(root / "a")
    (tmp_path / "outside" / "home").symlink_to(root)
    (root / "out").symlink_to("../outside")
    (root / "out again").symlink_to("../outside")
    assert ids(root) == ["a/1.png", "b/2.png", "out/3.png"]


def test_a_folder_may_be_a_link_itself(tmp_path):
    fill(tmp_path, "real/a/1.png")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "back").symlink_to("../link/a")
    assert ids(tmp_path / "link") == ["a/1.png"]


def test_a_very_deep_folder_is_walked(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    save(IMAGE, tmp_path / "/".join("d" * 300) / "a.png")
    assert ids(tmp_path) == ["d/" * 300 + "a.png"]


def test_an_empty_folder_gives_nothing(tmp_path):
    assert ids(tmp_path) == []


@pytest.mark.parametrize("name", ["nowhere", "file.png"])
def test_what_is_no_folder_is_refused_at_once(tmp_path, name):
    save(IMAGE, tmp_path / "file.png")
    with pytest.raises(InputError, match=f"{name} is not a folder"):
        Directory(tmp_path / name)


def test_the_first_image_comes_before_other_folders_are_listed(tmp_path):
    fill(tmp_path, "a/1.png", "b/2.png")
    walk = iter(Directory(tmp_path))
    assert next(walk) == Arrival("a/1.png", tmp_path)
    fill(tmp_path, "b/3.png")
    assert [found.id for found in walk] == ["b/2.png", "b/3.png"]
