from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csim.decide.head import Head
from csim.decide.scores import fold, one_vs_rest
from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold
from csim.errors import NotFittedError
from csim.records import JUNK, Decision, Model


def make_model(class_ids=(3, 7, 9), size=4, seed=0):
    rng = np.random.default_rng(seed)
    return Model(
        version=1,
        class_ids=tuple(class_ids),
        image_shape=(8, 8),
        network={},
        weights=rng.normal(size=(len(class_ids), size)),
        bias=rng.normal(size=len(class_ids)),
        held_out=np.zeros((0, size)),
    )


def make_head(current=lambda class_id: class_id, threshold=None, **options):
    head = Head(threshold or MeanBoundThreshold())
    head.install(make_model(**options), current)
    return head


def with_thresholds(lowest, **options):
    """Return a head with the given thresholds."""
    head = make_head(**options)
    head.restore({"class_ids": list(lowest), "lowest": np.array(list(lowest.values()))})
    return head


def draw_vectors(count, size=4, seed=1):
    return np.random.default_rng(seed).normal(size=(count, size))


def test_scores_are_what_a_plain_loop_finds():
    model = make_model()
    vectors = draw_vectors(6)
    expected = [
        [1 / (1 + np.exp(-(sum(w * v for w, v in zip(row, vector, strict=True)) + b)))
         for row, b in zip(model.weights, model.bias, strict=True)]
        for vector in vectors
    ]  # fmt: skip
    assert one_vs_rest(vectors, model.weights, model.bias) == pytest.approx(np.array(expected))
    assert make_head().scores(vectors) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("classes", [1, 3, 10, 16, 47])
def test_an_image_has_the_same_scores_to_the_last_bit_in_any_batch(classes):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(150, 200)).astype(np.float32)
    weights = rng.normal(size=(classes, 200)).astype(np.float32)
    bias = rng.normal(size=classes).astype(np.float32)
    together = one_vs_rest(vectors, weights, bias)
    for size in (1, 2, 3, 7, 16, 63, 64, 100):
        for first in (0, 150 - size):
            part = one_vs_rest(vectors[first : first + size], weights, bias)
            assert (part == together[first : first + size]).all()


def test_extreme_logits_give_scores_of_0_and_1_without_a_warning():
    with np.errstate(all="raise", under="ignore"):
        scores = one_vs_rest(np.array([[1.0]]), np.array([[1e4], [-1e4]]), np.zeros(2))
    assert scores == pytest.approx(np.array([[1.0, 0.0]]))


@given(
    columns=st.lists(st.sampled_from([None, 2, 5, 8]), min_size=1, max_size=7),
    rows=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_folding_takes_the_best_column_of_each_class(columns, rows, seed):
    scores = np.random.default_rng(seed).random((rows, len(columns)))
    before = scores.copy()
    class_ids = [c for c in (8, 2, 5) if c in columns]
    folded = fold(scores, columns, class_ids)
    assert folded.shape == (rows, len(class_ids))
    for row in range(rows):
        for index, class_id in enumerate(class_ids):
            assert folded[row, index] == max(
                s for s, c in zip(scores[row], columns, strict=True) if c == class_id
            )
    assert (scores == before).all()


@given(seed=st.integers(0, 10_000), classes=st.integers(1, 5))
def test_an_image_is_rejected_only_if_it_is_below_every_threshold(seed, classes):
    rng = np.random.default_rng(seed)
    class_ids = [10 * c + 3 for c in range(classes)]
    lowest = dict(zip(class_ids, rng.random(classes), strict=True))
    head = with_thresholds(lowest, class_ids=class_ids)
    scores = rng.random((30, classes))
    for row, decision in zip(scores.tolist(), head.decide(scores), strict=True):
        best = max(range(classes), key=lambda column: row[column])
        is_accepted = any(score >= lowest[c] for score, c in zip(row, class_ids, strict=True))
        assert decision == Decision(class_ids[best], row[best], is_accepted)


def test_the_highest_class_is_given_even_if_only_another_passes():
    head = with_thresholds({3: 0.9, 7: 0.4, 9: 0.9})
    assert head.decide(np.array([[0.8, 0.5, 0.1]])) == [Decision(3, 0.8, is_accepted=True)]
    assert head.decide(np.array([[0.8, 0.3, 0.1]])) == [Decision(3, 0.8, is_accepted=False)]


def test_by_quantiles_only_the_class_of_highest_score_can_accept_an_image():
    head = make_head(threshold=QuantileThreshold())
    head.restore({"class_ids": [3, 7, 9], "lowest": np.array([0.9, 0.4, 0.9])})
    assert head.decide(np.array([[0.8, 0.5, 0.1]])) == [Decision(3, 0.8, is_accepted=False)]
    assert head.decide(np.array([[0.3, 0.5, 0.1]])) == [Decision(7, 0.5, is_accepted=True)]


def test_thresholds_are_fitted_on_each_class_own_score_for_itself():
    head = make_head(threshold=QuantileThreshold(keep=0.5))
    vectors = draw_vectors(60)
    labels = np.repeat([9, 3, 7], 20)
    head.calibrate(vectors, labels)
    scores = head.scores(vectors)
    for column, class_id in enumerate((3, 7, 9)):
        ordered = sorted(scores[labels == class_id, column])
        wanted = ordered[10 - 1]  # k = floor(0.5 · 21)
        only = np.full((2, 3), -1.0)
        only[:, column] = [wanted, wanted - 1e-9]
        assert [d.is_accepted for d in head.decide(only)] == [True, False]


def test_labels_of_classes_that_are_gone_do_not_count():
    head = make_head()
    other = make_head()
    vectors = draw_vectors(40)
    labels = np.array([3, 7, 9, 12] * 10)
    head.calibrate(vectors, labels)
    other.calibrate(vectors[labels != 12], labels[labels != 12])
    scores = np.random.default_rng(5).random((100, 3))
    assert head.decide(scores) == other.decide(scores)


def test_after_a_merge_both_columns_stand_for_one_class():
    vectors = draw_vectors(12)
    plain = make_head().scores(vectors)
    merged = make_head(current=lambda c: 9 if c == 3 else c)
    assert set(merged.class_ids) == {7, 9}
    scores = merged.scores(vectors)
    assert scores[:, merged.class_ids.index(9)] == pytest.approx(
        np.maximum(plain[:, 0], plain[:, 2])
    )
    assert scores[:, merged.class_ids.index(7)] == pytest.approx(plain[:, 1])


def test_after_a_merge_into_a_class_that_the_model_never_knew_it_is_given():
    head = make_head(current=lambda c: 20 if c == 3 else c)
    assert head.class_ids == (20, 7, 9)
    assert head.scores(draw_vectors(3)) == pytest.approx(make_head().scores(draw_vectors(3)))


def test_after_a_removal_the_class_is_never_given():
    vectors = draw_vectors(50)
    plain = make_head().scores(vectors)
    head = make_head(current=lambda c: None if c == 7 else c)
    assert head.class_ids == (3, 9)
    assert head.scores(vectors) == pytest.approx(plain[:, [0, 2]])
    head.calibrate(vectors, np.array([3, 9] * 25))
    assert {d.class_id for d in head.decide(head.scores(vectors))} <= {3, 9}
    assert 7 not in {c for vector in vectors for c, _ in head.guess(vector)}


def test_with_all_classes_gone_everything_is_rejected():
    head = make_head(current=lambda _: None)
    head.calibrate(draw_vectors(4), np.array([3, 3, 7, 9]))
    assert head.class_ids == ()
    assert head.decide(head.scores(draw_vectors(3))) == [Decision(None, 0.0, is_accepted=False)] * 3
    assert head.guess(draw_vectors(1)[0]) == ()


@pytest.mark.parametrize("most", [1, 2, 3, 9])
def test_guesses_are_the_best_classes_best_first(most):
    head = make_head(class_ids=(3, 7, 9, 4))
    vectors = draw_vectors(20)
    scores = head.scores(vectors)
    for row, guess in zip(scores, [head.guess(vector, most) for vector in vectors], strict=True):
        expected = sorted(zip((3, 7, 9, 4), row, strict=True), key=lambda pair: -pair[1])[:most]
        assert [c for c, _ in guess] == [c for c, _ in expected]
        assert [s for _, s in guess] == pytest.approx([s for _, s in expected])


def test_a_head_without_a_model_says_so():
    with pytest.raises(NotFittedError, match="install"):
        Head(MeanBoundThreshold()).scores(draw_vectors(1))


def test_a_head_without_thresholds_says_so():
    head = make_head()
    with pytest.raises(NotFittedError):
        head.decide(head.scores(draw_vectors(1)))


def test_deciding_and_guessing_change_nothing():
    head = make_head()
    vectors = draw_vectors(30)
    head.calibrate(vectors, np.array([3, 7, 9] * 10))
    scores = head.scores(vectors)
    kept = scores.copy()
    first = head.decide(scores)
    head.guess(vectors[0])
    assert head.decide(scores) == first
    assert (scores == kept).all()


def test_thresholds_survive_a_restore():
    head = make_head()
    other = make_head()
    vectors = draw_vectors(30)
    head.calibrate(vectors, np.array([3, 7, 9] * 10))
    other.restore(head.state())
    scores = np.random.default_rng(0).random((50, 3))
    assert other.decide(scores) == head.decide(scores)


def test_without_a_threshold_every_image_is_given_its_best_class():
    head = make_head(threshold=NoThreshold())
    head.calibrate(np.zeros((0, 4)), np.zeros(0, np.int64))
    scores = head.scores(draw_vectors(40)) / 1000
    for decision, row in zip(head.decide(scores), scores, strict=True):
        assert decision == Decision(
            (3, 7, 9)[int(row.argmax())], float(row.max()), is_accepted=True
        )


def test_even_without_a_threshold_an_image_has_no_class_if_there_is_none():
    head = make_head(current=lambda class_id: None, threshold=NoThreshold())
    head.calibrate(np.zeros((0, 4)), np.zeros(0, np.int64))
    assert head.decide(head.scores(draw_vectors(2))) == [Decision(None, 0.0, is_accepted=False)] * 2


def test_junk_has_a_column_but_is_never_a_guess_nor_a_class_by_name():
    head = make_head(class_ids=(3, JUNK, 9))
    vector = draw_vectors(1)[0]
    assert head.class_ids == (3, JUNK, 9)
    assert head.named_classes == (3, 9)
    assert {class_id for class_id, _ in head.guess(vector)} == {3, 9}
    assert head.scores(vector[None]).shape == (1, 3)


def test_thresholds_are_fitted_on_the_scores_that_a_model_expects():
    expected = np.array([[0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])
    model = replace(make_model((3, 7, 9)), expected=expected)
    head = Head(QuantileThreshold(keep=0.6))
    head.install(model, {3: 3, 7: 3, 9: None}.get)  # 7 was merged into 3, 9 was removed
    head.calibrate(draw_vectors(0), None)
    lowest = dict(zip(*head.state().values(), strict=True))
    assert lowest == {3: 0.4}  # the second of four: floor(0.4 · 5)


def test_a_model_that_expects_no_scores_accepts_everything_without_held_out_images():
    model = replace(make_model(), expected=np.zeros((3, 0)))
    head = Head(QuantileThreshold(least_scores=1))
    head.install(model, lambda class_id: class_id)
    head.calibrate(draw_vectors(0), None)
    assert all(decision.is_accepted for decision in head.decide(head.scores(draw_vectors(9))))
