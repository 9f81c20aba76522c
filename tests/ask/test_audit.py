import json

import numpy as np
import pytest

from csim.ask.audit import LATEST, Audit
from csim.errors import SettingsError
from csim.records import (
    Asked,
    Audited,
    Corrected,
    Decision,
    Divided,
    Expired,
    Item,
    Labelled,
    Question,
    Revised,
    Skipped,
    Undone,
)

IMAGE = np.zeros((2, 2), np.uint8)


def item(position):
    return Item(str(position), position, IMAGE)


def draw(audit, positions, class_id=0):
    for position in positions:
        audit.draw([item(position)], [Decision(class_id, 0.9, is_accepted=True)])


def asked(question_id, position, *, is_audit=True):
    shown = item(position)
    return Asked(90, Question(question_id, 90, shown, (shown,), is_audit=is_audit))


def told(question_id, position, class_id):
    return Labelled(99, str(position), class_id, question_id, is_told=True)


@pytest.fixture
def audit():
    """Return an audit that has drawn the images 1 to 4."""
    audit = Audit(1, seed=0)
    draw(audit, range(1, 5))
    return audit


def test_an_answer_is_compared_with_the_class_at_arrival_and_the_class_just_before_it(audit):
    events = [asked(1, 2), Revised(95, "2", 0, 5), told(1, 2, 7)]
    assert audit.follow(events) == [*events, Audited(99, "2", 1, 0, 5, 7)]
    assert audit.answered() == [Audited(99, "2", 1, 0, 5, 7)]


def test_a_rejected_image_has_no_class_at_arrival():
    audit = Audit(1, seed=0)
    audit.draw([item(1)], [Decision(3, 0.1, is_accepted=False)])
    assert audit.follow([asked(1, 1), told(1, 1, 3)])[-1] == Audited(99, "1", 1, None, None, 3)


def test_an_answer_that_spreads_to_a_drawn_image_is_its_class_and_not_its_truth(audit):
    audit.follow([asked(1, 2), Labelled(93, "2", 4, 9, is_told=False)])
    assert not audit.answered()
    audit.follow([told(1, 2, 7)])
    assert audit.answered()[0].today == 4


def test_the_answer_to_an_ordinary_question_is_the_class_of_today(audit):
    audit.follow([asked(1, 2, is_audit=False), told(1, 2, 7)])
    assert audit.answered() == [Audited(99, "2", 1, 0, 7, 7)]
    assert audit.follow([Corrected(100, 1, 8)])[-1] == Audited(100, "2", 1, 0, 8, 8)


def test_an_image_without_an_answer_does_not_count(audit):
    audit.follow([asked(1, 2), asked(2, 3), Skipped(95, 2)])
    assert not audit.answered()
    assert [group.representative.id for group in audit.due(waiting=())] == ["1", "4"]


def test_an_answer_that_is_undone_counts_again_once_it_is_given_again(audit):
    audit.follow([asked(1, 2), told(1, 2, 7)])
    assert audit.follow([Undone(99, 1)])[-1].answer is None
    assert not audit.answered()
    assert audit.follow([told(1, 2, 0)])[-1] == Audited(99, "2", 1, 0, 0, 0)


def test_a_corrected_answer_counts_as_corrected(audit):
    audit.follow([asked(1, 2), told(1, 2, 7)])
    assert audit.follow([Corrected(100, 1, 0)])[-1] == Audited(100, "2", 1, 0, 0, 0)


@pytest.mark.parametrize("event", [Divided(95, 1, (2, 3)), Expired(95, 1)])
def test_the_audit_asks_if_an_ordinary_question_shows_its_image_no_longer(audit, event):
    audit.follow([asked(1, 2, is_audit=False)])
    assert len(audit.due(waiting=())) == 3
    audit.follow([event])
    assert len(audit.due(waiting=())) == 4


def test_a_question_of_the_audit_that_expires_is_not_asked_again(audit):
    audit.follow([asked(1, 2), Expired(95, 1)])
    assert "2" not in audit.ids
    assert len(audit.due(waiting=())) == 3


def test_images_that_wait_are_not_due_but_their_questions_are_reserved(audit):
    assert [group.representative.id for group in audit.due(waiting={"1", "3"})] == ["2", "4"]
    assert audit.reserved == 4


def test_a_share_that_divides_no_whole_number_draws_fewer():
    audit = Audit(0.3, seed=0)
    draw(audit, range(1, 401))
    assert audit.reserved == 100


def test_only_the_latest_answers_are_kept():
    audit = Audit(1, seed=0)
    draw(audit, range(1, LATEST + 11))
    for position in range(1, LATEST + 11):
        audit.follow([asked(position, position), told(position, position, 0)])
    assert len(audit.answered()) == LATEST
    assert audit.answered()[0].question_id == 11


def test_a_restored_audit_goes_on_like_the_one_that_was_saved():
    audit = Audit(0.1, seed=4)
    draw(audit, range(1, 46))
    first = [group.representative.position for group in audit.due(waiting=())]
    audit.follow([asked(1, first[0]), told(1, first[0], 2), Undone(99, 1), asked(2, first[1])])
    saved = audit.state()
    other = Audit(0.1, seed=0)
    other.restore(json.loads(json.dumps(saved | {"items": None})) | {"items": saved["items"]})
    for part in (audit, other):
        draw(part, range(46, 200))
        part.follow([told(1, first[0], 5), told(2, first[1], 0)])
    assert [g.representative.id for g in other.due(())] == [
        g.representative.id for g in audit.due(())
    ]
    assert other.answered() == audit.answered()
    assert len(audit.answered()) == 2


def test_a_share_above_one_is_refused():
    with pytest.raises(SettingsError, match="share must lie between 0 and 1"):
        Audit(1.5, seed=0)
