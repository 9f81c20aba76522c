"""The OpenAPI document: complete, with examples, and true for whatever a client sends."""

import shutil
from collections import Counter
from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from web.serving import serving

from csim.web.limits import Limits

EXAMPLES = 12  # per operation and mode
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def document(shown):
    return shown.get("/v1/openapi.json").json()


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def resolve(document, schema):
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def has_example(document, schema, depth=0):
    """Tell whether a schema has an example, or its parts have."""
    schema = resolve(document, schema)
    if {"example", "examples", "enum", "const", "default"} & set(schema) or depth > 6:
        return True
    if schema.get("type") in ("boolean", "null"):
        return True
    parts = list(schema.get("properties", {}).values()) + schema.get("anyOf", [])
    parts += [schema["items"]] if "items" in schema else []
    parts += schema.get("allOf", [])
    return bool(parts) and any(has_example(document, part, depth + 1) for part in parts)


def test_every_operation_of_the_issue_is_there(document):
    found = {operation["operationId"] for _, operation in operations(document)}
    assert found == {
        "send_images", "get_image", "get_picture", "list_questions", "take_next_question",
        "get_question", "lease_question", "release_question", "answer_question", "junk_question",
        "label_images",
        "correct_question", "skip_question", "unskip_question", "undo_question", "split_question",
        "take_out_images", "list_classes", "add_class", "rename_class", "merge_class",
        "remove_class", "restore_class", "follow_events", "get_status", "get_report", "get_export",
        "sign_in", "sign_out", "get_health", "get_readiness", "get_metrics",
    }  # fmt: skip


def test_every_operation_has_a_description_and_examples(document):
    for name, operation in operations(document):
        assert operation["description"], name
        contents = list(operation.get("requestBody", {}).get("content", {}).values())
        good = next(answer for code, answer in operation["responses"].items() if code < "300")
        contents += list(good.get("content", {}).values())
        for content in contents:
            assert "example" in content or has_example(document, content["schema"]), name
        for parameter in operation.get("parameters", []):
            assert "description" in parameter or "description" in parameter["schema"], name


def test_every_refusal_is_documented_as_a_problem(document):
    for name, operation in operations(document):
        for code in ("400", "401", "403", "413", "422", "429", "503"):
            assert code in operation["responses"], f"{name} {code}"


@pytest.fixture(scope="module")
def fuzzed(asked_base, tmp_path_factory):
    root = shutil.copytree(asked_base, tmp_path_factory.mktemp("fuzzed") / "stream")
    with serving(root, limits=Limits(requests_per_second=1e6, stop_seconds=5)) as (client, _):
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_whatever_a_client_sends_the_answer_is_documented(fuzzed, document, mode):
    schema = schemathesis.openapi.from_dict(document)
    tried = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path == "/v1/report":  # each page takes seconds
            continue
        fuzz(operation, mode, str(fuzzed.base_url), tried)
    assert len(tried) > 20
    assert sum(tried.values()) > 150


def fuzz(operation, mode, url, tried):
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def act(case):
        if operation.path == "/v1/events":  # otherwise it is endless
            case.query = {**(case.query or {}), "until_end": "true"}
        case.call_and_validate(base_url=url, checks=CHECKS, timeout=600)
        tried[operation.label] += 1

    with suppress(Unsatisfiable):  # nothing can be wrong about a request without parameters
        act()
