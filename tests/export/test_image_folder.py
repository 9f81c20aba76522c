import csv
import io
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from export.hostile_folder import FORMATS, IDS, change
from PIL import Image

from csim.errors import InputError
from csim.export.image_folder import Copied, write_images
from csim.export.labels import labels
from csim.folder.reader import Reader
from csim.sources.image_folder import read_labelled


def table(root):
    with root.with_name(f"{root.name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def files(root):
    """Return all files by their paths from the root."""
    return {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()}


def rename(folder):
    """Give a folder's classes the names that are hardest to make folders of."""
    for class_id, name in enumerate(("a_b", "a/b", "A_B", "..", "CON")):
        change(folder, "UPDATE classes SET name = ? WHERE id = ?", name, class_id)


def test_what_a_person_named_is_copied_byte_for_byte(reader, tmp_path):
    copied = write_images(reader, tmp_path / "out")
    told = {item.id: item for item in reader.items() if item.is_told}
    rows = table(tmp_path / "out")
    assert copied == Copied(
        images=len(told), classes=len({item.name for item in told.values()}), gone=0, unnamed=0
    )
    assert Counter(row["item"] for row in rows) == Counter(told.keys())
    assert {row["file"] for row in rows} == set(files(tmp_path / "out"))
    for row in rows:
        item = told[row["item"]]
        assert (tmp_path / "out" / row["file"]).read_bytes() == reader.picture(item.place)
        assert (row["class"], row["decided_by"], int(row["position"])) == (
            item.name,
            "told",
            max(item.place, 0),
        )


def test_all_copies_every_image_that_has_a_class_and_a_picture(folder, tmp_path):
    change(folder, "UPDATE items SET class_id = NULL WHERE place = 40")
    with Reader(folder) as reader:
        copied = write_images(reader, tmp_path / "out", every=True)
        rows = list(labels(reader, warm_up=True))
    named = {
        row["item"]: (row["class"], row["decided_by"]) for row in rows if row["class"] is not None
    }
    assert copied.images == len(named)
    assert (copied.gone, copied.unnamed) == (0, len(rows) - len(named))
    assert copied.unnamed > 0
    assert {
        row["item"]: (row["class"], row["decided_by"]) for row in table(tmp_path / "out")
    } == named


def test_every_ending_is_that_of_the_format(reader, tmp_path):
    write_images(reader, tmp_path / "out", every=True)
    endings = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "BMP": ".bmp"}
    seen = set()
    for path in files(tmp_path / "out").values():
        with Image.open(path) as picture:
            picture.load()
            assert path.suffix == endings[picture.format]
            seen.add(picture.format)
    assert seen == set(FORMATS)


def test_no_file_leaves_the_folder_and_none_is_lost(folder, tmp_path):
    rename(folder)
    change(folder, "UPDATE items SET class_id = 0 WHERE class_id IS NULL")
    outside = tmp_path / "outside"
    outside.mkdir()
    with Reader(folder) as reader:
        copied = write_images(reader, outside / "out", every=True)
    assert sorted(os.listdir(outside)) == ["out", "out.csv"]
    found = files(outside / "out")
    assert len(found) == copied.images == len(table(outside / "out"))
    for name, path in found.items():
        assert len(Path(name).parts) == 2
        assert path.resolve().is_relative_to((outside / "out").resolve())
        assert not path.is_symlink()
        assert len(path.name.encode()) <= 255
    assert set(IDS) < {row["item"] for row in table(outside / "out")}


def test_ids_that_read_alike_keep_a_file_each(folder, tmp_path):
    change(folder, "UPDATE items SET class_id = 0")
    with Reader(folder) as reader:
        write_images(reader, tmp_path / "out", every=True)
    alike = [
        row
        for row in table(tmp_path / "out")
        if row["item"] in ("a/b.png", "a_b.png", "a_b", "a\\b", "a\nb")
    ]
    assert len({row["file"] for row in alike}) == len(alike) == 5
    assert {Path(row["file"]).name.split("~")[0].split(".")[0] for row in alike} == {"a_b"}


def test_an_id_that_is_a_file_name_is_the_files_name(folder, tmp_path):
    change(folder, "UPDATE items SET class_id = 0")
    with Reader(folder) as reader:
        write_images(reader, tmp_path / "out", every=True)
    by_item = {row["item"]: Path(row["file"]).stem for row in table(tmp_path / "out")}
    assert by_item["50%"] == "50%"
    assert by_item["=cmd|' /C calc'!A0"] == "=cmd_' _C calc'!A0"
    assert by_item["cam 1/31.png"] == "cam 1_31"


def test_the_folder_holds_a_folder_per_class_and_nothing_else(reader, tmp_path):
    write_images(reader, tmp_path / "out", every=True)
    assert all(entry.is_dir() for entry in (tmp_path / "out").iterdir())
    assert len(os.listdir(tmp_path / "out")) == len(
        {row["class"] for row in table(tmp_path / "out")}
    )


def test_classes_that_read_alike_keep_a_folder_each(folder, tmp_path):
    rename(folder)
    with Reader(folder) as reader:
        write_images(reader, tmp_path / "out", every=True)
    folders = {row["class"]: row["file"].split("/")[0] for row in table(tmp_path / "out")}
    expected = {"a_b": "a_b", "a/b": "a_b~3", "A_B": "A_B~2", "..": "__", "CON": "_CON"}
    assert {name: folders.get(name) for name in expected} == expected
    assert len(set(folders.values())) == len(folders)


def test_csim_itself_reads_it_back_with_the_same_names(folder, tmp_path):
    for class_id, name in enumerate(["grey heron", "=1+1", "CON~", "café", "50%"]):
        change(folder, "UPDATE classes SET name = ? WHERE id = ?", name, class_id)
    with Reader(folder) as reader:
        write_images(reader, tmp_path / "out")
        told = [item for item in reader.items() if item.is_told]
        kept = [
            np.asarray(Image.open(io.BytesIO(reader.picture(item.place))).convert("RGB"))
            for item in told
        ]
    images, names = read_labelled(tmp_path / "out")
    pairs = Counter((name, image.tobytes()) for name, image in zip(names, images, strict=True))
    assert pairs == Counter(
        (item.name, image.tobytes()) for item, image in zip(told, kept, strict=True)
    )


def test_pictures_that_are_gone_are_counted(folder, tmp_path):
    change(folder, "UPDATE items SET picture = NULL WHERE is_told AND place > 0")
    change(folder, "UPDATE items SET picture = x'00' WHERE place = -1")  # of which there is no file
    with Reader(folder) as reader:
        told = [item for item in reader.items() if item.is_told]
        copied = write_images(reader, tmp_path / "out")
    assert copied.gone == sum(item.place > 0 for item in told) + 1
    assert copied.images == len(told) - copied.gone == len(files(tmp_path / "out"))


def test_a_picture_that_is_none_is_counted_and_not_copied(folder, tmp_path):
    change(folder, "INSERT INTO pictures VALUES (x'00', CAST('no image' AS BLOB))")
    change(folder, "UPDATE items SET picture = x'00' WHERE place = -1")
    with Reader(folder) as reader:
        assert write_images(reader, tmp_path / "out").gone == 1


def test_a_folder_without_a_stream_gives_its_warm_up(fresh, tmp_path):
    with Reader(fresh) as reader:
        copied = write_images(reader, tmp_path / "out")
    assert (copied.images, copied.classes) == (90, len(set(next(zip(*names(fresh), strict=True)))))


def names(folder):
    with Reader(folder) as reader:
        return [(item.name, item.id) for item in reader.items()]


def test_what_is_there_is_not_written_to(reader, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "table.csv").write_text("precious")
    for name in ("folder", "table"):
        with pytest.raises(InputError, match="must not exist yet"):
            write_images(reader, tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["folder", "table.csv"]
    assert list((tmp_path / "folder").iterdir()) == []
    assert (tmp_path / "table.csv").read_text() == "precious"


def test_a_copy_that_fails_leaves_nothing(reader, tmp_path):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_images(reader, tmp_path / "out", follow=stop)
    assert list(tmp_path.iterdir()) == []
