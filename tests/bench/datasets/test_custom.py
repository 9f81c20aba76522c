"""Data sets that users bring: `.npz` files and folders."""

import zipfile

import numpy as np
import pytest
from PIL import Image

from csim.bench.datasets.catalogue import load
from csim.bench.datasets.custom import read
from csim.errors import InputError

IMAGES = np.random.default_rng(4).integers(0, 256, (6, 9, 8), dtype=np.uint8)
BIRDS = ["heron", "crane", "heron", "ibis", "crane", "ibis"]


@pytest.fixture
def save(tmp_path):
    """Return a function that saves arrays as birds.npz, with defaults for both arrays."""

    def save_arrays(**arrays):
        path = tmp_path / "birds.npz"
        np.savez(path, **({"images": IMAGES, "labels": np.array(BIRDS)} | arrays))
        return path

    return save_arrays


def write_images(folder, names=BIRDS, images=IMAGES):
    for number, (name, image) in enumerate(zip(names, images, strict=True)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / name / f"{number}.png")
    return folder


@pytest.mark.parametrize("shape", [(6, 9, 8), (6, 9, 8, 3), (6, 9, 8, 1)])
def test_arrays_are_taken_in_their_order(save, shape):
    images = np.resize(IMAGES, shape)
    data = read("birds", save(images=images))
    assert data.name == "birds"
    assert (data.images == images.reshape(data.images.shape)).all()
    assert data.images.dtype == np.uint8
    assert data.names == BIRDS


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64])
def test_labels_of_whole_numbers_become_text(save, kind):
    assert read("birds", save(labels=np.array([1, 0, 1, 47, 0, 47], kind))).names == [
        "1",
        "0",
        "1",
        "47",
        "0",
        "47",
    ]


def test_images_of_larger_whole_numbers_are_taken_if_they_fit(save):
    data = read("birds", save(images=IMAGES.astype(np.int64)))
    assert data.images.dtype == np.uint8
    assert (data.images == IMAGES).all()


def test_other_arrays_beside_them_do_not_matter(save):
    assert len(read("birds", save(more=np.zeros(3))).names) == 6


def test_a_compressed_file_is_the_same(tmp_path):
    np.savez_compressed(tmp_path / "small.NPZ", images=IMAGES, labels=np.array(BIRDS))
    (tmp_path / "small.NPZ.npz").rename(tmp_path / "small.NPZ")
    assert read("birds", tmp_path / "small.NPZ").names == BIRDS


def test_a_folder_with_a_subfolder_per_class_is_taken(tmp_path):
    data = read("birds", write_images(tmp_path / "birds"))
    order = sorted(range(6), key=lambda index: (BIRDS[index], index))
    assert data.names == [BIRDS[index] for index in order]
    assert (data.images == IMAGES[order]).all()


def test_colour_folders_stay_in_colour(tmp_path):
    colours = np.random.default_rng(5).integers(0, 256, (6, 9, 8, 3), dtype=np.uint8)
    assert read("birds", write_images(tmp_path / "birds", images=colours)).images.shape == (
        6,
        9,
        8,
        3,
    )


def test_names_come_in_the_form_that_the_classifier_gives_them(save):
    assert (
        read("birds", save(labels=np.array([" heron ", "a", " heron ", "a", "a", "a"]))).names[0]
        == "heron"
    )


def test_the_catalogue_takes_a_path_under_any_name_and_needs_no_data_folder(
    save, tmp_path, monkeypatch
):
    monkeypatch.delenv("CSIM_DATA", raising=False)
    for name in ("birds", "mnist"):
        data = load(name, path=str(save()))
        assert (data.name, data.names) == (name, BIRDS)
    assert load("birds", path=write_images(tmp_path / "folder")).name == "birds"


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"images": IMAGES / 255}, "images must be whole numbers 0..255, got float64; scale"),
        ({"images": IMAGES > 9}, "images must be whole numbers 0..255, got bool"),
        ({"images": IMAGES.astype(np.int32) + 1}, "must lie between 0 and 255"),
        ({"images": IMAGES.astype(np.int8)}, "must lie between 0 and 255"),
        ({"images": np.array(["x"] * 6)}, "images must be whole numbers"),
        ({"images": IMAGES[0]}, "got (9, 8)"),
        ({"images": np.zeros((6, 9, 8, 4), np.uint8)}, "(n, h, w, 3) for RGB"),
        ({"images": np.zeros((6, 7, 7), np.uint8)}, "at least 8×8"),
        ({"images": IMAGES[:0], "labels": np.array(BIRDS)[:0]}, "at least two classes"),
        ({"labels": np.array(BIRDS[:5])}, "6 images and 5 names"),
        ({"labels": np.array(BIRDS)[:, None]}, "whole numbers or text, got <U5 of shape (6, 1)"),
        ({"labels": np.array("heron")}, "labels must be (n,)"),
        ({"labels": np.arange(6) / 2}, "labels must be (n,) whole numbers or text, got float64"),
        ({"labels": np.array(BIRDS, "S")}, "labels must be (n,) whole numbers or text, got |S5"),
        ({"labels": np.array(BIRDS, object)}, "plain arrays (Object arrays cannot be loaded"),
        ({"images": np.array([None] * 6)}, "not an .npz of plain arrays"),
        ({"labels": np.array(["heron"] * 6)}, "at least two classes"),
        ({"labels": np.array(["a", "a", "b", "b", "b", "ibis"])}, "two images; 'ibis' has one"),
        ({"labels": np.array(["", "a", "", "a", "", "a"])}, "at least one visible character"),
        ({"labels": np.array(["x\ny", "a", "x\ny", "a", "a", "a"])}, "one line"),
    ],
)  # fmt: skip
def test_arrays_that_cannot_be_used_are_refused_with_the_file_and_the_reason(save, arrays, words):
    path = save(**arrays)
    with pytest.raises(InputError) as caught:
        read("birds", path)
    assert str(caught.value).startswith(f"{path} cannot be used as a data set: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "held"),
    [({"images": IMAGES}, "images"), ({"labels": BIRDS, "x": IMAGES}, "labels, x"), ({}, "none")],
)
def test_a_file_without_the_two_arrays_is_refused_with_those_it_has(tmp_path, arrays, held):
    np.savez(tmp_path / "birds.npz", **arrays)
    with pytest.raises(
        InputError, match=f"must hold the arrays images and labels; it holds {held}"
    ):
        read("birds", tmp_path / "birds.npz")


def test_a_pickle_in_the_file_is_never_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("birds.npz", "w") as packed:
        packed.writestr("images.npy", b"cos\nmkdir\n(S'owned'\ntR.")
        packed.writestr("labels.npy", b"cos\nmkdir\n(S'owned'\ntR.")
    with pytest.raises(InputError, match=r"birds\.npz cannot be used as a data set"):
        read("birds", "birds.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["birds.npz"]


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "changed", "npy"])
def test_a_damaged_file_is_refused(save, damage):
    path = save()
    content = path.read_bytes()
    if damage == "npy":
        np.save(path.with_suffix(".npy"), IMAGES)
        path.with_suffix(".npy").rename(path)
    else:
        changed = content[:200] + b"\0\1\2" + content[203:]
        path.write_bytes(
            {"empty": b"", "text": b"images", "cut": content[:-60], "changed": changed}[damage]
        )
    with pytest.raises(InputError, match=r"birds\.npz cannot be used as a data set: it is not"):
        read("birds", path)


@pytest.mark.parametrize("name", ["nothing", "nothing.npz"])
def test_a_missing_path_is_reported_with_what_is_expected(tmp_path, name):
    with pytest.raises(
        InputError,
        match=rf"{name} does not exist; .* an \.npz with `images` and `labels`, or a folder",
    ):
        read("birds", tmp_path / name)


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "birds.csv").write_text("heron,1,2,3")
    with pytest.raises(InputError, match=r"birds\.csv must be an \.npz or a folder; give"):
        read("birds", tmp_path / "birds.csv")


def test_a_folder_without_images_is_refused(tmp_path):
    (tmp_path / "birds" / "heron").mkdir(parents=True)
    with pytest.raises(InputError, match=r"birds cannot be used as a data set: .* holds no image"):
        read("birds", tmp_path / "birds")


def test_a_folder_without_subfolders_is_refused(tmp_path):
    Image.fromarray(IMAGES[0]).save(tmp_path / "1.png")
    with pytest.raises(InputError, match="a subfolder of images per class"):
        read("birds", tmp_path)


def test_a_class_of_one_file_is_refused(tmp_path):
    write_images(tmp_path / "birds", [*BIRDS[:5], "egret"])
    with pytest.raises(InputError, match="every class needs at least two images; 'egret' has one"):
        read("birds", tmp_path / "birds")


def test_a_file_that_is_no_image_is_named(tmp_path):
    (write_images(tmp_path / "birds") / "heron" / "9.png").write_bytes(b"no image")
    with pytest.raises(InputError, match=r"9\.png cannot be read: an image must be"):
        read("birds", tmp_path / "birds")


def write_mixed(folder):
    Image.fromarray(np.zeros((10, 10, 3), np.uint8)).save(write_images(folder) / "heron" / "9.png")
    return folder


def test_images_of_different_sizes_become_64_by_64_as_at_init(tmp_path):
    data = read("birds", write_mixed(tmp_path / "birds"))
    assert data.images.shape == (7, 64, 64, 3)


@pytest.mark.parametrize(("size", "shape"), [((20, 30), (7, 20, 30, 3)), ((9, 8, 3), (7, 9, 8, 3))])
def test_images_of_any_size_are_resized_to_the_one_asked_for(tmp_path, size, shape):
    assert read("birds", write_mixed(tmp_path / "birds"), size).images.shape == shape


@pytest.mark.parametrize(("size", "shape"), [((20, 30), (6, 20, 30)), ((9, 8, 3), (6, 9, 8, 3))])
def test_arrays_are_resized_too(save, size, shape):
    assert read("birds", save(), size).images.shape == shape
