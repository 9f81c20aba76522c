"""The order of the test files: long ones start first, so that no process ends with one alone."""

from pathlib import Path

FLOWS = Path(__file__).parents[1] / "flow"


def test_files_with_a_long_test_come_first(request):
    long_files = {item.path for item in request.session.items if item.get_closest_marker("long")}
    is_short = [item.path not in long_files for item in request.session.items]
    assert is_short == sorted(is_short)


def test_some_flows_are_marked_long():
    assert sum("@pytest.mark.long" in path.read_text() for path in FLOWS.glob("test_*.py")) >= 3


def test_what_is_long_is_slow_too(request):
    for item in request.session.items:
        if item.get_closest_marker("long"):
            assert item.get_closest_marker("slow"), item.nodeid
