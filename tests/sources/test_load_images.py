import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from csim.errors import InputError
from csim.sources.load_images import load_images, load_labelled

GREY = np.random.default_rng(0).integers(0, 256, (7, 9, 11), dtype=np.uint8)
LABELS = [0, 1, 0, 1, 2, 2, 0]


class Pictures(Dataset):
    """A data set as torchvision has them: images and whole numbers, and titles if there are any."""

    def __init__(self, images, labels=LABELS, titles=None):
        self.images = images
        self.labels = labels
        if titles:
            self.classes = titles

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Endless(IterableDataset):
    def __iter__(self):
        return iter([(GREY[0], 1)])


def tensors(images=GREY):
    return torch.from_numpy(images)[:, None].float() / 255


@pytest.mark.parametrize(
    "names", [list("abababa"), tuple("abababa"), np.array(list("abababa")), iter("abababa")]
)
def test_arrays_with_names_beside_them_are_taken(names):
    images, labels = load_labelled(GREY, names)
    assert (images == GREY).all()
    assert labels == list("abababa")
    assert all(type(label) is str for label in labels)


@pytest.mark.parametrize(
    "names", [LABELS, np.array(LABELS), torch.tensor(LABELS), np.array(LABELS, np.uint8)]
)
def test_numbers_become_text(names):
    assert load_labelled(GREY, names)[1] == ["0", "1", "0", "1", "2", "2", "0"]


@pytest.mark.parametrize(
    "source",
    [
        Pictures(tensors()),
        Pictures(GREY),
        Pictures([Image.fromarray(image) for image in GREY]),
        Pictures(tensors(), torch.tensor(LABELS)),
        TensorDataset(tensors(), torch.tensor(LABELS)),
        list(zip(GREY, LABELS, strict=True)),
        DataLoader(Pictures(tensors()), batch_size=3),
        DataLoader(TensorDataset(tensors(), torch.tensor(LABELS)), batch_size=2),
        TensorDataset(torch.from_numpy(GREY), torch.tensor(LABELS)),
        DataLoader(TensorDataset(torch.from_numpy(GREY), torch.tensor(LABELS)), batch_size=4),
    ],
    ids=[
        "data set of tensors",
        "data set of arrays",
        "data set of pictures",
        "labels as tensors",
        "tensor data set",
        "pairs",
        "loader",
        "loader of a tensor data set",
        "tensor data set without channels",
        "loader without channels whose last batch has three images",
    ],
)
def test_data_sets_and_loaders_are_taken(source):
    images, labels = load_labelled(source)
    assert (images == GREY).all()
    assert labels == ["0", "1", "0", "1", "2", "2", "0"]


@pytest.mark.parametrize(
    "wrap", [lambda source: source, lambda source: DataLoader(source, batch_size=4)]
)
def test_the_titles_of_a_data_set_are_its_class_names(wrap):
    titled = Pictures(tensors(), titles=["heron", "crane", "stork"])
    assert load_labelled(wrap(titled))[1] == [
        "heron",
        "crane",
        "heron",
        "crane",
        "stork",
        "stork",
        "heron",
    ]


@pytest.mark.parametrize("label", [3, -1])
def test_a_number_that_has_no_title_is_refused(label):
    titled = Pictures(
        tensors(), labels=[label, label, *LABELS[2:]], titles=["heron", "crane", "stork"]
    )
    with pytest.raises(InputError, match=str(label)):
        load_labelled(titled)


def test_colour_pictures_in_a_data_set_stay_colour():
    colour = np.random.default_rng(1).integers(0, 256, (7, 9, 11, 3), dtype=np.uint8)
    assert (
        load_labelled(Pictures([Image.fromarray(image) for image in colour]))[0] == colour
    ).all()
    assert (
        load_labelled(Pictures(torch.from_numpy(colour).permute(0, 3, 1, 2)))[0] == colour
    ).all()


def test_a_picture_with_a_palette_keeps_its_colours():
    red = Image.new("RGB", (11, 9), (200, 30, 40)).convert("P", palette=Image.Palette.ADAPTIVE)
    images, _ = load_labelled(Pictures([red] * 7))
    assert images[0, 0, 0].tolist() == [200, 30, 40]


def test_a_folder_is_taken_with_its_subfolders_as_names(tmp_path):
    for name in ("crane", "heron"):
        (tmp_path / name).mkdir()
        for number in range(2):
            Image.fromarray(GREY[number]).save(tmp_path / name / f"{number}.png")
    for path in (tmp_path, str(tmp_path)):
        images, names = load_labelled(path)
        assert names == ["crane", "crane", "heron", "heron"]
        assert (images == GREY[[0, 1, 0, 1]]).all()
        assert (load_images(path, (9, 11)) == images).all()


def test_a_folder_of_images_that_are_too_small_is_refused(tmp_path):
    for name in ("crane", "heron"):
        (tmp_path / name).mkdir()
        for number in range(2):
            Image.fromarray(GREY[number, :5, :5]).save(tmp_path / name / f"{number}.png")
    with pytest.raises(InputError, match="at least 8×8"):
        load_labelled(tmp_path)


@pytest.mark.parametrize("names", [LABELS[:6], [*LABELS, 1], []])
def test_names_that_do_not_match_the_images_in_number_are_refused_with_both_numbers(names):
    with pytest.raises(InputError, match=f"7 images and {len(names)} names"):
        load_labelled(GREY, names)


def test_images_too_large_for_a_network_are_refused_before_memory_runs_out():
    large = np.zeros((4, 2000, 2000), np.uint8)
    with pytest.raises(InputError, match=r"at most 262,144 pixels.*got 2000×2000; resize"):
        load_labelled(large, ["a", "a", "b", "b"])


@pytest.mark.parametrize("bad", [1.5, None, True, ["a"], b"a", np.nan, np.array([0, 1])])
def test_a_name_that_is_neither_text_nor_a_whole_number_is_refused(bad):
    with pytest.raises(InputError, match="name"):
        load_labelled(GREY, [*LABELS[:6], bad])


def test_labels_coded_as_rows_of_zeros_and_ones_are_refused():
    with pytest.raises(InputError, match="name"):
        load_labelled(GREY, np.eye(3)[LABELS])


@pytest.mark.parametrize(
    "source", [GREY, list(GREY), [1, 2, 3], Pictures([(1, 2, 3)] * 4, [(0,)] * 4)]
)
def test_images_without_names_are_refused(source):
    with pytest.raises(InputError):
        load_labelled(source)


@pytest.mark.parametrize("source", [None, 5, Endless(), iter([])])
def test_what_has_no_length_is_refused_by_its_type(source):
    with pytest.raises(InputError, match=type(source).__name__):
        load_labelled(source)


def test_a_data_set_of_different_shapes_is_refused():
    with pytest.raises(InputError, match="same shape"):
        load_labelled(Pictures([*GREY[:6], GREY[6, :8, :8]]))


@pytest.mark.parametrize(
    "source",
    [
        GREY,
        list(GREY),
        tensors(),
        Pictures(tensors()),
        DataLoader(Pictures(tensors()), batch_size=4),
        TensorDataset(tensors(), torch.tensor(LABELS)),
    ],
    ids=["array", "list", "tensor", "data set", "loader", "tensor data set"],
)
def test_a_stream_may_come_in_any_form(source):
    assert (load_images(source, (9, 11)) == GREY).all()


@pytest.mark.parametrize("source", [[], np.zeros((0, 9, 11), np.uint8)])
def test_an_empty_stream_is_fine(source):
    assert load_images(source, (9, 11)).shape == (0, 9, 11)


@pytest.mark.parametrize(
    "source", [GREY[:, :8], Pictures(GREY[:, :8]), None, iter([1]), "/nowhere/at/all"]
)
def test_a_stream_that_does_not_fit_is_refused(source):
    with pytest.raises(InputError):
        load_images(source, (9, 11))


def test_the_callers_array_is_not_edited():
    copy = GREY.copy()
    images, _ = load_labelled(copy, LABELS)
    assert (copy == GREY).all()
    assert (images == GREY).all()


@pytest.mark.parametrize("source", [GREY / 255, GREY > 100, Pictures(GREY / 255)])
def test_images_of_0_to_1_are_refused_whether_labelled_or_not(source):
    with pytest.raises(InputError, match="to 255"):
        load_labelled(source, None if isinstance(source, Pictures) else LABELS)
    with pytest.raises(InputError, match="to 255"):
        load_images(source, (9, 11))


def test_a_dark_image_of_a_data_set_of_floats_is_taken():
    images = GREY.astype(float)
    images[3] = images[3] > 100
    assert (load_labelled(Pictures(images))[0] == images).all()
