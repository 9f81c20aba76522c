"""A story through the whole classifier: a person calls some images junk, or labels given images."""

import numpy as np
import pytest
from digit_stream import last_classes, of

from csim.ask.labellers import TruthLabeller
from csim.classifier import StreamClassifier
from csim.errors import InputError
from csim.metrics.answers import labels_spent, questions
from csim.records import JUNK, Accepted, Asked, ClassAdded, Labelled, Rejected, Retrained, Revised
from csim.settings import Settings

pytestmark = pytest.mark.slow


class Pixels:
    """A frozen encoder: the pixels themselves."""

    def embed(self, images):
        return np.asarray(images, np.float32).reshape(len(images), -1) / 255


def blots(corner: int, count: int, seed: int) -> np.ndarray:
    """Return noise with a bright blot in one of four corners."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 40, (count, 12, 12)).astype(np.uint8)
    row = 7 * (corner // 2)
    column = 7 * (corner % 2)
    images[:, row : row + 5, column : column + 5] += 200
    return images


def knowing(log: list | None = None, encoder=None) -> StreamClassifier:
    """Return a classifier that knows blots in two corners."""
    settings = Settings(
        recent=60, ask_every=20, epochs=8, update_steps=30, channels=4, hidden_units=32,
        embedding_size=16, budget=0.2,
    )  # fmt: skip
    clf = StreamClassifier(settings, encoder=encoder, on_event=None if log is None else log.append)
    clf.fit(np.concatenate([blots(0, 40, 1), blots(1, 40, 2)]), ["first"] * 40 + ["second"] * 40)
    return clf


TRUTH = {str(place): "first" if (place - 1) % 20 < 10 else "third" for place in range(1, 201)}
LATE = [item_id for item_id in TRUTH if int(item_id) > 60]  # csim can know the junk by then
JUNKING = TruthLabeller(TRUTH, junk={"third"})
SKIPPING = TruthLabeller({item_id: "first" for item_id in TRUTH if TRUTH[item_id] == "first"})


def watch(clf: StreamClassifier, labeller: TruthLabeller) -> None:
    """Show ten blots in the first corner and ten in the third, ten times; answer all questions."""
    for batch in range(10):
        clf.observe(np.concatenate([blots(0, 10, 100 + batch), blots(2, 10, 200 + batch)]))
        clf.answer_with(labeller)


@pytest.fixture(scope="module")
def told() -> tuple[StreamClassifier, list]:
    """A classifier that was told junk, and its log; tests only read them."""
    log: list = []
    clf = knowing(log)
    watch(clf, JUNKING)
    return clf, log


def asked_about_third(log) -> int:
    return sum(TRUTH[event.question.representative.id] == "third" for event in of(Asked, log))


def test_junk_is_hardly_asked_about_again_but_what_is_skipped_is(told):
    skipped: list = []
    watch(knowing(skipped), SKIPPING)
    assert asked_about_third(told[1]) <= 6
    assert asked_about_third(skipped) > 20


@pytest.mark.parametrize("encoder", [None, Pixels()], ids=["own", "frozen"])
def test_images_like_junk_are_rejected_and_never_get_a_class(encoder, told):
    log = told[1]
    if encoder is not None:
        log = []
        watch(knowing(log, encoder), JUNKING)
    classes = last_classes(log)
    third = {item_id for item_id in LATE if TRUTH[item_id] == "third"}
    assert {classes[item_id] for item_id in third} == {JUNK}
    assert {event.item_id for event in of(Rejected, log)} >= third
    assert {classes[item_id] for item_id in LATE if item_id not in third} == {0}


def test_junk_is_no_class(told):
    clf, log = told
    assert [summary.name for summary in clf.classes] == ["first", "second"]
    assert clf.classes_.tolist() == ["first", "second"]
    assert {event.class_ids for event in of(Retrained, log)} == {(0, 1)}
    assert clf.predict_proba(blots(2, 3, 7)).shape == (3, 2)
    assert clf.predict(np.concatenate([blots(2, 3, 7), blots(0, 1, 8)])).tolist() == [
        None, None, None, "first",
    ]  # fmt: skip
    assert not of(ClassAdded, [event for event in log if event.position])
    assert JUNK not in {event.class_id for event in of(Accepted, log)}


def test_one_junk_answer_is_one_label(told):
    assert len(labels_spent(told[1])) == len(questions(told[1]))


@pytest.fixture
def clf(told, tmp_path) -> StreamClassifier:
    told[0].save(tmp_path / "stream.csim")
    return StreamClassifier.load(tmp_path / "stream.csim")


def junk_questions(clf: StreamClassifier) -> list[int]:
    return [q.id for q in clf.questions("answered") if TRUTH[q.representative.id] == "third"]


def test_what_is_junk_survives_saving_and_a_class_called_junk_is_another_thing(clf):
    assert {e.after for e in of(Revised, clf.observe(blots(2, 9, 9)))} == {JUNK}
    clf.classes.add("junk")
    assert [summary.name for summary in clf.classes] == ["first", "second", "junk"]
    (labelled,) = of(Labelled, clf.label(["205"], "junk"))
    assert labelled.class_id == 2


def test_once_all_junk_answers_are_undone_nothing_is_junk(clf):
    events = [event for question in junk_questions(clf) for event in clf.undo(question)]
    recent = {str(position) for position in range(142, 201)}
    assert {e.item_id for e in of(Revised, events) if e.before == JUNK} >= {
        item_id for item_id in recent if TRUTH[item_id] == "third"
    }
    assert JUNK not in {event.after for event in of(Revised, clf.observe(blots(2, 9, 9)))}


def test_junk_is_corrected_to_a_class_and_back(clf):
    first = junk_questions(clf)[0]
    corrected = of(Revised, clf.correct(first, "third"))
    assert (JUNK, 2) in {(event.before, event.after) for event in corrected}
    back = of(Revised, clf.correct(first, None))
    assert (2, JUNK) in {(event.before, event.after) for event in back}
    assert [summary.name for summary in clf.classes] == ["first", "second"]  # no answer names it


def test_images_are_labelled_without_a_question_and_each_is_one_label(clf):
    before = clf._engine.dialogue.budget.left(200)
    log = clf.label(["195", "199"], "third")
    assert [(e.item_id, e.is_told) for e in of(Labelled, log)] == [("195", True), ("199", True)]
    assert all(event.question.is_given for event in of(Asked, log))
    assert (len(labels_spent(log)), questions(log)) == (2, [])
    assert clf._engine.dialogue.budget.left(200) == before
    clf.ask_now()
    assert {"195", "199"}.isdisjoint(question.representative.id for question in clf.questions())


def test_a_labelled_image_is_labelled_again_undone_and_corrected_by_its_question(clf):
    (asked,) = of(Asked, clf.label(["199"], "third"))
    again = clf.label(["199"], None)
    assert not of(Asked, again)
    assert [(e.item_id, e.after) for e in of(Revised, again) if e.item_id == "199"] == [
        ("199", JUNK)
    ]
    clf.correct(asked.question.id, "second")
    undone = of(Revised, clf.undo(asked.question.id))
    assert ("199", 1, None) in {(e.item_id, e.before, e.after) for e in undone}


def test_images_that_cannot_be_labelled_are_refused_and_nothing_changes(clf):
    state = clf._engine.state()["dialogue"]["ledger"]["status"]
    shown = clf.questions("answered")[0]
    for item_ids, reason in (
        (["199", "no such image"], "holds no image"),
        (["199", "1"], "holds no image"),  # it left the window, and nothing keeps it
        ([], "at least one"),
        (["199", "199"], "all different"),
        ([shown.representative.id], f"question {shown.id} shows"),
    ):
        with pytest.raises(InputError, match=reason):
            clf.label(item_ids, "third")
    with pytest.raises(InputError, match="visible character"):
        clf.label(["199"], " ")
    assert clf._engine.state()["dialogue"]["ledger"]["status"] == state
