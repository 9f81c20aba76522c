"""Questions that an older model asked get the guesses of the model in use."""

import pytest
from digit_folder import arrivals, make_folder, name_of
from folder.in_process import InProcessTrainer

from csim.folder.reader import Reader
from csim.folder.send import send
from csim.folder.stream import Stream
from csim.messages import Named
from csim.web.page.fresh_guesses import FreshGuesses

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return a folder with open questions of model 1, where model 2 has learned new classes."""
    root = make_folder(tmp_path_factory.mktemp("taught") / "stream")
    with Stream(root, trainer=InProcessTrainer) as stream:
        stream.take(arrivals(200))
    with Reader(root) as reader:
        asked = reader.question_pages.page("open", after=0, most=100)
    some = asked[: 2 * len(asked) // 3]
    send(root, [Named(entry.id, name_of(entry.representative_id)) for entry in some])
    with Stream(root, trainer=InProcessTrainer) as stream:
        stream.finish(ask=False)
    return root


def test_an_old_question_gets_guesses_among_the_classes_learned_since(root):
    with Reader(root) as reader:
        assert reader.models.in_use() > 1
        fresh = FreshGuesses()
        old = [
            e for e in reader.question_pages.page("open", after=0, most=100) if e.position <= 200
        ]
        learned = {row.name for row in reader.classes() if row.is_learned}
        right = {"old": 0, "fresh": 0}
        for entry in old:
            guesses = fresh.of(reader, entry)
            assert guesses == fresh.of(reader, entry)
            assert [g.score for g in guesses] == sorted((g.score for g in guesses), reverse=True)
            assert {g.name for g in guesses} <= learned
            right["old"] += entry.guesses[0].name == name_of(entry.representative_id)
            right["fresh"] += guesses[0].name == name_of(entry.representative_id)
    assert right["fresh"] > right["old"]
