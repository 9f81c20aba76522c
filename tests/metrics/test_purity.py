import pytest
from metrics.hand_log import LOG, TRUTH
from metrics.random_log import asked, random_log

from csim.errors import InputError
from csim.metrics.purity import purity
from csim.records import Asked


def test_purity_is_the_share_of_members_like_their_representative():
    assert purity(LOG, TRUTH) == pytest.approx(100 * 3 / 4)  # emu and cat; fox; fox
    assert purity([], TRUTH) == 0


@pytest.mark.parametrize("seed", range(20))
def test_purity_of_a_random_log_weighs_every_grouped_image_the_same(seed):
    events, truth = random_log(seed)
    grouped = alike = 0
    for event in events:
        if isinstance(event, Asked):
            names = [truth[item.id] for item in event.question.members]
            grouped += len(names)
            alike += names.count(truth[event.question.representative.id])
    assert purity(events, truth) == pytest.approx(100 * alike / grouped)


@pytest.mark.parametrize("ids", [("1", "77"), ("77", "1")])
def test_an_image_that_the_truth_lacks_is_refused(ids):
    with pytest.raises(
        InputError, match="the truth must name every image of the log; '77' is not among its 9"
    ):
        purity([asked(5, 1, *ids)], TRUTH)
