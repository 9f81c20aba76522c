import numpy as np
import pytest

from csim.bench.baselines.sketch import Sketch


def sketched(rows, size):
    sketch = Sketch(size, rows.shape[1])
    sketch.add(rows)
    return sketch


@pytest.mark.parametrize("size", [5, 10, 20])
def test_no_direction_is_off_by_more_than_the_promise(rng, size):
    rows = rng.standard_normal((500, 30)) * np.linspace(3, 0.1, 30)
    kept = sketched(rows, size).rows
    assert kept.shape[0] <= size
    off = np.linalg.norm(rows.T @ rows - kept.T @ kept, 2)
    assert off <= (rows**2).sum() / size
    # No direction is overestimated.
    assert np.linalg.eigvalsh(rows.T @ rows - kept.T @ kept).min() > -1e-6 * (rows**2).sum()


def test_the_gram_matrix_gives_what_a_singular_value_decomposition_gives(rng):
    rows = rng.standard_normal((8, 30))
    _, values, directions = np.linalg.svd(rows, full_matrices=False)
    shrunk = np.sqrt(np.maximum(values**2 - values[5] ** 2, 0))[:5]
    kept = sketched(rows, 5).rows
    assert np.linalg.norm(kept, axis=1) == pytest.approx(shrunk)
    assert np.abs((kept / shrunk[:, None]) @ directions[:5].T) == pytest.approx(np.eye(5), abs=1e-6)


def test_few_rows_are_kept_as_they_are(rng):
    rows = rng.standard_normal((4, 10))
    kept = sketched(rows, 5).rows
    assert kept.T @ kept == pytest.approx(rows.T @ rows)


def test_merged_sketches_keep_the_promise(rng):
    one = rng.standard_normal((200, 20))
    other = rng.standard_normal((300, 20)) * 2
    merged = sketched(one, 8)
    merged.merge(sketched(other, 8))
    both = np.concatenate([one, other])
    off = np.linalg.norm(both.T @ both - merged.rows.T @ merged.rows, 2)
    assert off <= 2 * (both**2).sum() / 8


def test_directions_are_orthonormal(rng):
    directions = sketched(rng.standard_normal((100, 20)), 7).directions
    assert directions @ directions.T == pytest.approx(np.eye(len(directions)), abs=1e-6)


def test_rows_may_come_one_by_one_or_all_at_once(rng):
    rows = rng.standard_normal((50, 12))
    one = Sketch(6, 12)
    for row in rows:
        one.add(row[None])
    both = [sketch.rows.T @ sketch.rows for sketch in (one, sketched(rows, 6))]
    assert np.linalg.norm(both[0] - both[1], 2) <= 2 * (rows**2).sum() / 6


def test_rows_of_nothing_have_no_direction():
    assert len(sketched(np.zeros((9, 4)), 3).directions) == 0
    assert len(Sketch(3, 4).rows) == 0


def test_scaling_lets_old_rows_count_less(rng):
    sketch = sketched(rng.standard_normal((20, 6)), 4)
    before = np.linalg.norm(sketch.rows)
    sketch.scale(0.5)
    assert np.linalg.norm(sketch.rows) == pytest.approx(before / 2)
