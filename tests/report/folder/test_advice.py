"""What the report advises about poor figures, judged by labels and truths made by hand."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from report.small_folder import small_folder

from csim.cli.choose_encoder import choose_encoder
from csim.folder.reader import Reader
from csim.metrics.audit import AuditFigures, Estimate
from csim.report.folder import advice
from csim.report.folder.facts import gather
from csim.report.folder.truth import Judged
from csim.sources.common_shape import LARGEST_SIDE, Survey, common_shape

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    """Return the figures and the config of a folder whose classes are zero, FOUR and others."""
    with Reader(small_folder()) as reader:
        facts = gather(reader)
        status = dataclasses.replace(facts.status, troubles={}, audit=None)
        waiting = np.zeros_like(facts.waiting)
        return SimpleNamespace(
            facts=dataclasses.replace(facts, status=status, waiting=waiting), config=reader.config
        )


def judged(*rows):
    """Return how images were labelled; a row is a count, a true class, its label then and today."""
    truth = {}
    at_arrival = {}
    today = {}
    for count, name, then, now in rows:
        for _ in range(count):
            item_id = str(len(truth))
            truth[item_id], at_arrival[item_id], today[item_id] = name, then, now
    return Judged(truth, np.arange(1, len(truth) + 1), at_arrival, today, frozenset(), {}, 0)


def test_right_labels_need_no_advice(found):
    rows = judged((90, "zero", "zero", "zero"), (10, "FOUR", None, "zero"))
    assert advice.section(found.facts, rows, found.config) == ""


def test_labels_that_become_right_later_are_worth_waiting_for(found):
    rows = judged((60, "zero", "zero", "zero"), (40, "FOUR", None, "FOUR"))
    text = advice.section(found.facts, rows, found.config)
    assert (
        "Only 60.0\u00a0% of the images were right at arrival, 100.0\u00a0% are right today" in text
    )
    assert "csim export labels" in text
    assert text.count("<li>") == 1


def test_the_estimates_of_the_audit_serve_as_well(found):
    audit = AuditFigures(
        50, at_arrival=Estimate(60.0, 45.0, 73.0), today=Estimate(90.0, 78.0, 97.0)
    )
    status = dataclasses.replace(found.facts.status, audit=audit)
    facts = dataclasses.replace(found.facts, status=status)
    assert "Only 60.0\u00a0% of the images were right at arrival" in advice.section(
        facts, None, found.config
    )


def test_labels_that_stay_wrong_are_not_worth_waiting_for(found):
    rows = judged((60, "zero", "zero", "zero"), (40, "FOUR", "zero", "zero"))
    assert "at arrival" not in advice.section(found.facts, rows, found.config)


def test_a_poor_class_is_named_with_what_csim_takes_it_for(found):
    rows = judged(
        (200, "zero", "zero", "zero"), (8, "FOUR", "FOUR", "FOUR"), (12, "FOUR", *["zero"] * 2)
    )
    text = advice.section(found.facts, rows, found.config)
    assert "Only 40.0\u00a0% of the 20 images of the class FOUR are right." in text
    assert "csim takes the others most often for zero" in text
    assert text.count("<li>") == 1, "all labels together are fine"


def test_few_images_make_no_poor_class(found):
    rows = judged((200, "zero", "zero", "zero"), (19, "FOUR", "zero", "zero"))
    assert advice.section(found.facts, rows, found.config) == ""


def test_a_poor_class_without_labels_waits_for_answers(found):
    rows = judged((200, "zero", "zero", "zero"), (20, "FOUR", None, None))
    text = advice.section(found.facts, rows, found.config)
    assert "Most of the others have no class: answer the open questions." in text


def test_a_class_that_the_stream_does_not_know_may_have_another_name(found):
    rows = judged((200, "zero", "zero", "zero"), (20, "a <four>", "zero", "zero"))
    text = advice.section(found.facts, rows, found.config)
    assert "of the class a &lt;four&gt; are right. No class of the stream has this name." in text
    assert "csim classes rename" in text


def test_the_poorest_three_classes_are_named_those_with_the_most_wrong_images_first(found):
    wrong = [(20 + index, f"class {index}", "zero", "zero") for index in range(5)]
    text = advice.section(found.facts, judged((2000, *["zero"] * 3), *wrong), found.config)
    places = [text.find(f"class {index} are right") for index in (4, 3, 2)]
    assert -1 < places[0] < places[1] < places[2]
    assert text.count("<li>") == 3


@pytest.mark.parametrize(
    ("sizes", "is_advised"),
    [({(60, 60)}, False), ({(48, 63)}, False), ({(300, 400)}, True), ({(60, 60), (65, 60)}, True)],
)
def test_an_encoder_is_advised_where_csim_init_would_choose_it(found, sizes, is_advised):
    files = Survey(frozenset(sizes), is_grey=False)
    shape = common_shape(files, None, largest=LARGEST_SIDE)
    config = dataclasses.replace(found.config, image_shape=shape)
    assert ("--encoder lite0" in advice.section(found.facts, None, config)) is is_advised
    reason = choose_encoder(files, is_paper=False, has_size=False).reason
    assert reason.startswith("all images have at most 64 pixels") is not is_advised


def test_no_encoder_is_advised_for_grey_pictures(found):
    config = dataclasses.replace(found.config, image_shape=(64, 64))
    assert advice.section(found.facts, None, config) == ""
