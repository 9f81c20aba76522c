import numpy as np
import pytest
from report.small_folder import NASTY_ID, new_folder, small_folder, truth

from csim.errors import InputError
from csim.folder.reader import Reader
from csim.metrics.accuracy import accuracy, unasked
from csim.metrics.labels import at_arrival, class_names, final, named
from csim.metrics.purity import purity
from csim.report.folder.accuracy import figures, section
from csim.report.folder.facts import gather
from csim.report.folder.truth import judge, read_truth

TRUTH = {item: "FOUR" if name == "four" else name for item, name in truth().items()}


@pytest.fixture(scope="module")
def reader():
    with Reader(small_folder()) as reader:
        yield reader


def written(tmp_path, text):
    path = tmp_path / "truth.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def value(judged, name):
    return {row.name: row.value for row in figures(judged)}[name]


def test_a_file_is_read_by_its_columns_whatever_stands_around_them(tmp_path):
    path = written(
        tmp_path, '\ufeffclass,note,item\r\nheron,x,a.png\r\n" grey, heron ",,"b\n.png"\r\n'
    )
    assert read_truth(path) == {"a.png": "heron", "b\n.png": "grey, heron"}


def test_a_row_without_a_class_says_nothing_and_one_that_comes_again_nothing_new(tmp_path):
    assert read_truth(written(tmp_path, "item,class\na,\nb,  \nc\nd,gull\nd,gull\n")) == {
        "d": "gull"
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "item is missing"),
        ("item,name\na,gull\n", "class is missing"),
        ("item,class\na,gull\na,heron\n", "'a' has two"),
        (b"item,class\na,\xff\xfe\n", "in UTF-8"),
        ("item,class\na," + "x" * 200_000 + "\n", "it is not"),
        ("item,class\na," + "x" * 300 + "\n", "line 2"),
    ],
)
def test_a_file_that_cannot_be_the_truth_is_refused_with_a_reason(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        read_truth(written(tmp_path, text))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="must be a readable CSV file"):
        read_truth(tmp_path / "nowhere.csv")


def test_accuracy_is_what_the_metrics_find_in_the_log(reader):
    events = reader.history.events()
    judged = judge(reader, TRUTH)
    names = class_names(events)
    ordered = dict(judged.truth)
    assert list(ordered) == list(at_arrival(events)), "in order of arrival"
    at_once = accuracy(named(at_arrival(events), names), ordered)
    today = named(final(events, within=None), names)
    assert value(judged, "accuracy at arrival") == f"{at_once:.1f}\u00a0%"
    assert value(judged, "accuracy") == f"{accuracy(today, ordered):.1f}\u00a0%"
    told = unasked(events, ordered)
    assert (
        value(judged, "accuracy, not labelled by people") == f"{accuracy(today, told):.1f}\u00a0%"
    )
    assert accuracy(today, ordered) > 40


def test_a_truth_of_some_images_judges_those_alone(reader):
    some = dict(list(TRUTH.items())[100:110]) | {"of another stream": "zero"}
    judged = judge(reader, some)
    assert judged.places.tolist() == list(range(101, 111))
    hits = sum(judged.today[item] == name for item, name in judged.truth.items())
    assert value(judged, "accuracy") == f"{10 * hits:.1f}\u00a0%"


def test_a_truth_of_other_images_is_refused(reader, tmp_path):
    with pytest.raises(InputError, match="none of its 1 ids is in the stream"):
        judge(reader, {"elsewhere.png": "zero"})
    with (
        Reader(new_folder(tmp_path / "new")) as empty,
        pytest.raises(InputError, match="is in the stream"),
    ):
        judge(empty, TRUTH)


def test_strangers_are_those_that_a_plain_loop_finds(reader):
    judged = judge(reader, TRUTH)
    ids = {item.place: item.id for item in reader.items()}
    for question in reader.questions(None):
        expected = TRUTH[ids[question.representative]]
        assert judged.strangers[question.id] == sum(
            TRUTH[ids[place]] != expected for place in question.members
        )
    assert judged.grouped == sum(len(question.members) for question in reader.questions(None))
    assert 0 < sum(judged.strangers.values()) < judged.grouped


def test_purity_counts_also_images_that_joined_later(reader):
    """`metrics.purity` sees the groups as they were when they were asked about."""
    judged = judge(reader, TRUTH)
    then = purity(reader.history.events(), TRUTH)
    share = 100 * (1 - sum(judged.strangers.values()) / judged.grouped)
    assert value(judged, "purity") == f"{share:.1f}\u00a0%"
    assert abs(share - then) < 25


def test_a_group_of_which_one_image_is_not_known_is_not_judged(reader):
    question = next(question for question in reader.questions(None) if len(question.members) > 3)
    ids = {item.place: item.id for item in reader.items()}
    some = {item: name for item, name in TRUTH.items() if item != ids[question.members[1]]}
    assert question.id in judge(reader, TRUTH).strangers
    assert question.id not in judge(reader, some).strangers


def test_the_table_tells_of_every_true_class_how_much_is_right_and_what_it_is_taken_for(reader):
    facts = gather(reader)
    judged = judge(reader, TRUTH | {NASTY_ID.format(next(iter(_numbers()))): "never asked"})
    html = section(judged, facts)
    assert html.count('<th scope="row">') == 5
    assert "never asked" in html
    assert "&lt;b&gt;one" in html
    assert "<b>" not in html


def test_a_curve_of_few_known_images_stands_where_they_came(reader):
    """The last tenth alone is known: no curve before it."""
    facts = gather(reader)
    judged = judge(reader, dict(list(TRUTH.items())[198:]))
    html = section(judged, facts)
    assert "It is known for 22 of 220 images." in html
    assert np.array_equal(judged.places, np.arange(199, 221))


def _numbers():
    return (int("".join(filter(str.isdigit, item))) for item in TRUTH)
