import pytest

from csim.distributed.address import Address, Credentials, is_address
from csim.errors import InputError


def test_an_address_names_server_stream_and_encryption():
    assert Address.from_text("redis://broker:7000/pond") == Address("broker", 7000, "pond")
    assert Address.from_text("rediss://[::1]/a%2Fb/c?db=2") == Address(
        "::1", 6379, "a/b/c", True, 2
    )
    assert str(Address("broker", 7000, "pond", is_encrypted=True)) == "rediss://broker:7000/pond"


@pytest.mark.parametrize(
    "text",
    [
        "http://broker/pond",
        "redis://broker",
        "redis://broker/",
        "redis:///pond",
        "redis://broker:seven/pond",
        "redis://broker:0/pond",
        "redis://broker/pond?db=one",
        "redis://broker/pond?password=heron",
    ],
)
def test_another_text_is_refused_with_the_form_that_is_wanted(text):
    with pytest.raises(InputError, match="redis://host:port/stream"):
        Address.from_text(text)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(InputError, match="CSIM_REDIS_PASSWORD_FILE") as refusal:
        Address.from_text("redis://me:heron@broker/pond")
    assert "heron" not in str(refusal.value)


def test_a_file_name_is_no_address():
    assert is_address("rediss://broker/pond")
    assert not is_address("predictions.jsonl")
    assert not is_address("redis/predictions.jsonl")


def test_user_and_password_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("CSIM_REDIS_USER", "me")
    monkeypatch.setenv("CSIM_REDIS_PASSWORD", "heron")
    found = Credentials.from_environment()
    assert (found.user, found.password) == ("me", "heron")
    assert "heron" not in repr(found)


def test_a_file_may_hold_the_password(monkeypatch, tmp_path):
    (tmp_path / "secret").write_text("heron\n")
    monkeypatch.setenv("CSIM_REDIS_PASSWORD", "crane")
    monkeypatch.setenv("CSIM_REDIS_PASSWORD_FILE", str(tmp_path / "secret"))
    assert Credentials.from_environment() == Credentials(None, "heron")
    monkeypatch.setenv("CSIM_REDIS_PASSWORD_FILE", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="must name a file with the password"):
        Credentials.from_environment()
