import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.errors import InputError
from csim.export.annotations import read_annotations
from csim.messages import Named, Skip


def chosen(*names):
    return {
        "from_name": "class",
        "to_name": "image",
        "type": "choices",
        "value": {"choices": list(names)},
    }


def typed(*names):
    return {
        "from_name": "new",
        "to_name": "image",
        "type": "textarea",
        "value": {"text": list(names)},
    }


def annotation(*results, at=None, cancelled=False):
    times = {} if at is None else {"created_at": at, "updated_at": at}
    return {"id": 1, "result": list(results), "was_cancelled": cancelled, "completed_by": 1} | times


def task(*annotations, question=3):
    return {
        "id": 7,
        "data": {"image": "data:,", "question": question},
        "annotations": list(annotations),
        "drafts": [],
    }


def read(*tasks):
    return read_annotations(json.dumps(tasks))


def test_an_export_that_label_studio_wrote_is_read():
    """Label Studio 1.23.2 exported the file, from tasks of csim; only the pictures were removed."""
    text = (Path(__file__).parent / "label_studio_1.23.2.json").read_text("utf-8")
    names = {14: "..", 15: "$image", 16: "new bird 鷺", 18: "second"}
    assert read_annotations(text) == [
        Skip(17) if q == 17 else Named(q, names[q]) for q in range(14, 19)
    ]
    assert len(json.loads(text)) == 6  # nobody has worked on the last


def test_a_chosen_class_is_a_name_and_a_skipped_task_a_skip():
    tasks = [
        task(annotation(chosen("heron")), question=1),
        task(annotation(cancelled=True), question=2),
    ]
    assert read(*tasks) == [Named(1, "heron"), Skip(2)]


def test_a_task_that_nobody_worked_on_says_nothing():
    assert read() == []
    assert read(task(), task(question=None)) == []


def test_a_typed_name_goes_before_a_chosen_one():
    assert read(task(annotation(chosen("heron"), typed(" crane ")))) == [Named(3, "crane")]
    assert read(task(annotation(typed(), chosen("heron")))) == [Named(3, "heron")]


def test_other_controls_of_a_project_are_passed_over():
    comment = {
        "from_name": "comment",
        "to_name": "image",
        "type": "textarea",
        "value": {"text": ["blurred"]},
    }
    assert read(task(annotation(comment, chosen("heron")))) == [Named(3, "heron")]


@pytest.mark.parametrize("order", [1, -1])
def test_the_latest_annotation_counts_wherever_it_stands(order):
    given = [
        annotation(chosen("first"), at="2026-11-16T09:30:00Z"),
        annotation(chosen("second"), at="2026-11-16T09:30:00.500000Z"),
        annotation(
            chosen("third"), at="2026-11-16T10:00:00+01:00"
        ),  # half an hour before the first
        annotation(chosen("untimed")),
        annotation(at="2026-11-17T00:00:00Z", cancelled=True),
    ]
    assert read(task(*given[::order])) == [Named(3, "second")]


def test_a_later_change_of_an_annotation_makes_it_the_latest():
    changed = annotation(chosen("heron"), at="2026-11-16T09:00:00Z") | {
        "updated_at": "2026-11-16T12:00:00Z"
    }
    assert read(task(changed, annotation(chosen("crane"), at="2026-11-16T10:00:00Z"))) == [
        Named(3, "heron")
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "a list of tasks, got dict"),
        (
            [{"image": "data:,", "question": 3, "class": "heron", "id": 7}],
            "task 1: .*not as JSON-MIN",
        ),
        ([task(), {"data": {"question": 3}}], "task 2: .*list of annotations"),
        ([3], "task 1: .*data and annotations"),
        ([{"data": {"image": "x"}, "annotations": []}], "task 1: its data must name a question"),
        ([task(annotation(chosen("heron")), question=None)], "must belong to an open question"),
        (
            [task(annotation(chosen("heron")), question="3")],
            "question must be a whole number from 1 up",
        ),
        ([task(annotation())], "must name one class, it names 0"),
        ([task(annotation(chosen("heron", "crane")))], "must name one class, it names 2"),
        ([task(annotation(typed("heron", "crane")))], "must name one class, it names 2"),
        ([task(annotation(chosen(["bird", "heron"])))], "must be text, got list"),
        ([task(annotation(chosen(" ")))], "at least one visible"),
        ([task({"result": "heron"})], "list of results"),
        ([task({"result": [3]})], "list of results"),
        ([task({})], "list of results"),
        ([task(annotation(chosen("heron"), at="yesterday"))], "time of an annotation"),
        ([task(annotation(chosen("heron"), at=5))], "time of an annotation"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_the_task_and_the_reason(content, words):
    with pytest.raises(InputError, match=words):
        read_annotations(json.dumps(content))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "data",
                    "annotations",
                    "question",
                    "result",
                    "value",
                    "choices",
                    "from_name",
                    "updated_at",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(
    st.lists(
        JSON
        | st.builds(lambda given: task(given), JSON)
        | st.builds(lambda r: task(annotation(r)), JSON)
    )
)
def test_whatever_the_json_says_it_is_read_or_refused(content):
    with contextlib.suppress(InputError):
        assert isinstance(read_annotations(json.dumps(content)), list)
