"""How the code is written, as far as a script can judge: lines, names, classes, SQL."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = sorted((ROOT / "csim").rglob("*.py"))
FILES = [*CODE, *sorted((ROOT / "tests").rglob("*.py"))]
SQL = re.compile(r"[\"'](SELECT|INSERT|UPDATE \w+ SET|DELETE FROM|CREATE (TABLE|VIEW|INDEX))\b")


@cache
def nodes(path):
    return list(ast.walk(ast.parse(path.read_text())))


def where(path, node):
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def is_parallel(node):
    """Tell whether a node assigns several values to several names in one statement."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and any(isinstance(target, ast.Tuple) for target in node.targets)
    )


def test_fewer_than_two_in_a_hundred_lines_are_longer_than_a_hundred_characters():
    lines = [line for path in FILES for line in path.read_text().splitlines()]
    assert sum(len(line) > 100 for line in lines) < 0.02 * len(lines)


def test_fewer_than_two_in_a_hundred_assignments_are_parallel():
    kinds = ast.Assign | ast.AugAssign | ast.AnnAssign
    found = [(path, node) for path in FILES for node in nodes(path) if isinstance(node, kinds)]
    parallel = [where(path, node) for path, node in found if is_parallel(node)]
    assert len(parallel) < 0.02 * len(found), parallel


def test_no_class_has_more_than_fifteen_methods_but_the_classifier():
    sizes = {
        node.name: sum(isinstance(part, ast.FunctionDef) for part in node.body)
        for path in CODE
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
    }
    assert len(sizes) > 100
    assert [name for name, size in sizes.items() if size > 15] == ["StreamClassifier"]


def test_no_loop_variable_is_called_own():
    loops = ast.For | ast.AsyncFor | ast.comprehension
    found = [
        where(path, name)
        for path in FILES
        for node in nodes(path)
        if isinstance(node, loops)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name) and name.id == "own"
    ]
    assert found == []


def test_sql_lives_in_the_stream_folder_alone():
    inside = [path for path in CODE if SQL.search(path.read_text())]
    assert len(inside) > 3
    assert {path.relative_to(ROOT).parts[1] for path in inside} == {"folder"}


@pytest.mark.parametrize("text", ['rows("SELECT 1")', "run('DELETE FROM items')"])
def test_the_search_for_sql_finds_some(text):
    assert SQL.search(text)
