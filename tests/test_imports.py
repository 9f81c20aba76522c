"""What can be seen without running anything: imports, sizes, names."""

import ast
import graphlib
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import csim
from csim.records import Item

PACKAGE = Path(csim.__file__).parent
TESTS = Path(__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("torch", "sklearn", "matplotlib", "transformers")


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def run_python(code):
    """Run code in a fresh interpreter; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_csim_stays_light():
    assert (
        run_python(
            f"import csim, sys; print([name for name in {HEAVY} if name in sys.modules])"
        ).strip()
        == "[]"
    )


def test_opening_a_stream_loads_neither_scikit_learn_nor_all_distributions_of_scipy():
    slow = ("sklearn", "scipy.stats")
    code = f"import csim.folder.run, sys; print([name for name in {slow} if name in sys.modules])"
    assert run_python(code).strip() == "[]"


@pytest.mark.slow
def test_opening_lite0_does_not_load_transformers():
    code = """
import sys
from csim.build import open_frozen
from csim.settings import Settings
open_frozen(Settings.photographs(encoder="lite0"))
print("efficientnet_lite_pytorch" in sys.modules, "transformers" in sys.modules)
"""
    assert run_python(code).strip() == "True False"


def test_asking_for_help_stays_light():
    code = f"""
import runpy, sys
sys.argv = ["csim", "--help"]
try:
    runpy.run_module("csim", run_name="__main__")
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print([name for name in {HEAVY} if name in sys.modules])
"""
    lines = run_python(code).strip().splitlines()
    assert len(lines) > 5
    assert lines[-1] == "[]"


def test_every_public_name_is_found():
    assert set(csim.__all__) > {"StreamClassifier", "Settings", "CsimError", "__version__"}
    for name in csim.__all__:
        assert getattr(csim, name) is not None
    for name in set(csim.__all__) - {"__version__"}:
        assert getattr(csim, name).__name__ == name


def test_a_name_that_is_not_there_is_missing_as_usual():
    with pytest.raises(AttributeError, match="no attribute 'Sttings'"):
        _ = csim.Sttings
    assert not hasattr(csim, "nonsense")


def test_every_module_can_be_imported_and_has_a_docstring():
    for found in pkgutil.walk_packages([str(PACKAGE)], "csim."):
        if found.name != "csim.__main__":
            assert importlib.import_module(found.name).__doc__, f"{found.name} has no docstring"


def is_for_types_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports_at_load(tree):
    """Return the names that a module imports when it is loaded, in their full form."""
    found = []
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if is_for_types_only(node) or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            found += [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        else:
            waiting += list(ast.iter_child_nodes(node))
    return found


def test_no_module_imports_itself_in_a_circle():
    graph = {
        name: {other for other in imports_at_load(ast.parse(path.read_text())) if other in MODULES}
        - {name, "csim"}
        for name, path in MODULES.items()
    }
    assert any(graph.values())
    order = list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError
    assert order.index("csim.records") < order.index("csim.engine")


def test_no_module_takes_public_names_from_the_package_itself():
    public = {f"csim.{name}" for name in csim.__all__} - {"csim.__version__"}
    for name, path in MODULES.items():
        assert not public & set(imports_at_load(ast.parse(path.read_text()))), (
            f"{name} imports from csim itself"
        )


def lines_of(path):
    return len(path.read_text().splitlines())


def test_no_file_is_longer_than_four_hundred_lines():
    assert {path.name: lines_of(path) for path in FILES if lines_of(path) > 400} == {}


def test_the_engine_stays_within_a_hundred_and_eighty_lines():
    assert lines_of(PACKAGE / "engine.py") <= 180


def body_lines(node):
    """Return the lines of a function without its docstring."""
    length = node.end_lineno - node.lineno + 1
    first = node.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        length -= first.end_lineno - first.lineno + 1
    return length


def definitions(kind):
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, kind):
                yield f"{name}.{node.name}", node


def test_no_function_is_longer_than_fifty_lines():
    sizes = {
        name: body_lines(node) for name, node in definitions(ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(sizes) > 100
    assert {name: size for name, size in sizes.items() if size > 50} == {}


def test_nine_of_ten_functions_are_under_twenty_five_lines():
    sizes = [body_lines(node) for _, node in definitions(ast.FunctionDef | ast.AsyncFunctionDef)]
    assert sum(size < 25 for size in sizes) >= 0.9 * len(sizes)


def test_no_file_has_a_name_that_says_nothing():
    banned = {
        "utils",
        "util",
        "helpers",
        "helper",
        "common",
        "misc",
        "manager",
        "processor",
        "data",
        "info",
        "tmp",
    }
    named = [
        path for path in [*FILES, *TESTS.rglob("*.py")] if path.stem.removeprefix("test_") in banned
    ]
    assert named == []


def test_there_is_nearly_as_much_test_code_as_code():
    """The aim is as much as code; below nine tenths something was left untested."""
    code = sum(lines_of(path) for path in FILES)
    tests = sum(lines_of(path) for path in TESTS.rglob("*.py"))
    assert tests >= 0.9 * code


def test_items_have_no_label():
    assert set(Item.__slots__) == {"id", "position", "image", "frozen"}
