from digit_folder import rows

from csim.folder.reader import Reader
from csim.folder.send import send
from csim.messages import MergeClasses


def places(folder, class_id, is_told):
    query = (
        "SELECT place FROM items WHERE class_id = ? AND is_told = ? AND picture IS NOT NULL"
        " ORDER BY place DESC"
    )
    return [place for (place,) in rows(folder, query, class_id, is_told)]


def test_the_newest_images_of_a_class_come_first_page_by_page(asked):
    with Reader(asked) as reader:
        first = reader.class_images.newest(0, 5)
        more = reader.class_images.newest(0, 5, before=first[-1].place)
    assert [image.place for image in first + more] == places(asked, 0, 0)[:10]


def test_the_least_sure_have_the_lowest_scores(asked):
    with Reader(asked) as reader:
        found = [image.score for image in reader.class_images.least_sure(0, 7)]
    scores = rows(asked, "SELECT score FROM items WHERE class_id = 0 AND place > 0 ORDER BY score")
    assert found == [score for (score,) in scores[:7]]


def test_told_images_are_the_first_examples(asked):
    with Reader(asked) as reader:
        found = reader.class_images.examples([0, 2], per_class=3)
    assert [image.place for image in found[0]] == places(asked, 0, 1)[:3]
    assert all(image.is_told for image in found[2])


def test_a_merged_class_has_the_images_of_both(asked):
    before = places(asked, 0, 0) + places(asked, 2, 0)
    send(asked, [MergeClasses(0, 2)])
    with Reader(asked) as reader:
        found = reader.class_images.newest(2, 1000)
    assert [image.place for image in found] == sorted(before, reverse=True)
