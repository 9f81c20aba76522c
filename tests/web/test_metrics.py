"""The figures for Prometheus, and what the service says about its own health."""

import pytest
from digit_folder import SETTINGS, arrivals, make_folder, name_of, rows
from prometheus_client.parser import text_string_to_metric_families
from web.serving import files, post, serving

from csim.folder.reader import Reader
from csim.folder.send import send
from csim.folder.status import read_status
from csim.folder.stream import Stream
from csim.messages import Named
from csim.settings import Settings
from csim.sources.arrival import Trouble


def figures(client):
    """Return the value of every sample by its name and labels."""
    found = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            found[(sample.name, *sorted(sample.labels.values()))] = sample.value
    return found


def test_every_figure_of_the_stream_is_there(empty):
    with serving(empty) as (client, _):
        assert post(client, files(200)).status_code == 200
        status = client.get("/v1/status").json()
        found = figures(client)
    assert found["csim_images",] == 200
    decided = [found.get(("csim_events_total", kind), 0) for kind in ("Accepted", "Rejected")]
    assert sum(decided) == 200
    assert found["csim_open_questions",] == status["questions"]["open"] > 0
    assert found["csim_questions", "open"] == status["questions"]["open"]
    assert found["csim_labels_spent",] == 0
    assert found["csim_label_budget",] == pytest.approx(200 * status["budget"])
    assert found["csim_model_version",] == 1
    for name in ("model_age_seconds", "training_seconds", "queue_images", "engine_running"):
        assert (f"csim_{name}",) in found
    assert found["csim_request_seconds_count", "200", "send_images"] == 1
    assert found["csim_step_seconds_count",] > 0
    assert not [key for key in found if key[0] == "csim_accuracy"]


def test_a_kind_that_is_no_longer_there_is_zero(asked):
    with Stream(asked, trainer=None) as stream:
        stream.note(Trouble("image 201", "damaged", "cut off"))
    with serving(asked) as (client, _):
        before = figures(client)
        assert before["csim_troubles", "damaged"] == 1
        assert before["csim_questions", "open"] > 0
        assert post(client, files(1, start=200)).status_code == 200  # it has been repaired
        for (question,) in rows(asked, "SELECT id FROM questions WHERE status = 'open'"):
            assert client.post(f"/v1/questions/{question}/skip", json={}).status_code == 200
        after = figures(client)
    assert after["csim_troubles", "damaged"] == 0
    assert after["csim_questions", "open"] == 0


def test_the_accuracy_that_the_audit_estimates_is_a_figure(tmp_path):
    settings = Settings.from_dict({**SETTINGS.to_dict(), "audit": 0.5})
    folder = make_folder(tmp_path / "stream", settings)
    with Stream(folder, trainer=None) as stream:
        stream.take(arrivals(600))
        audit = (
            "SELECT q.id, i.id FROM questions q JOIN items i ON i.place = q.representative"
            " WHERE q.audit"
        )
        send(folder, [Named(question, name_of(item)) for question, item in rows(folder, audit)])
        stream.attend()
    with Reader(folder) as reader:
        wanted = read_status(reader).audit
    assert wanted is not None
    with serving(folder) as (client, _):
        found = figures(client)
    assert found["csim_audit_answers",] == wanted.answers
    assert found["csim_accuracy", "share", "today"] == pytest.approx(wanted.today.share / 100)
    assert found["csim_accuracy", "low", "today"] == pytest.approx(wanted.today.low / 100)
    assert found["csim_accuracy", "arrival", "high"] == pytest.approx(wanted.at_arrival.high / 100)


def test_a_service_that_stops_is_alive_but_not_ready_and_takes_nothing(empty):
    with serving(empty) as (client, service):
        assert client.get("/readyz").json()["status"] == "running"
        service.begin_stop()
        refused = client.get("/readyz")
        assert (refused.status_code, refused.json()["status"]) == (503, "stopping")
        assert client.get("/healthz").status_code == 200
        late = post(client, files(3))
        assert late.status_code == 503
        assert late.headers["retry-after"]
        assert client.get("/v1/status").json()["position"] == 0
