"""Events over HTTP: ids, resuming, a sign of life."""

import json

import pytest
from web.serving import files, post, serving

from csim.web.limits import Limits


def read(client, after="0", **headers):
    """Return the events up to the newest one: id, kind, fields."""
    params = {"until_end": True} | ({} if after is None else {"after": after})
    text = client.get("/v1/events", params=params, headers=headers).text
    events = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if fields:
            events.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return events


def test_every_arrival_and_every_other_event_comes_once_in_order(client):
    post(client, files(70))
    question = client.get("/v1/questions").json()["questions"][0]["id"]
    client.post(f"/v1/questions/{question}/answer", json={"name": "heron"})
    events = read(client)
    kinds = [kind for _, kind, _ in events]
    arrived = [body["position"] for _, kind, body in events if kind in ("Accepted", "Rejected")]
    assert arrived == list(range(1, 71))
    assert {"ClassAdded", "Asked", "Labelled"} <= set(kinds)
    positions = [body["position"] for _, _, body in events]
    assert positions == sorted(positions)
    assert len({number for number, _, _ in events}) == len(events)
    assert all(body["time"].endswith("Z") for _, _, body in events)


@pytest.mark.parametrize("by_header", [True, False])
def test_reading_resumes_after_any_event_without_a_gap(shown, by_header):
    everything = read(shown)
    for index in range(0, len(everything), len(everything) // 12):
        number = everything[index][0]
        rest = read(shown, None, **{"Last-Event-ID": number}) if by_header else read(shown, number)
        assert rest == everything[index + 1 :]
    assert read(shown, None) == []  # from now on


def test_events_come_as_they_happen_with_a_sign_of_life_between(empty):
    limits = Limits(heartbeat_seconds=0.01, stop_seconds=5)
    with (
        serving(empty, limits=limits) as (client, service),
        client.stream("GET", "/v1/events") as stream,
    ):
        lines = stream.iter_lines()
        assert next(lines) == ": csim"
        while next(lines) != ": alive":
            pass
        post(client, files(1))
        while not (line := next(lines)).startswith("event"):
            pass
        assert line in ("event: Accepted", "event: Rejected")
        assert service.event_streams == 1


@pytest.mark.parametrize("number", ["x", "1.2", "1.2.3.4", "-1.0.0", "1.2.³", "9" * 30 + ".0.0"])
def test_an_id_that_is_none_is_refused(shown, number):
    assert shown.get("/v1/events", params={"after": number}).status_code == 422


def test_only_so_many_clients_follow_at_a_time(empty):
    with (
        serving(empty, limits=Limits(event_streams=1, stop_seconds=5)) as (client, _),
        client.stream("GET", "/v1/events") as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        refused = client.get("/v1/events")
        assert refused.status_code == 429
        assert refused.headers["retry-after"]
