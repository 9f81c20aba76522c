"""What an edit would change, and that it would be refused like the edit itself."""

import pytest

from csim.errors import CsimError
from csim.folder.preview import preview
from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import AddClass, MergeClasses, RemoveClass, RenameClass, RestoreClass

GOOD = [
    AddClass("heron"), RenameClass(0, "heron"), RenameClass(0, "0"), MergeClasses(0, 1),
    RemoveClass(1),
]  # fmt: skip
BAD = [
    AddClass("0"), AddClass(""), RenameClass(9, "x"), RenameClass(1, "0"), MergeClasses(1, 1),
    MergeClasses(0, 9), RemoveClass(9), RestoreClass(0), RestoreClass(9),
]  # fmt: skip


@pytest.mark.parametrize("edit", GOOD, ids=str)
def test_a_preview_counts_the_images_of_the_class(asked, edit):
    with Reader(asked) as reader:
        before = {row.id: row for row in reader.classes()}
        found = preview(reader, edit)
        assert {row.id: row for row in reader.classes()} == before
    touched = getattr(edit, "class_id", getattr(edit, "source", None))
    assert found.images == (0 if touched is None else before[touched].images)
    assert send(asked, [edit])[0].refusal is None


@pytest.mark.parametrize("edit", BAD, ids=str)
def test_what_csim_would_refuse_the_preview_refuses(asked, edit):
    with Reader(asked) as reader, pytest.raises(CsimError):
        preview(reader, edit)
    assert send(asked, [edit])[0].refusal is not None


def test_a_removed_class_can_be_previewed_and_restored(asked):
    send(asked, [RemoveClass(1)])
    with Reader(asked) as reader:
        found = preview(reader, RestoreClass(1))
        removed = reader.history.removed_classes()
    assert repr(removed[1]) in found.text
    assert (found.images, found.told) == (0, 0)
    assert send(asked, [RestoreClass(1)])[0].refusal is None


def test_a_class_whose_name_is_taken_meanwhile_is_not_restored(asked):
    with Reader(asked) as reader:
        (name,) = (row.name for row in reader.classes() if row.id == 1)
    send(asked, [RemoveClass(1), AddClass(name)])
    with Reader(asked) as reader, pytest.raises(CsimError, match="belongs to class"):
        preview(reader, RestoreClass(1))
    assert send(asked, [RestoreClass(1)])[0].refusal is not None
