"""Work side by side: the same outcomes in the same order, and no process left behind."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from bench import some_work
from waiting import wait_for

from csim import errors
from csim.bench.processes import each
from csim.errors import CsimError, InputError, SettingsError
from csim.threads import one_thread

pytestmark = pytest.mark.slow

CASES = [3, 1, 4, 1, 5]


def worked(jobs):
    steps = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("csim.bench.processes.time", SimpleNamespace(monotonic=lambda: 1000.0))
        outcomes = each(some_work.count, CASES, jobs=jobs, on_step=lambda *step: steps.append(step))
    return outcomes, steps


@pytest.fixture(scope="module")
def alone():
    return worked(1)


@pytest.fixture(scope="module")
def side_by_side():
    """Allow more processes than there are cases, and more threads than one."""
    before = set(multiprocessing.active_children())
    crowd = set()

    def on_step(*step):
        steps.append(step)
        crowd.update(set(multiprocessing.active_children()) - before)

    steps = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "2")
        outcomes = each(some_work.count, CASES[:2], jobs=8, on_step=on_step)
    return outcomes, steps, crowd


def test_outcomes_come_in_the_order_of_the_cases(alone, side_by_side):
    assert [outcome[0] for outcome in alone[0]] == [6, 2, 8, 2, 10]
    assert [outcome[0] for outcome in side_by_side[0]] == [6, 2]


def test_the_end_of_every_case_is_told_once_and_last(alone, side_by_side):
    for outcomes, steps, *_ in (alone, side_by_side):
        for place in range(len(outcomes)):
            told = [(done, total) for case, done, total in steps if case == place]
            assert told == sorted(told)
            assert told[-1] == (10, 10)
            assert told.count((10, 10)) == 1
        assert {case for case, _, _ in steps} == set(range(len(outcomes)))


def test_nobody_is_told_more_often_than_a_person_can_read(alone):
    assert len(alone[1]) == 2 * len(CASES)  # the first part and the last: no time passes


def test_every_process_computes_with_one_thread(alone, side_by_side):
    assert {outcome[1] for outcome in [*alone[0], *side_by_side[0]]} == {1}


def test_one_job_works_here_and_several_elsewhere(alone, side_by_side):
    assert {outcome[2] for outcome in alone[0]} == {os.getpid()}
    assert os.getpid() not in {outcome[2] for outcome in side_by_side[0]}


def test_there_are_no_more_processes_than_cases_and_none_afterwards(side_by_side):
    assert 1 <= len(side_by_side[2]) <= 2
    assert not any(process.is_alive() for process in side_by_side[2])


def test_an_interrupt_is_left_to_the_parent(side_by_side):
    assert all(outcome[3] for outcome in side_by_side[0])


def test_a_single_case_needs_no_other_process():
    assert each(some_work.count, [7], jobs=8)[0][2] == os.getpid()


def test_no_cases_give_no_outcomes():
    assert each(some_work.count, [], jobs=2) == []


def test_the_number_of_threads_is_restored_even_after_an_error():
    before = torch.get_num_threads()
    inside = []

    def fail():
        inside.append(torch.get_num_threads())
        raise InputError("no")

    try:
        torch.set_num_threads(2)
        with pytest.raises(InputError), one_thread():
            fail()
        assert (inside, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_than_one_process_is_refused(jobs):
    with pytest.raises(SettingsError, match=f"jobs must be 1 or more, got {jobs}"):
        each(some_work.count, CASES, jobs=jobs)


def our_errors():
    found = [getattr(errors, name) for name in dir(errors)]
    return [each for each in found if isinstance(each, type) and issubclass(each, CsimError)]


@pytest.mark.parametrize("error", our_errors(), ids=lambda error: error.__name__)
def test_our_errors_survive_the_way_between_processes(error):
    sent = pickle.loads(pickle.dumps(error("it must be 1, got 2; give 1")))  # noqa: S301
    assert type(sent) is error
    assert str(sent) == "it must be 1, got 2; give 1"


def test_an_error_here_is_raised_as_it_is(tmp_path):
    with pytest.raises(InputError, match="the first case cannot be taken; leave it out"):
        each(partial(some_work.refuse_the_first, folder=tmp_path), [0, 1])
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_worker_is_raised_here_and_stops_the_rest_and_nobody_else(tmp_path):
    bystander = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    bystander.start()
    before = set(multiprocessing.active_children())
    try:
        with pytest.raises(InputError, match=r"^the first case cannot be taken; leave it out$"):
            each(partial(some_work.refuse_the_first, folder=tmp_path), [1, 0, 2, 3, 4], jobs=2)
        workers = (
            set(multiprocessing.active_children()) - before
        )  # ended, though Python may not have noticed yet
        assert not any(is_alive(worker.pid) for worker in workers)
        assert bystander.is_alive()
    finally:
        bystander.kill()
        bystander.join()
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_is_killed_is_told_in_our_words():
    with pytest.raises(
        CsimError,
        match="one was killed; start again, with fewer jobs if memory ran out",
    ):
        each(some_work.end_at_once, [1, 2], jobs=2)


PARENT = """
import sys
from functools import partial
from bench.some_work import sleep
from csim.bench.processes import each
if __name__ == "__main__":
    each(partial(sleep, folder=sys.argv[1]), [1, 2], jobs=2)
"""


def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    script = tmp_path / "parent.py"
    folder = tmp_path / "workers"
    script.write_text(PARENT)
    folder.mkdir()
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen(
        [sys.executable, script, folder],
        env=os.environ | {"PYTHONPATH": paths},
        stderr=subprocess.DEVNULL,
    )
    workers = []
    try:
        wait_for(lambda: len(list(folder.iterdir())) == 2)
        workers = [int(path.name) for path in folder.iterdir()]
        assert all(is_alive(worker) for worker in workers)
        parent.kill()
        wait_for(lambda: not any(is_alive(worker) for worker in workers))
    finally:
        parent.kill()
        parent.wait()
        for worker in filter(is_alive, workers):
            os.kill(worker, signal.SIGKILL)


def is_alive(pid):
    """Tell whether a process runs; one that has ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
