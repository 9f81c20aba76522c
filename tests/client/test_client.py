"""The client: every operation, sync and async, and retries that do nothing twice."""

import asyncio
import csv
import inspect
import io
from functools import partial

import httpx
import pytest
from client.flaky import losing_answers
from digit_folder import rows
from web.serving import files, serving

from csim.client import AsyncClient, Client, ServiceError, asynchronous, blocking, calls
from csim.client.calls import EventReader, Retries
from csim.web.security import Token

QUICK = Retries(most=4, pause=0.01)


def test_a_program_sends_images_and_answers_questions(url):
    with Client(url) as client:
        sent = dict(files(3, start=200))
        decisions = client.images.send(sent)
        assert [decision["id"] for decision in decisions] == list(sent)
        assert client.images.get(decisions[0]["id"])["position"] == 101
        assert len(client.images.send(list(sent.values()))) == 3  # the client makes ids
        page, after = client.questions.page("open", limit=2)
        assert len(page) == 2
        assert client.questions.page("open", after=after)[0][0]["id"] > page[1]["id"]
        question = client.questions.next("ana", seconds=60)
        assert client.questions.get(question["id"])["lease"]["labeller"] == "ana"
        picture = client.images.picture(question["representative"]["position"], "small")
        assert picture.startswith(b"\x89PNG")
        assert client.questions.answer(question["id"], "heron", labeller="ana")["taken"]
        assert client.questions.correct(question["id"], "crane")["taken"]
        assert client.questions.correct(question["id"], None)["taken"]
        assert client.questions.get(question["id"])["is_junk"]
        assert client.questions.undo(question["id"])["taken"]
        assert client.questions.junk(question["id"])["taken"]
        assert client.images.label([question["members"][-1]["id"]], None)["taken"]
        assert client.status()["position"] == 106


def test_one_image_goes_as_the_body_and_several_as_a_form():
    one = calls.send_images({"a b/c.png": b"file"})
    assert one.options["content"] == b"file"
    assert one.options["params"] == {"id": "a b/c.png"}
    several = calls.send_images([b"first", b"second"])
    assert [part[1][1] for part in several.options["files"]] == [b"first", b"second"]
    assert len(set(several.options["data"]["ids"])) == 2


def test_one_image_has_the_decision_that_it_has_among_others(url):
    with Client(url) as client:
        sent = dict(files(2, start=220))
        decisions = client.images.send(sent)
        for (item_id, file), decision in zip(sent.items(), decisions, strict=True):
            assert client.images.send({item_id: file}) == [decision]
        with pytest.raises(ServiceError, match="belongs to another image") as refused:
            client.images.send({item_id: next(iter(sent.values()))})
        assert refused.value.status == 409


def test_the_other_answers_and_the_classes(url):
    with Client(url) as client:
        first, second = [question["id"] for question in client.questions.page("open")[0][:2]]
        assert client.questions.skip(first)["taken"]
        assert client.questions.unskip(first)["taken"]
        members = [member["id"] for member in client.questions.get(first)["members"]]
        assert len(client.questions.take_out(first, members[:1])["questions"]) == 2
        assert len(client.questions.split(second)["questions"]) == 2
        taken = client.questions.next("ben")
        client.questions.release(taken["id"], "ben")
        assert client.questions.next("cid")["id"] == taken["id"]
        assert client.classes.add("heron", dry_run=True)["message"] is None
        assert client.classes.add("heron")["taken"]
        new = client.classes.list(examples=0)[-1]
        assert new["name"] == "heron"
        assert client.classes.rename(new["id"], "crane")["taken"]
        assert client.classes.merge(new["id"], 0)["taken"]
        assert client.classes.remove(1)["taken"]
        assert [row["id"] for row in client.classes.list()] == [0, 2]


def test_exports_and_events(url):
    with Client(url) as client:
        table = list(csv.DictReader(io.StringIO(client.export("labels.csv").decode())))
        assert len(table) == 100
        assert len(client.export("predictions.jsonl").splitlines()) >= 100
        assert client.export("model.safetensors")
        events = list(client.events("0", until_end=True))
        middle = events[len(events) // 2]["id"]
        rest = list(client.events(middle, until_end=True))
        assert rest == events[len(events) // 2 + 1 :]
        with pytest.raises(ServiceError, match="three numbers") as refused:
            next(client.events("nonsense"))
        assert refused.value.status == 422


def test_the_async_client_does_the_same(url):
    async def story():
        async with AsyncClient(url) as client:
            decisions = await client.images.send(dict(files(3, start=200)))
            assert (await client.images.get(decisions[0]["id"]))["position"] == 101
            question = await client.questions.next("ana")
            done = await client.questions.answer(question["id"], "heron", labeller="ana")
            assert done["taken"]
            assert (await client.classes.add("crane"))["taken"]
            names = [row["name"] for row in await client.classes.list()]
            assert {"heron", "crane"} <= set(names)
            kinds = [event["kind"] async for event in client.events("0", until_end=True)]
            assert kinds.count("Labelled") == question["images"]
            with pytest.raises(ServiceError) as refused:
                await client.questions.get(9999)
            assert refused.value.status == 404

    asyncio.run(story())


@pytest.mark.parametrize("losses", [1, 2])
def test_a_lost_answer_is_asked_for_again_and_nothing_is_done_twice(url, asked, losses):
    service = httpx.URL(url)
    lossy = partial(losing_answers, service.host, service.port, losses)
    with lossy() as proxy, Client(proxy, retries=QUICK) as client:
        assert len(client.images.send(dict(files(4, start=200)))) == 4
    assert rows(asked, "SELECT count(*) FROM items WHERE place > 0") == [(104,)]
    with lossy() as proxy, Client(proxy, retries=QUICK) as client:
        assert client.questions.answer(1, "heron")["taken"]
    assert rows(asked, "SELECT count(*) FROM inbox") == [(1,)]


def test_a_service_that_is_not_there_is_an_error(asked):
    with Client("http://127.0.0.1:9", retries=Retries(most=1, pause=0.001)) as client:
        with pytest.raises(ServiceError, match="cannot be reached") as refused:
            client.status()
        assert refused.value.status is None

    async def ask():
        async with AsyncClient("http://127.0.0.1:9", retries=Retries(most=0)) as client:
            await client.status()

    with pytest.raises(ServiceError, match="cannot be reached"):
        asyncio.run(ask())


def test_a_refusal_is_not_repeated_and_says_why(url, asked):
    with Client(url) as client:
        with pytest.raises(ServiceError, match="question 1 is open") as refused:
            client.questions.correct(1, "heron")
        assert refused.value.status == 409
    assert rows(asked, "SELECT count(*) FROM inbox") == [(1,)]


def test_a_token_is_sent(asked):
    secret = "sixteen bytes or more"  # noqa: S105
    with serving(asked, token=Token(secret.encode())) as (plain, _):
        with Client(str(plain.base_url), token=secret) as client:
            assert client.status()["position"] == 100
        with Client(str(plain.base_url)) as client, pytest.raises(ServiceError, match="token"):
            client.status()


def test_a_busy_service_is_asked_again_when_it_says():
    busy = httpx.Response(429, headers={"Retry-After": "3"})
    assert QUICK.pause_after(0, busy) == 3
    assert QUICK.pause_after(4, busy) is None
    assert QUICK.pause_after(0, httpx.Response(409)) is None
    assert [QUICK.pause_after(attempt, None) for attempt in range(3)] == [0.01, 0.02, 0.04]
    assert Retries(most=99).pause_after(50, None) == 10


def test_lines_become_events():
    reader = EventReader()
    lines = [": csim", "", "id: 1.2.0", "event: Accepted", 'data: {"position": 2}', "", ""]
    events = [event for line in lines for event in reader.feed(line)]
    assert events == [{"id": "1.2.0", "kind": "Accepted", "body": {"position": 2}}]


@pytest.mark.parametrize(
    ("plain", "with_asyncio"),
    [
        (blocking.Client, asynchronous.AsyncClient),
        (blocking.Images, asynchronous.AsyncImages),
        (blocking.Questions, asynchronous.AsyncQuestions),
        (blocking.Classes, asynchronous.AsyncClasses),
    ],
)
def test_both_clients_have_the_same_methods_parameters_and_words(plain, with_asyncio):
    def methods(kind):
        return {
            name: (list(inspect.signature(method).parameters.values()), method.__doc__)
            for name, method in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }

    assert methods(plain) == methods(with_asyncio)
