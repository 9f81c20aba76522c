"""Projections of scikit-learn's digits: what an entry holds, and when it is made again."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import KNeighborsClassifier

from csim.bench.json_lines import put, read_lines
from csim.bench.vectors import figures
from csim.bench.vectors.projections import (
    FILE,
    MOST_IMAGES,
    Projection,
    measure,
    project_all,
    read,
    voted,
)
from csim.bench.vectors.spaces import EVERY_SPACE
from csim.errors import InputError
from csim.settings import Settings

pytestmark = pytest.mark.slow

DIGITS = Projection("digits", seed=3, per_class=10)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a projection, its content, and the progress that was told."""
    folder = tmp_path_factory.mktemp("out")
    told = []
    (content,) = project_all([DIGITS], folder, on_done=lambda *parts: told.append(parts))
    return folder, content, told


@pytest.fixture
def copy(made, tmp_path):
    """Return a folder of one's own with the same file."""
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_bytes((made[0] / FILE).read_bytes())
    return tmp_path


def stored(folder, projection=DIGITS):
    return read_lines(folder / FILE).entries[projection.name].content


def test_a_file_tells_all_that_made_it(made):
    content = stored(made[0])
    assert content["format"] == 1
    assert content["kind"] == "embedding"
    assert (content["data"], content["seed"], content["per_class"]) == ("digits", 3, 10)
    for name, preset in (("default", Settings(seed=3)), ("paper", Settings.paper(seed=3))):
        kept = content["settings"][name]
        assert kept.items() <= preset.to_dict().items()
        assert {"conv_layers", "epochs", "beta", "shift", "seed"} <= set(kept)
        assert not {"budget", "threshold", "store_size"} & set(kept)  # they concern the stream
    assert {"time", "commit", "machine", "torch", "scikit-learn"} <= set(content["origin"])
    assert len(content["sample"]["fingerprint"]) == 16


def test_a_file_has_a_point_for_every_image_in_every_space(made):
    content = made[1]
    assert sorted(set(content["sample"]["names"])) == list("0123456789")
    assert len(content["sample"]["names"]) == 100
    assert len(content["sample"]["known"]) == 3
    assert list(content["panels"]) == list(EVERY_SPACE)
    for panel in content["panels"].values():
        points = np.array(panel["points"])
        assert points.shape == (100, 2)
        assert np.isfinite(points).all()
        assert len(np.unique(points, axis=0)) > 90
        assert np.array_equal(points, points.round(2))  # what can be seen


def test_figures_are_shares_and_silhouettes(made):
    for panel in made[1]["panels"].values():
        for name, value in panel["figures"].items():
            low, high = (-1, 1) if "silhouette" in name else (0, 100)
            assert low <= value <= high, name


def test_networks_put_the_classes_they_know_apart(made):
    panels = made[1]["panels"]
    for space in ("paper", "default"):
        assert (
            panels[space]["figures"]["silhouette known"]
            > panels["pixels"]["figures"]["silhouette known"]
        )


def test_progress_counts_every_space_and_the_file(made):
    assert made[2][-1] == (8, 8)
    assert {total for _, total in made[2]} == {8}
    assert [done for done, _ in made[2]] == sorted(done for done, _ in made[2])


def test_a_finished_projection_is_read_and_not_made_again(copy, monkeypatch):
    monkeypatch.delenv("CSIM_DATA", raising=False)
    told = []
    content = stored(copy)
    content["panels"]["pixels"]["points"][0] = [123.0, 456.0]
    put(copy / FILE, DIGITS.name, content)
    assert project_all([DIGITS], copy, on_done=lambda *parts: told.append(parts)) == [content]
    assert told == []


def test_only_what_is_missing_is_made_and_the_order_is_kept(copy):
    other = replace(DIGITS, per_class=6)
    contents = project_all([other, DIGITS], copy)
    assert [content["per_class"] for content in contents] == [6, 10]
    assert len(contents[0]["sample"]["names"]) == 60
    assert list(read_lines(copy / FILE).entries) == [DIGITS.name, other.name]
    assert list((copy / "runs").iterdir()) == [copy / FILE]


@pytest.mark.parametrize("key", ["format", "per_class", "settings"])
def test_a_file_made_otherwise_does_not_count(copy, key):
    content = stored(copy)
    content[key] = {"paper": {}} if key == "settings" else 99
    put(copy / FILE, DIGITS.name, content)
    assert read(copy, DIGITS) is None


def test_no_file_is_no_projection(tmp_path):
    assert read(tmp_path, DIGITS) is None


def damaged_contents():
    identity = DIGITS.describe()
    few = {space: {"points": [[0, 0]], "figures": {}} for space in EVERY_SPACE}
    return {
        "another entry": {},
        "no panels": {**identity, "sample": {"names": ["1"]}},
        "too few points": {**identity, "sample": {"names": ["1", "2"]}, "panels": few},
    }


@pytest.mark.parametrize("damage", damaged_contents())
def test_a_damaged_entry_is_named_with_what_to_do(tmp_path, damage):
    put(tmp_path / FILE, DIGITS.name, damaged_contents()[damage])
    with pytest.raises(InputError, match=r"embedding\.jsonl, line 1 is not an entry .*delete"):
        read(tmp_path, DIGITS)


def test_a_damaged_line_is_named_with_what_to_do(tmp_path):
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text('{"format": 1,')
    with pytest.raises(InputError, match=r"embedding\.jsonl, line 1 is damaged .*delete"):
        read(tmp_path, DIGITS)


def test_a_file_of_before_a_space_was_added_is_made_again(copy):
    content = stored(copy)
    del content["settings"]["lmnn"], content["panels"]["lmnn"]
    put(copy / FILE, DIGITS.name, content)
    assert read(copy, DIGITS) is None


def test_an_unknown_data_set_is_refused(tmp_path):
    with pytest.raises(InputError, match="did you mean digits"):
        project_all([Projection("digit", 0, 5)], tmp_path)


def test_a_folder_that_cannot_be_is_refused_before_any_work(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(InputError, match="give another"):
        project_all([DIGITS], tmp_path / "taken")


def test_many_classes_share_the_room_of_a_picture():
    assert MOST_IMAGES // 47 < 100 < MOST_IMAGES // 10


def plain_vote(vectors, columns, place):
    """Return what the five nearest others say, by sorting."""
    others = [where for where in range(len(vectors)) if where != place]
    nearest = sorted(others, key=lambda where: np.linalg.norm(vectors[where] - vectors[place]))[:5]
    votes = [columns[where] for where in nearest]
    return min(set(votes), key=lambda column: (-votes.count(column), column))


@pytest.fixture(scope="module")
def cloud():
    """Return vectors (80, 4) of five classes that overlap, and their columns."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 5, 80)
    return rng.normal(size=(80, 4)) + columns[:, None] * 0.6, columns


def test_a_vote_is_that_of_the_five_nearest_others(cloud):
    vectors, columns = cloud
    assert voted(vectors, columns).tolist() == [
        plain_vote(vectors, columns, place) for place in range(80)
    ]


def test_a_vote_agrees_with_the_accuracy_used_elsewhere_and_with_leaving_one_out(cloud):
    vectors, columns = cloud
    is_right = voted(vectors, columns) == columns
    assert 100 * is_right.mean() == pytest.approx(figures.leave_one_out_accuracy(vectors, columns))
    for place in range(0, 80, 9):
        rest = np.arange(80) != place
        model = KNeighborsClassifier(5).fit(vectors[rest], columns[rest])
        assert (model.predict(vectors[[place]])[0] == columns[place]) == is_right[place]


def test_figures_tell_known_from_new_and_the_space_from_the_plane(cloud):
    vectors, columns = cloud
    is_known = columns < 2
    flat = vectors[:, :2]
    found = measure(vectors, flat, columns, is_known)
    votes = {
        name: voted(space, columns) == columns for name, space in (("", vectors), ("flat ", flat))
    }
    for name, is_right in votes.items():
        assert found[f"{name}5-NN known %"] == pytest.approx(100 * is_right[is_known].mean())
        assert found[f"{name}5-NN new %"] == pytest.approx(100 * is_right[~is_known].mean())
    silhouettes = silhouette_samples(vectors, columns)
    assert found["silhouette known"] == pytest.approx(silhouettes[columns < 2].mean())
    assert found["silhouette new"] == pytest.approx(silhouettes[columns >= 2].mean())
