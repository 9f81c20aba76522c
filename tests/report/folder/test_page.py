import dataclasses
import hashlib
import re
import sqlite3

import numpy as np
import pytest
from report.small_folder import NASTY, SETTINGS, arrivals, copy_of, new_folder, small_folder, truth
from report.small_log import Page

from csim.errors import FolderError
from csim.folder.reader import Reader
from csim.folder.stream import Stream
from csim.metrics.answers import labels_spent
from csim.report.folder import advice
from csim.report.folder.facts import gather
from csim.report.folder.page import figures, lead, render
from csim.report.folder.truth import judge

pytestmark = pytest.mark.slow
TRUTH = {item: "FOUR" if name == "four" else name for item, name in truth().items()}
HEADINGS = [
    "What to do",
    "Open questions",
    "Accuracy",
    "Classes over time",
    "Labelling cost",
    "Classes",
    "Groups and their answers",
    "Embedding",
    "Models",
    "Unreadable files",
    "All figures",
    "How this report was made",
]


@pytest.fixture(scope="module")
def full():
    return render(small_folder(), TRUTH, {"command": "csim report <x>"})


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    return new_folder(tmp_path_factory.mktemp("empty") / "new")


def headings(page):
    return [words for words in page.words if words in HEADINGS]


def value(root, name):
    with Reader(root) as reader:
        return {row.name: row for row in figures(gather(reader), None)}[name]


def content_of(root):
    """Return a digest of every file but SQLite's shared memory, which readers write to."""
    files = [path for path in root.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_page_is_whole_and_needs_no_other_file(full):
    page = Page(full)
    assert page.problems == []
    assert page.count("h1") == 1
    assert all(img.get("alt") for img in page.all("img"))
    assert all(chart.get("aria-label") for chart in page.all("svg"))
    bare = re.sub(r'base64,[^"]*', "", re.sub(r' xmlns(:\w+)?="[^"]*"', "", full))
    assert not re.search(r"https?:|//\w", bare)


def test_the_sections_stand_in_order_and_every_link_has_its_section(full):
    page = Page(full)
    assert headings(page) == HEADINGS * 2, "once as links, once as headings"
    targets = [link["href"].removeprefix("#") for link in page.all("a")]
    assert targets == [section["id"] for section in page.all("section")]


def test_names_and_ids_and_reasons_stay_text(full):
    page = Page(full)
    assert page.count("b") == page.count("i") == page.count("script") == page.count("one") == 0
    assert NASTY in page.words
    assert "small & <i>nasty" in page.words
    assert "<script>.png" in page.words
    assert "a PNG must be whole, this <one> is not" in page.words
    assert "csim report <x>" in page.words
    assert any(img["title"].startswith("image <i>'\"&") for img in page.all("img"))


def test_open_questions_come_first_with_the_way_to_answer_them(full):
    page = Page(full)
    with Reader(small_folder()) as reader:
        opened = reader.count("open")
    assert 1 < opened <= 12
    assert page.words.count("What is this?") == opened
    assert any(words.startswith(f"{opened} questions wait for an answer.") for words in page.words)
    command = next(words for words in page.words if words.startswith("csim label"))
    assert command.startswith("csim label '/")
    assert command.endswith("/small & <i>nasty'"), "a shell takes it as one name"


def test_the_headline_tells_images_classes_questions_labels_and_unreadable_files():
    root = small_folder()
    assert value(root, "images").value == "220"
    assert value(root, "classes").value == "2 → 4"
    with Reader(root) as reader:
        told = len(labels_spent(reader.history.events()))
        asked = len(reader.questions(None))
    questions = value(root, "questions")
    spent = value(root, "labels spent")
    assert (questions.value, questions.headline) == (
        f"{asked}",
        "questions asked; the budget allows 44 by now",
    )
    assert (spent.value, spent.headline) == (
        f"{told}",
        f"labels spent, {told / 2.2:.1f}\u00a0% of the images",
    )
    assert value(root, "unreadable files").value == "2"
    page = Page(render(root))
    assert page.count("dd") == 5
    assert {"220", "2 → 4", f"{asked}", f"{told}", "2"} <= set(page.words)


def test_the_lead_is_a_sentence_that_a_manager_understands():
    with Reader(small_folder()) as reader:
        words = lead(gather(reader))
        asked = len(reader.questions(None))
        opened = reader.count("open")
    assert words == (
        "220 images have arrived. csim knew 2 classes at the start and knows 4 today. "
        f"It asked {asked} questions, of which {opened} wait for an answer."
    )


def test_without_the_truth_nothing_is_said_about_being_right():
    page = Page(render(small_folder()))
    assert headings(page) == [words for words in HEADINGS if words != "Accuracy"] * 2
    assert not any("accuracy" in words or "pur" in words for words in page.words)
    assert page.count("img", "stranger") == 0


def test_with_the_truth_strangers_are_marked(full):
    page = Page(full)
    assert page.count("img", "stranger") > 0
    assert page.count("article", "mixed") > 0


def test_each_class_has_its_card_with_what_people_and_what_the_program_named(full):
    words = Page(full).words
    with Reader(small_folder()) as reader:
        first = next(
            question.position
            for question in reader.questions("answered")
            if question.name == "three"
        )
    assert words.count("labelled by people") == words.count("labelled by csim") == 5
    assert words.count("known from the start") == 2
    assert f"first asked about at image {first}, learned at 160" in words
    assert "not yet learned" in words


def test_models_are_listed_with_their_seconds_and_images(full):
    words = Page(full).words
    start = words.index("seconds", words.index("training images"))
    with Reader(small_folder()) as reader:
        images = reader.models.all()[1].images
    assert words[start + 1 : start + 6] == ["1", "0", "0", "40", "2"]
    assert words[start + 7 : start + 11] == ["2", "160", "160", f"{images}"]
    assert re.fullmatch(r"\d+\.\d", words[start + 12])


def test_settings_that_differ_are_listed(full):
    words = Page(full).words
    listed = words[words.index("default") + 1 :: 3]
    changed = [
        name
        for name, value in SETTINGS.to_dict().items()
        if value != type(SETTINGS)().to_dict()[name]
    ]
    assert listed == changed


def test_an_empty_stream_has_a_page(empty):
    page = Page(render(empty))
    assert page.problems == []
    assert "No image has arrived yet. The first model knows 2 classes." in page.words
    assert (
        headings(page)
        == ["Classes", "Embedding", "Models", "All figures", "How this report was made"] * 2
    )


def test_a_stream_without_questions_has_a_page(tmp_path):
    root = new_folder(tmp_path / "quiet", budget=0.0)
    with Stream(root) as stream:
        stream.take(arrivals()[:3])
    page = Page(render(root))
    assert page.problems == []
    assert "Groups and their answers" not in page.words
    assert "questions asked; the budget allows 0 by now" in page.words
    assert "It asked 0 questions." in " ".join(page.words)


def test_a_budget_without_limit_is_not_drawn(tmp_path):
    root = new_folder(tmp_path / "free", budget=1.0)
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals()[:30])
    words = Page(render(root)).words
    assert "questions asked; no limit is set" in words
    assert "questions that the budget allows" not in words


def test_a_stream_whose_pictures_are_gone_has_a_page(tmp_path):
    root = copy_of(tmp_path)
    connection = sqlite3.connect(root / "stream.db")
    with connection:
        connection.execute("UPDATE items SET picture = NULL")
        connection.execute("DELETE FROM pictures")
    connection.close()
    page = Page(render(root, TRUTH))
    assert page.problems == []
    assert page.count("img") == 0
    assert "Embedding" not in page.words


def test_a_model_that_is_gone_is_said_and_the_rest_is_shown(tmp_path):
    root = copy_of(tmp_path)
    for file in (root / "models").iterdir():
        file.unlink()
    page = Page(render(root))
    assert page.problems == []
    assert "This chart could not be drawn" in " ".join(page.words)
    assert "Groups and their answers" in page.words


def test_the_page_changes_nothing_in_the_folder(tmp_path):
    root = copy_of(tmp_path)
    before = content_of(root)
    render(root, TRUTH)
    assert content_of(root) == before


def test_the_page_can_be_made_while_the_stream_runs(tmp_path):
    root = new_folder(tmp_path / "busy")
    with Stream(root, trainer=None) as stream:
        stream.take(arrivals()[:40])
        page = Page(render(root))
        stream.take(arrivals()[40:60])
        assert stream.position == 60
    assert "running while this was written" in page.words
    assert "40" in page.words


def test_the_same_folder_gives_the_same_page(full):
    assert render(small_folder(), TRUTH, {"command": "csim report <x>"}) == full


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(FolderError, match="not a stream folder"):
        render(tmp_path)


def test_new_classes_and_known_ones_are_apart_and_large_enough_to_see_a_mistake(full):
    words = Page(full).words
    new = words.index("New classes")
    known = words.index("Classes known from the start")
    after = len(words) - 1 - words[::-1].index("Groups and their answers")
    assert "FOUR" in words[new:known]
    assert "zero" in words[known:after]
    assert "zero" not in words[new:known]
    assert ".class .members img { width: 96px; height: 96px; }" in full


def test_a_poor_figure_comes_with_what_to_do():
    with Reader(small_folder()) as reader:
        facts = gather(reader)
        config = reader.config
    assert "could not read: 1 damaged, 1 empty" in advice.section(facts, None, config)
    wrong = dict.fromkeys(truth(), "no class of them")
    with Reader(small_folder()) as reader:
        poor = advice.section(facts, judge(reader, wrong), config)
    assert "Only 0.0\u00a0% of the labels are right. Answer the open questions first." in poor
    waiting = dataclasses.replace(facts, waiting=np.array([100]))
    assert "have no class" in advice.section(waiting, None, config)


def test_nothing_is_advised_if_no_figure_is_poor(empty):
    with Reader(empty) as reader:
        assert advice.section(gather(reader), None, reader.config) == ""
