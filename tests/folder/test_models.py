from digit_folder import rows

from csim.folder.reader import Reader
from csim.records import Retrained


def test_models_are_those_of_the_log(reference):
    with Reader(reference) as reader:
        models = reader.models.all()
        events = [event for event in reader.history.events() if isinstance(event, Retrained)]
        assert [(row.version, row.installed_at, row.class_ids) for row in models] == [
            (event.model, event.position, tuple(event.class_ids)) for event in events
        ]
        assert reader.models.in_use() == models[-1].version
        assert reader.models.learned() == list(models[-1].class_ids)
        assert reader.models.in_training() is None
        for event in events:
            assert reader.models.in_use(event.position) >= event.model
        assert reader.models.in_use(0) == 1


def test_a_model_in_training_is_not_in_use(due):
    with Reader(due) as reader:
        assert (reader.models.in_use(), reader.models.in_training()) == (1, 2)
        waiting = reader.models.all()[-1]
        assert (waiting.installed_at, waiting.class_ids) == (None, None)


def test_the_newest_snapshot_of_a_model_is_found(reference):
    newest = rows(reference, "SELECT max(step), model FROM snapshots GROUP BY model")
    with Reader(reference) as reader:
        for step, model in newest:
            assert reader.models.newest_snapshot(model).step == step
        assert reader.models.newest_snapshot(999) is None
