"""What every choice of questions promises. A new choice is one more name here."""

import copy

import numpy as np
import pytest
from contracts.small_parts import make_items, make_scene, plain

from csim.discover.choice import AtRandom, LeastSure
from csim.discover.coverage import CoverDoubt
from csim.discover.projection import Projection
from csim.discover.purify import Purify
from csim.discover.representative import Medoid
from csim.discover.watch import NoveltyWatch

CHOICES = {
    "purify": lambda: Purify(eps=0.8, min_points=2, representative=Medoid()),
    "new or doubtful": lambda: CoverDoubt(
        Medoid(), spread=20, watch=NoveltyWatch(5), projection=Projection(5)
    ),
    "doubtful": lambda: CoverDoubt(Medoid(), spread=20, projection=Projection(5)),
    "least sure": LeastSure,
    "at random": lambda: AtRandom(np.random.default_rng(0)),
}

every_choice = pytest.mark.parametrize("make", CHOICES.values(), ids=CHOICES.keys())


@every_choice
def test_a_choice_leaves_what_it_looks_at_alone(make):
    items = make_items(30)
    pending = make_items(2, start=200)
    scene = make_scene(items)
    before = copy.deepcopy((scene.vectors, scene.scores, scene.reference[1]))
    make().choose(scene, 4, pending)
    after = scene.vectors, scene.scores, scene.reference[1]
    assert all((a == b).all() for a, b in zip(after, before, strict=True))
    assert scene.items == make_items(30)
    assert pending == make_items(2, start=200)


@every_choice
@pytest.mark.parametrize("most", [1, 3, 10, 100])
def test_a_choice_asks_at_most_so_many_questions_each_with_its_representative(make, most):
    picks = make().choose(make_scene(make_items(30)), most, make_items(2, start=200)).picks
    assert 1 <= len(picks) <= most
    assert all(pick.representative in pick.members for pick in picks)
    members = [index for pick in picks for index in pick.members.tolist()]
    assert len(members) == len(set(members))
    assert set(members) <= set(range(30))


@every_choice
def test_a_choice_may_be_among_one_image_and_of_none(make):
    assert plain(make().choose(make_scene(make_items(1)), 3, [])) == ([([0], 0)], [])
    assert make().choose(make_scene(make_items(5)), 0, []).picks == []


@pytest.mark.parametrize("name", [name for name in CHOICES if name != "at random"])
def test_choosing_twice_gives_the_same(name):
    choice = CHOICES[name]()
    scene = make_scene(make_items(30))
    pending = make_items(2, start=200)
    first = plain(choice.choose(scene, 4, pending))
    choice.choose(make_scene(make_items(9)), 2, [])
    assert plain(choice.choose(scene, 4, pending)) == first
