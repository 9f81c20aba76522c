"""People answer questions on the page: by keys, by forms, two at a time."""

import pytest
from web.page.conftest import NAMES, next_question, question_id, url_of
from web.serving import files, post

pytestmark = pytest.mark.slow


def status(client, number):
    return client.get(f"/v1/questions/{number}").json()["status"]


def answer_of(client, number):
    return client.get(f"/v1/questions/{number}").json()["class"]


def open_count(client):
    return len(client.get("/v1/questions?status=open&limit=500").json()["questions"])


def settled(page):
    """Wait until every answer of the page is confirmed."""
    page.wait_for_function("() => localStorage.getItem('csim-unsent') === '[]'")


def test_one_answers_all_questions_by_keyboard_alone(service, open_page):
    page = open_page(url_of(service))
    seen = set()
    number = question_id(page)
    while number is not None:
        assert number not in seen
        seen.add(number)
        page.keyboard.press("Enter" if len(seen) % 2 else "2")
        number = next_question(page, number)
    assert len(seen) == 20
    assert "Nothing to answer now" in page.inner_text("#stage")
    settled(page)
    assert open_count(service) == 0
    page.wait_for_function("() => document.querySelector('[data-live=today]').textContent === '20'")


def test_names_are_typed_and_no_key_clashes_with_typing(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    page.keyboard.press("/")
    page.keyboard.type("skua 1x?/")
    assert question_id(page) == number
    assert page.input_value("#name") == "skua 1x?/"
    page.keyboard.press("Escape")
    assert page.input_value("#name") == ""
    page.keyboard.press("/")
    page.keyboard.type("skua")
    page.keyboard.press("Enter")
    next_question(page, number)
    settled(page)
    assert answer_of(service, number)["name"] == "skua"
    page.wait_for_selector("#taught >> text=now named skua")
    assert page.locator("#names option[value=skua]").count() == 1


def test_an_answer_is_undone_and_the_question_comes_back(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    page.keyboard.press("1")
    after = next_question(page, number)
    settled(page)
    assert status(service, number) == "answered"
    page.keyboard.press("u")
    assert next_question(page, after) == number
    assert status(service, number) == "undone"
    page.keyboard.press("2")
    assert next_question(page, number) == after
    settled(page)
    assert status(service, number) == "answered"


def test_a_question_is_skipped_and_asked_again(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    page.keyboard.press("k")
    next_question(page, number)
    settled(page)
    assert status(service, number) == "skipped"
    page.keyboard.press("u")
    page.wait_for_selector(f"form.question[data-id='{number}']")
    assert status(service, number) == "undone"
    page.keyboard.press("k")
    next_question(page, number)
    settled(page)
    page.goto(url_of(service) + "/history?show=skipped")
    page.click("text=Ask again")
    assert question_id(page) == number
    assert status(service, number) == "undone"


def test_a_group_is_split_its_parts_are_asked_and_that_is_undone(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    before = open_count(service)
    page.keyboard.press("s")
    part = next_question(page, number)
    assert status(service, number) == "split"
    assert open_count(service) == before + 1
    assert part > 20
    settled(page)
    assert "Undo the split" in service.get(f"/questions/{number}").text
    page.keyboard.press("u")
    assert next_question(page, part) == number
    assert status(service, number) == "undone"
    assert status(service, part) == "expired"
    page.keyboard.press("Enter")
    assert next_question(page, number) <= 20
    settled(page)
    assert status(service, number) == "answered"


def test_an_image_is_taken_out_the_rest_is_named_and_that_is_undone(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    group = [member["id"] for member in service.get(f"/v1/questions/{number}").json()["members"]]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    out = page.get_attribute(".grid :checked", "value")
    page.keyboard.press("Enter")
    part = next_question(page, number)
    settled(page)
    assert [member["id"] for member in service.get(f"/v1/questions/{part}").json()["members"]] == [
        out
    ]
    rest = next(
        entry["id"] for entry in service.get("/v1/questions?status=answered").json()["questions"]
    )
    named = [member["id"] for member in service.get(f"/v1/questions/{rest}").json()["members"]]
    assert sorted(named) == sorted(set(group) - {out})
    page.keyboard.press("u")
    assert next_question(page, part) == rest
    page.keyboard.press("u")
    assert next_question(page, rest) == number


def test_two_people_never_see_the_same_question(service, open_page):
    pages = [open_page(url_of(service)), open_page(url_of(service))]
    seen = [[question_id(page)] for page in pages]
    for _ in range(4):
        for page, numbers in zip(pages, seen, strict=True):
            page.keyboard.press("Enter")
            numbers.append(next_question(page, numbers[-1]))
    assert len(set(seen[0] + seen[1])) == 10


def test_a_new_browser_gets_a_question_that_nobody_has_and_answers_it_and_the_next(
    service, open_page
):
    other = question_id(open_page(url_of(service)))
    page = open_page(url_of(service), "/questions")
    seen = [question_id(page)]
    for _ in range(3):
        page.keyboard.press("Enter")
        seen.append(next_question(page, seen[-1]))
    settled(page)
    assert other not in seen
    assert {status(service, number) for number in seen[:3]} == {"answered"}


def test_a_class_that_an_answer_makes_is_offered_at_once(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    page.keyboard.press("/")
    page.keyboard.type("skua")
    page.keyboard.press("Enter")
    number = next_question(page, number)
    page.click(".other-classes button:has-text('skua')")
    next_question(page, number)
    settled(page)
    assert answer_of(service, number)["name"] == "skua"


def test_the_essential_path_works_without_javascript(service, open_page):
    page = open_page(url_of(service), java_script_enabled=False)
    first = page.get_attribute("form.question", "data-id")
    page.fill("#name", "tern")
    page.press("#name", "Enter")
    assert answer_of(service, first)["name"] == "tern"
    second = page.get_attribute("form.question", "data-id")
    assert second != first
    assert "Named tern" in page.inner_text("main > .banner")
    page.click(".guess >> nth=1")
    assert status(service, second) == "answered"
    third = page.get_attribute("form.question", "data-id")
    page.click(".grid li:nth-child(2) input")
    page.click(".guess >> nth=0")
    assert status(service, third) == "split"
    fourth = page.get_attribute("form.question", "data-id")
    page.click("button:has-text('Skip')")
    assert status(service, fourth) == "skipped"
    page.click(".lessons-list >> text=Ask again")
    assert page.get_attribute("form.question", "data-id") == fourth


def test_names_are_shown_as_they_are(service, open_page):
    page = open_page(url_of(service))
    shown = page.locator(".guess bdi").all_inner_texts()
    assert sorted(shown) == sorted(NAMES)


def test_a_new_question_appears_by_itself(service, open_page):
    page = open_page(url_of(service))
    for _ in range(20):
        number = question_id(page)
        page.keyboard.press("Enter")
        next_question(page, number)
    settled(page)
    assert page.query_selector(".empty")
    post(service, files(120, start=200)).raise_for_status()
    post(service, files(120, start=320)).raise_for_status()
    page.wait_for_selector("form.question")
    page.wait_for_function("() => Number(document.querySelector('[data-live=open]').textContent)")


def test_help_shows_the_keys_and_keeps_them_from_answering(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("k")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert question_id(page) == number


def test_a_group_is_called_junk_and_that_is_undone(service, open_page):
    page = open_page(url_of(service))
    number = question_id(page)
    page.keyboard.press("e")
    after = next_question(page, number)
    settled(page)
    assert service.get(f"/v1/questions/{number}").json()["is_junk"]
    page.wait_for_selector("#taught >> text=now junk")
    page.keyboard.press("u")
    assert next_question(page, after) == number
    assert status(service, number) == "undone"
