import dataclasses
import json
import typing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import csim.records as r
from csim.errors import InputError
from csim.folder.codec import event_from_text, event_to_text, message_from_text, message_to_text
from csim.messages import Answer, Edit

NUMBERS = st.integers(0, 2**62)
TEXTS = st.text(max_size=20)  # line ends, quotes, letters of any script
IDS = st.lists(TEXTS, max_size=4, unique=True).map(tuple)

# By the name of a field: what it may hold.
VALUES = {
    "position": NUMBERS,
    "question_id": NUMBERS,
    "class_id": NUMBERS,
    "model": NUMBERS,
    "source": NUMBERS,
    "target": NUMBERS,
    "before": st.none() | NUMBERS,
    "after": st.none() | NUMBERS,
    "at_arrival": st.none() | NUMBERS,
    "today": st.none() | NUMBERS,
    "answer": st.none() | NUMBERS,
    "name": TEXTS,
    "item_id": TEXTS,
    "item_ids": IDS,
    "merged": st.lists(NUMBERS, max_size=4).map(tuple),
    "into": st.lists(NUMBERS, max_size=4).map(tuple),
    "question_ids": st.lists(NUMBERS, max_size=4).map(tuple),
    "class_ids": st.lists(NUMBERS, max_size=4).map(tuple),
    "is_told": st.booleans(),
    "parts": st.lists(IDS, max_size=3).map(tuple),
}
AT_ARRIVAL = {r.Accepted, r.Rejected, r.TrainingDue}  # these stand in tables of their own


def drawn(kind):
    return st.builds(kind, **{field.name: VALUES[field.name] for field in dataclasses.fields(kind)})


@st.composite
def questions(draw):
    members = [
        r.Item(item_id, position, np.zeros((2, 2), np.uint8))
        for position, item_id in enumerate(
            draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
        )
    ]
    scores = st.floats(0, 1)
    guesses = draw(st.lists(st.tuples(NUMBERS, scores), max_size=3).map(tuple))
    position = draw(NUMBERS)
    chosen = draw(st.sampled_from(members))
    values = (chosen, tuple(members), guesses, draw(st.booleans()))
    return r.Asked(position, r.Question(draw(NUMBERS), position, *values))


EVENTS = sorted(
    set(typing.get_args(r.Event)) - AT_ARRIVAL - {r.Asked}, key=lambda kind: kind.__name__
)
MESSAGES = [*typing.get_args(Answer), *typing.get_args(Edit)]


@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_survives_text(kind):
    @given(drawn(kind))
    def survives(event):
        name, body = event_to_text(event)
        assert event_from_text(name, body, pytest.fail) == event

    survives()


@given(questions())
def test_a_question_survives_text_and_its_images_are_found_again_by_their_ids(event):
    album = {item.id: item for item in event.question.members}
    again = event_from_text(*event_to_text(event), album.__getitem__)
    assert again == event
    assert again.question.guesses == event.question.guesses  # == does not look at them
    assert all(item is album[item.id] for item in again.question.members)


@given(st.one_of([drawn(kind) for kind in MESSAGES]))
def test_a_message_survives_text(message):
    again = message_from_text(*message_to_text(message))
    assert again == message
    assert hash(again) == hash(message)  # lists within would not do


@given(st.one_of([drawn(kind) for kind in (*EVENTS, *MESSAGES)]))
def test_the_text_is_plain_json_of_the_fields_by_name(record):
    kind, body = event_to_text(record)
    assert kind == type(record).__name__
    assert list(json.loads(body)) == [field.name for field in dataclasses.fields(record)]
    assert "\n" not in body


@pytest.mark.parametrize("kind", ["Accepted", "Skipped", "named", "", "Item", "__class__"])
def test_a_message_of_an_unknown_kind_is_refused_with_the_kinds_there_are(kind):
    with pytest.raises(InputError, match=r"one of Named, Junk, .*, UndoAnswers; got"):
        message_from_text(kind, "{}")


def test_an_event_of_an_unknown_kind_is_refused():
    with pytest.raises(LookupError):
        event_from_text("Explained", "{}", pytest.fail)
