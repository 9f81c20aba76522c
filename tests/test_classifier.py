"""StreamClassifier: what it accepts and refuses; a refusal leaves everything as it was."""

import copy
import pickle
import threading

import numpy as np
import pytest
import torch
from digit_stream import SMALL, SMALL_PAPER, digit_stream, fitted, of
from PIL import Image
from torch.utils.data import DataLoader, TensorDataset

import csim
from csim.classifier import StreamClassifier
from csim.embed.whitening import Whitening
from csim.errors import (
    ClassError,
    CsimError,
    InputError,
    NotFittedError,
    QuestionError,
    SettingsError,
    StorageError,
)
from csim.messages import Named, Split
from csim.records import (
    Accepted,
    Asked,
    ClassAdded,
    Divided,
    Labelled,
    Rejected,
    Retrained,
    Revised,
    Skipped,
)
from csim.settings import Settings


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A classifier with open questions, saved; each test loads its own."""
    clf = fitted()
    clf.observe(digit_stream().images[:200])
    clf.predict(digit_stream().images[:1])  # fits the thresholds
    path = tmp_path_factory.mktemp("start") / "stream.csim"
    clf.save(path)
    return path


@pytest.fixture
def clf(start):
    return StreamClassifier.load(start)


def fingerprint(clf: StreamClassifier, tmp_path) -> str:
    clf.save(tmp_path / "fingerprint")
    with csim.checkpoint.safe_open(tmp_path / "fingerprint", framework="numpy") as file:
        return file.metadata()["sha256"]


BAD_BATCHES = {
    "another size": np.zeros((3, 9, 8), np.uint8),
    "colour for grey": np.zeros((3, 8, 8, 3), np.uint8),
    "two channels": np.zeros((3, 8, 8, 2), np.uint8),
    "a single image": np.zeros((8, 8), np.uint8),
    "five axes": np.zeros((1, 1, 8, 8, 1), np.uint8),
    "above 255": np.full((1, 8, 8), 255.5),
    "below 0": np.full((1, 8, 8), -1.0),
    "NaN": np.full((1, 8, 8), np.nan),
    "infinite": np.full((1, 8, 8), np.inf),
    "text": np.full((1, 8, 8), "a"),
    "ragged": [np.zeros((8, 8)), np.zeros((9, 9))],
    "complex": np.zeros((1, 8, 8), complex),
    "floats of 0 to 1": np.full((1, 8, 8), 0.5),
    "true and false": np.full((1, 8, 8), True),
}


@pytest.mark.parametrize("what", BAD_BATCHES)
@pytest.mark.parametrize("method", ["observe", "predict", "predict_proba", "transform"])
def test_a_bad_batch_is_refused_and_the_state_stays(clf, tmp_path, what, method):
    before = fingerprint(clf, tmp_path)
    with pytest.raises(InputError) as caught:
        getattr(clf, method)(BAD_BATCHES[what])
    assert len(str(caught.value)) > 20
    assert fingerprint(clf, tmp_path) == before


def test_one_bad_image_lets_none_of_its_batch_through(clf, tmp_path):
    before = fingerprint(clf, tmp_path)
    batch = digit_stream().images[200:210].astype(float)
    batch[7, 3, 3] = np.nan
    with pytest.raises(InputError, match="NaN"):
        clf.observe(batch)
    assert fingerprint(clf, tmp_path) == before


@pytest.mark.parametrize("empty", [[], np.zeros((0, 8, 8)), np.zeros((0, 8, 8), np.uint8)])
def test_an_empty_batch_is_fine(clf, empty):
    assert clf.observe(empty) == []
    assert clf.predict(empty).tolist() == []
    assert clf.predict_proba(empty).shape == (0, 3)
    assert clf.transform(empty).shape == (0, 64)


ANY = np.random.default_rng(0).integers(0, 256, (6, 8, 8)).astype(np.uint8)
BAD_WARM_UPS = {
    "too few names": (ANY, ["a", "b"]),
    "too many names": (ANY, ["a", "b"] * 4),
    "one class only": (ANY, ["a"] * 6),
    "a class with one image": (ANY, ["a"] * 5 + ["b"]),
    "nothing": (ANY[:0], []),
    "floats of 0 to 1": (ANY / 255, ["a", "b"] * 3),
    "true and false": (ANY > 100, ["a", "b"] * 3),
    "an empty name": (ANY, ["a", ""] * 3),
    "a name of 10 kB": (ANY, ["a", "b" * 10_000] * 3),
    "a name that is no text": (ANY, ["a", None] * 3),
    "too small": (ANY[:, :7], ["a", "b"] * 3),
    "no labels at all": (ANY, None),
    "no such folder": ("/no/such/folder", None),
}


@pytest.mark.parametrize("what", BAD_WARM_UPS)
def test_a_bad_warm_up_is_refused_and_an_earlier_one_stays(clf, tmp_path, what):
    before = fingerprint(clf, tmp_path)
    with pytest.raises(InputError):
        clf.fit(*BAD_WARM_UPS[what])
    assert fingerprint(clf, tmp_path) == before
    with pytest.raises(NotFittedError):
        StreamClassifier().predict(ANY)


def test_too_many_conv_layers_for_the_images_are_refused():
    with pytest.raises(SettingsError, match="4 conv layers leave no pixel of an 8×8 image"):
        StreamClassifier(Settings(conv_layers=4)).fit(ANY, ["a", "b"] * 3)


BAD_WORDS = {
    "an unknown question": lambda clf: clf.tell(9999, "heron"),
    "a question id that is text": lambda clf: clf.tell("one", "heron"),
    "an empty name": lambda clf: clf.tell(1, " "),
    "a name of 10 kB": lambda clf: clf.tell(1, "x" * 10_000),
    "no name": lambda clf: clf.tell(1),
    "one bad among several": lambda clf: clf.tell({1: "heron", 9999: "crane"}),
    "an undo of an open question": lambda clf: clf.undo(1),
    "a correction of an open question": lambda clf: clf.correct(1, "heron"),
    "a skip of an unknown question": lambda clf: clf.skip(9999),
    "a split into strangers": lambda clf: clf.split(1, [["a"], ["b"]]),
    "a rename of no class": lambda clf: clf.classes.rename("heron", "crane"),
    "a rename to a taken name": lambda clf: clf.classes.rename(0, clf.classes.list()[1].name),
    "an added class that exists": lambda clf: clf.classes.add(clf.classes.list()[1].name),
    "a merge with itself": lambda clf: clf.classes.merge(0, 0),
    "a merge of no class": lambda clf: clf.classes.merge(0, 77),
    "a removal of no class": lambda clf: clf.classes.remove(77),
    "a list instead of an answer": lambda clf: clf.tell([1]),
    "a list instead of a question": lambda clf: clf.tell([1], "heron"),
    "a question by its text": lambda clf: clf.tell("1", "heron"),
    "skipping a list": lambda clf: clf.skip([1]),
}


@pytest.mark.parametrize("what", BAD_WORDS)
def test_words_that_make_no_sense_are_refused_and_the_state_stays(clf, tmp_path, what):
    before = fingerprint(clf, tmp_path)
    with pytest.raises((QuestionError, InputError, ClassError)):
        BAD_WORDS[what](clf)
    assert fingerprint(clf, tmp_path) == before


def test_answering_twice_is_refused(clf, tmp_path):
    clf.tell(1, "heron")
    before = fingerprint(clf, tmp_path)
    with pytest.raises(QuestionError, match="question 1 is answered"):
        clf.tell(1, "crane")
    assert fingerprint(clf, tmp_path) == before


def test_no_answer_changes_nothing(clf, tmp_path):
    before = fingerprint(clf, tmp_path)
    assert clf.tell({}) == []
    assert fingerprint(clf, tmp_path) == before


def test_a_split_that_fails_lets_none_of_its_companions_through(clf, tmp_path, monkeypatch):
    question = next(question for question in clf.questions() if len(question.members) > 2)
    other = next(each for each in clf.questions() if each.id != question.id)
    before = fingerprint(clf, tmp_path)

    def fail(items):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(clf._engine.gallery, "vectors", fail)
        with pytest.raises(MemoryError):
            clf._engine.tell([Named(other.id, "heron"), Split(question.id)])
    assert fingerprint(clf, tmp_path) == before


def test_answers_come_in_any_order_and_at_any_time(clf):
    ids = [question.id for question in clf.questions()]
    clf.tell(ids[-1], "heron")
    clf.observe(digit_stream().images[200:220])
    events = clf.tell(ids[0], "heron")
    assert {event.question_id for event in events if isinstance(event, Labelled)} == {ids[0]}
    assert [question.id for question in clf.questions() if question.id in ids] == ids[1:-1]


def test_skip_split_undo_and_correct_do_what_they_say(clf):
    question = max(clf.questions(), key=lambda question: len(question.members))
    assert clf.skip(question.id) == [Skipped(200, question.id)]
    divided, *asked = clf.split(question.id)
    assert isinstance(divided, Divided)
    parts = [event.question for event in asked if isinstance(event, Asked)]
    assert sorted(item.id for part in parts for item in part.members) == sorted(
        i.id for i in question.members
    )
    assert len(parts) == 2
    clf.tell(parts[0].id, "hern")
    corrected = clf.correct(parts[0].id, "heron")
    assert {event.item_id for event in corrected if isinstance(event, Revised)} >= {
        i.id for i in parts[0].members
    }
    assert "heron" in [summary.name for summary in clf.classes]
    assert "hern" not in [summary.name for summary in clf.classes]
    clf.undo(parts[0].id)
    assert "heron" not in [summary.name for summary in clf.classes]


def test_a_split_by_hand_follows_the_hand(clf):
    question = next(question for question in clf.questions() if len(question.members) > 2)
    ids = [item.id for item in question.members]
    asked = [e.question for e in clf.split(question.id, [ids[:1], ids[1:]]) if isinstance(e, Asked)]
    assert [[item.id for item in part.members] for part in asked] == [ids[:1], ids[1:]]


def test_a_learned_class_that_is_undone_is_given_to_no_image_any_more(clf):
    events = clf.tell({question.id: "novelty" for question in clf.questions()})
    assert any(isinstance(event, Retrained) for event in events)
    images = digit_stream().images[:200]
    assert "novelty" in clf.predict(images)
    for question in clf.questions("answered"):
        clf.undo(question.id)
    assert "novelty" not in clf.classes_
    assert "novelty" not in clf.predict(images)
    assert clf.predict_proba(images).shape == (200, 3)


def test_no_question_comes_before_as_many_images_as_until_search_says(clf):
    stream = digit_stream()
    position = 0
    searches = 0
    while position < 200:
        room = clf.until_search
        assert room >= 1
        batch = stream.images[position : position + room]
        events = clf.observe(batch, ids=[f"room {position + i}" for i in range(len(batch))])
        asked = {event.position for event in events if isinstance(event, Asked)}
        position += len(batch)
        arrived = [e.position for e in events if isinstance(e, Accepted | Rejected)]
        assert asked <= {arrived[-1]}
        searches += bool(asked)
    assert searches > 1


def test_settle_gives_waiting_images_a_class_and_asks_nothing(clf):
    stream = digit_stream()
    clf.observe(stream.images[:30], ids=[f"settle {i}" for i in range(30)])
    before = len(clf.questions())
    waiting = clf._engine.discovery.pool.waiting()
    assert waiting
    events = clf.settle()
    assert {event.item_id for event in events} == {item.id for item in waiting}
    assert all(isinstance(event, Revised) and event.after is not None for event in events)
    assert len(clf.questions()) == before
    assert clf.settle() == []


def test_merged_classes_answer_under_one_name(clf):
    first, second, _ = clf.classes_.tolist()
    images = digit_stream().warm_up
    before = clf.predict_proba(images)
    clf.classes.merge(first, second)
    assert clf.classes_.tolist() == [second, clf.classes_[1]]
    assert clf.predict_proba(images)[:, 0] == pytest.approx(before[:, :2].max(axis=1))
    clf.classes.rename(second, "both")
    assert "both" in clf.predict(images)
    assert first not in clf.predict(images)


def test_removing_every_class_leaves_a_classifier_that_knows_nothing(clf):
    for summary in clf.classes.list():
        clf.classes.remove(summary.id)
    assert clf.classes_.tolist() == []
    assert clf.predict(digit_stream().images[:5]).tolist() == [None] * 5
    assert all(
        isinstance(event, Rejected | Asked) for event in clf.observe(digit_stream().images[:30])
    )


def test_a_class_can_be_added_before_its_first_image(clf):
    class_id = clf.classes.add("heron")
    assert clf.classes.name(class_id) == "heron"
    assert clf.classes.list()[-1].images == 0
    clf.tell(1, "heron")
    clf.undo(1)
    assert "heron" in [summary.name for summary in clf.classes]


def test_predictions_are_names_and_agree_with_what_observe_decides(clf):
    images = digit_stream().images[200:300]
    predicted = clf.predict(images)
    for event, name in zip(clf.observe(images[:40]), predicted[:40], strict=False):
        if isinstance(event, Accepted):
            assert clf.classes.name(event.class_id) == name
        elif isinstance(event, Rejected):
            assert name is None
        else:
            break


def test_predictions_are_objects_whether_or_not_all_images_are_known(clf):
    assert clf.predict(digit_stream().warm_up[:3]).dtype == object
    assert clf.predict(digit_stream().images[:200]).dtype == object


def test_ids_are_the_users_own_if_given(clf):
    events = clf.observe(digit_stream().images[200:203], ids=["x", "y", "z"])
    assert [event.item_id for event in events if isinstance(event, Accepted | Rejected)] == [
        "x",
        "y",
        "z",
    ]


@pytest.mark.parametrize("ids", [["x", "x"], ["x"], ["x", 3], ["warm-up 80", "y"], [["x"], []], 5])
def test_ids_must_be_unique_texts(clf, tmp_path, ids):
    before = fingerprint(clf, tmp_path)
    with pytest.raises(InputError, match="id"):
        clf.observe(digit_stream().images[200:202], ids=ids)
    assert fingerprint(clf, tmp_path) == before


def test_the_callers_arrays_are_neither_kept_nor_edited():
    images = digit_stream().warm_up.copy()
    names = list(digit_stream().warm_up_names)
    untouched = images.copy()
    clf = StreamClassifier(Settings(**SMALL)).fit(images, names)
    batch = digit_stream().images[:60].copy()
    clf.observe(batch)
    batch[:], images[:] = 255, 255
    held = [
        item.image for c in clf._engine.store.class_ids() for item in clf._engine.store.items(c)
    ]
    held += list(clf._engine.discovery.state()["pool"]["items"]["images"])
    assert not any((image == 255).all() for image in held)
    assert (untouched == digit_stream().warm_up).all()


def test_every_event_reaches_the_listener_in_order():
    heard = []
    clf = fitted(on_event=heard.append)
    assert [type(event) for event in heard] == [ClassAdded] * 3 + [Retrained]
    events = clf.observe(digit_stream().images[:50])
    assert heard[4:] == events


def test_progress_is_told_epoch_by_epoch():
    told = []
    stream = digit_stream()
    StreamClassifier(Settings(**SMALL)).fit(
        stream.warm_up, stream.warm_up_names, progress=lambda *args: told.append(args)
    )
    assert [(epoch, epochs) for epoch, epochs, _ in told] == [(n, 6) for n in range(1, 7)]
    assert told[-1][2] < told[0][2]


def test_training_that_is_interrupted_can_be_had_again(clf, monkeypatch):
    questions = clf.questions()

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(clf._parts.trainer, "train", interrupt)
        with pytest.raises(KeyboardInterrupt):
            clf.tell({question.id: "novelty" for question in questions[:-1]})
    assert any(isinstance(event, Retrained) for event in clf.tell(questions[-1].id, "novelty"))


def test_a_torch_data_set_a_loader_and_a_folder_are_as_good_as_arrays(tmp_path):
    stream = digit_stream()
    labels = [int(name) for name in stream.warm_up_names]
    tensors = TensorDataset(
        torch.from_numpy(stream.warm_up[:, None]).float() / 255, torch.tensor(labels)
    )
    for index, (image, name) in enumerate(zip(stream.warm_up, stream.warm_up_names, strict=True)):
        (tmp_path / name).mkdir(exist_ok=True)
        Image.fromarray(image).save(tmp_path / name / f"{index:04}.png")
    sources = [tensors, DataLoader(tensors, batch_size=50), tmp_path, str(tmp_path)]
    for source in sources:
        clf = StreamClassifier(Settings(**SMALL)).fit(source)
        assert clf.classes_.tolist() == sorted(set(stream.warm_up_names))
        assert (clf.predict_proba(stream.warm_up).argmax(axis=1) >= 0).all()
    by_tensor = StreamClassifier(Settings(**SMALL)).fit(tensors)
    by_array = fitted()
    assert np.allclose(
        by_tensor.predict_proba(stream.images[:20]), by_array.predict_proba(stream.images[:20])
    )
    assert len(by_tensor.observe(tensors)) >= len(labels)


class Roots:
    """A custom encoder: the square root of every pixel."""

    def embed(self, images):
        return np.sqrt(images.reshape(len(images), -1).astype(float))


def test_a_custom_encoder_is_any_object_that_embeds():
    stream = digit_stream()
    clf = StreamClassifier(Settings(**SMALL | {"epochs": 40}), encoder=Roots())
    clf.fit(stream.warm_up, stream.warm_up_names)
    vectors = clf.transform(stream.images[:10])
    whitening = Whitening.from_arrays(clf._engine.model.network)
    mean = Roots().embed(stream.warm_up).mean(axis=0)
    assert whitening.mean == pytest.approx(mean, abs=0.5)  # a tenth of the images is held out
    expected = whitening.apply(Roots().embed(stream.images[:10]))
    assert vectors == pytest.approx(expected, abs=1e-5)
    known = [i for i, name in enumerate(stream.names) if name in clf.classes_]
    right = (
        clf.classes_[clf.predict_proba(stream.images[known]).argmax(axis=1)]
        == np.array(stream.names)[known]
    )
    assert right.mean() > 0.9
    assert clf.observe(stream.images[:100])


@pytest.mark.parametrize(
    "returned", [np.zeros((3, 4, 5)), np.zeros((99, 4)), np.full((30, 4), np.nan)]
)
def test_an_encoder_that_misbehaves_is_told_so(returned):
    class Broken:
        def embed(self, images):
            return returned

    with pytest.raises(InputError, match="the encoder"):
        StreamClassifier(encoder=Broken()).fit(digit_stream().warm_up[:30], ["a", "b"] * 15)


def test_colour_images_go_the_same_way():
    stream = digit_stream()
    colour = np.stack([stream.warm_up] * 3, axis=3)
    clf = StreamClassifier(Settings(**SMALL)).fit(colour, stream.warm_up_names)
    assert clf.observe(np.stack([stream.images[:20]] * 3, axis=3))
    with pytest.raises(InputError, match="this stream's images are"):
        clf.observe(stream.images[:20])


@pytest.mark.slow
def test_memory_stays_bounded_when_nobody_answers():
    bounds = {"buffer_size": 40, "ledger_size": 60, "store_size": 30}
    for settings in (Settings(**SMALL | bounds), Settings.paper(**SMALL_PAPER | bounds)):
        clf = fitted(settings)
        events = clf.observe(np.concatenate([digit_stream().images] * 2))
        engine = clf._engine
        assert sum(len(question.members) for question in clf.questions()) <= 60
        assert all(engine.store.count(c) <= 30 for c in engine.store.class_ids())
        assert len(engine.discovery.pool) <= 250  # `recent` and the arrivals until the next look
        assert {type(event).__name__ for event in events} >= {"Expired"}


def test_a_scale_may_be_a_whole_number():
    assert fitted(Settings(**SMALL, scale=5)).predict_proba(digit_stream().images[:3]).shape == (
        3,
        3,
    )


def given(clf: StreamClassifier) -> dict:
    """Return the class of every recent image."""
    return {
        item.id: class_id
        for item, class_id in clf._engine.discovery.pool.revisable(clf._engine.position)
    }


def test_removing_a_class_gives_its_recent_images_another(clf, start):
    before = given(clf)
    gone = clf.classes.list()[0].id
    heard = []
    clf = StreamClassifier.load(start, on_event=heard.append)
    clf.classes.remove(gone)
    revised = {event.item_id: event for event in of(Revised, heard)}
    assert list(before.values()).count(gone) > 5
    for item_id, class_id in before.items():
        if class_id == gone:
            assert (revised[item_id].before, revised[item_id].after) == (gone, given(clf)[item_id])
            assert revised[item_id].after not in (gone, None)
        elif class_id is not None:
            assert item_id not in revised


def test_merging_classes_moves_their_recent_images_along(clf, start):
    before = given(clf)
    source, target, third = (summary.id for summary in clf.classes.list())
    heard = []
    clf = StreamClassifier.load(start, on_event=heard.append)
    clf.classes.merge(source, target)
    with_source = {item_id for item_id, class_id in before.items() if class_id == source}
    moved = {event.item_id for event in of(Revised, heard) if event.before == source}
    assert moved == with_source
    assert {event.after for event in of(Revised, heard) if event.before == source} == {target}
    assert set(given(clf).values()) <= {target, third, None}


def test_an_undone_answer_leaves_its_images_without_a_class_until_another_accepts_them(clf):
    question = max(clf.questions(), key=lambda question: len(question.members))
    ids = [item.id for item in question.members]
    heron = of(Labelled, clf.tell(question.id, "heron"))[0].class_id
    undone = of(Revised, clf.undo(question.id))
    assert [event.item_id for event in undone[: len(ids)]] == ids
    assert {(event.before, event.after) for event in undone[: len(ids)]} == {(heron, None)}
    assert heron not in given(clf).values()
    again = {event.item_id: event.after for event in undone[len(ids) :] if event.before is None}
    assert {
        item_id: given(clf)[item_id] for item_id in ids if given(clf).get(item_id) is not None
    } == {item_id: again[item_id] for item_id in ids if item_id in again}


def test_all_errors_are_of_one_family():
    assert all(
        issubclass(error, CsimError)
        for error in (InputError, ClassError, QuestionError, SettingsError)
    )
    assert csim.CsimError is CsimError


def test_tell_says_how_answers_are_written(clf):
    with pytest.raises(InputError, match=r'got \[1\]; write tell\(7, "heron"\)'):
        clf.tell([1])


def test_an_automatic_id_never_takes_the_place_of_an_earlier_image(clf):
    images = digit_stream().images[200:204]
    clf.observe(images[:1], ids=["202"])  # the position of the next image
    events = clf.observe(images[1:4])
    assert [event.item_id for event in of(Accepted | Rejected, events)] == ["202 (2)", "203", "204"]
    pool = [item.id for item in clf._engine.discovery.pool.items()]
    assert {"202", "202 (2)", "203", "204"} <= set(pool)


def test_threads_that_observe_lose_no_image():
    clf = fitted()
    images = digit_stream().images[:10]
    failures = []

    def observe(name):
        try:
            for start in range(0, 200, 10):
                clf.observe(images, ids=[f"{name} {start + index}" for index in range(10)])
                clf.predict(images[:2])
        except Exception as error:  # a thread has nobody else to tell
            failures.append(error)

    threads = [threading.Thread(target=observe, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert clf._engine.position == 600
    positions = [item.position for item in clf._engine.discovery.pool.items()]
    assert len(set(positions)) == len(positions)


def test_a_function_for_events_may_answer_the_question_it_is_given():
    def answer(event):
        if isinstance(event, Asked):
            clf.tell(event.question.id, "something new")

    clf = fitted(on_event=answer)
    clf.observe(digit_stream().images[:200])
    assert clf.questions("answered")
    assert not clf.questions()


@pytest.mark.parametrize("copy_of", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_classifier_that_is_pickled_or_copied_names_save_and_load(clf, copy_of):
    with pytest.raises(InputError, match=r"save\(path\).*load\(path\)"):
        copy_of(clf)


def test_an_encoder_without_embed_is_refused_at_once():
    with pytest.raises(InputError, match=r"embed\(images\).*object has none"):
        StreamClassifier(encoder=object())


def test_saving_where_nothing_can_be_written_is_refused_with_the_path(clf, tmp_path):
    with pytest.raises(InputError, match=r"missing must be a folder.*create it"):
        clf.save(tmp_path / "missing" / "stream.csim")
    with pytest.raises(StorageError, match="cannot be written"):
        clf.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_class_removed_by_mistake_is_restored_with_what_it_had_learned(clf):
    images = digit_stream().images[200:260]
    names = clf.classes_.tolist()
    counts = [summary.images for summary in clf.classes]
    before = clf.predict_proba(images)
    clf.classes.remove(names[1])
    assert names[1] not in clf.predict(images)
    clf.classes.restore(names[1])
    assert clf.classes_.tolist() == names
    assert [summary.images for summary in clf.classes] == counts
    assert (clf.predict_proba(images) == before).all()
    with pytest.raises(ClassError, match="no removed class is called"):
        clf.classes.restore(names[1])
