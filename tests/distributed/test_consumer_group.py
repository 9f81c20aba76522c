import pytest

from csim.distributed.consumer_group import ConsumerGroup
from csim.errors import BrokerError


@pytest.fixture
def group(broker, name):
    group = ConsumerGroup(broker, name, "csim", "one")
    group.ensure()
    return group


def fill(server, name, count):
    return [server.client().xadd(name, {"n": number}).decode() for number in range(count)]


def test_a_group_is_made_once_and_starts_with_the_oldest_message(server, broker, name):
    numbers = fill(server, name, 3)
    group = ConsumerGroup(broker, name, "csim", "one")
    group.ensure()
    assert [entry.id for entry in group.read(2, 10)] == numbers[:2]
    group.ensure()
    assert [entry.id for entry in group.read(2, 10)] == numbers[2:]
    assert group.read(2, 10) == []


def test_own_messages_are_listed_over_many_pages_without_those_in_flight(server, name, group):
    numbers = fill(server, name, 600)
    assert len(group.read(600, 10)) == 600
    listed = list(group.own(set(numbers[:5])))
    assert [row.id for row in listed] == numbers[5:]
    assert {row.deliveries for row in listed} == {1}


def test_a_message_that_is_claimed_counts_as_given_out_again(server, broker, name, group):
    numbers = fill(server, name, 2)
    group.read(2, 10)
    heir = ConsumerGroup(broker, name, "csim", "two")
    assert heir.claim([]) == []
    assert list(heir.own(())) == []
    [entry, _] = heir.claim(list(heir.abandoned((), 0)))
    assert (entry.id, entry.deliveries, entry.fields) == (numbers[0], 2, {b"n": b"0"})
    assert [row.id for row in heir.own(())] == numbers
    assert heir.claim(list(heir.own(())), seconds=60) == []  # not idle for so long


def test_a_message_is_deleted_when_the_only_group_acknowledges_it(server, broker, name, group):
    numbers = fill(server, name, 2)
    group.read(2, 10)
    assert group.acknowledge([]) == []
    broker.transaction(group.acknowledge(numbers[:1]))
    assert server.client().xlen(name) == 1
    server.client().xgroup_create(name, "others", "0")
    broker.transaction(group.acknowledge(numbers[1:]))
    assert server.client().xlen(name) == 1
    assert list(group.own(())) == []


def test_a_key_of_another_type_is_an_error(server, broker, name):
    server.client().set(f"{name}-text", "text")
    with pytest.raises(BrokerError, match="WRONGTYPE"):
        ConsumerGroup(broker, f"{name}-text", "csim", "one").ensure()
