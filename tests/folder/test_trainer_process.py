import os
import resource
import shutil
import signal
import sys

import pytest
from digit_folder import rows
from waiting import wait_for

from csim import checkpoint
from csim.build import build
from csim.errors import FolderError, StorageError, TrainingError
from csim.folder import trainer_process
from csim.folder.jobs import read_model, train
from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.folder.trainer_process import TrainerProcess
from csim.records import Job
from csim.settings import Settings


def finished(trainer):
    wait_for(lambda: trainer.is_done)
    return trainer.finish()


@pytest.fixture
def trainer(due):
    trainer = TrainerProcess(Layout(due))
    yield trainer
    trainer.stop()


@pytest.mark.slow
def test_a_job_that_fails_is_reported_and_the_next_one_is_done(due, trainer):
    job = Layout(due).job(2)
    whole = job.read_bytes()
    job.write_bytes(whole[:-100])
    trainer.begin(2)
    with pytest.raises(
        FolderError, match=r"model 2 must be trained to go on, which failed .*000002\.safetensors"
    ):
        finished(trainer)
    assert not Layout(due).model(2).exists()
    job.write_bytes(whole)
    trainer.begin(2)
    assert finished(trainer) > 0
    before = checkpoint.checksum(Layout(due).model(2))

    # If the trainer dies when it is idle, another one is started and gives the same model.
    os.kill(trainer._process.pid, signal.SIGKILL)
    trainer._process.wait()
    Layout(due).model(2).unlink()
    trainer.begin(2)
    assert finished(trainer) > 0
    assert checkpoint.checksum(Layout(due).model(2)) == before


@pytest.mark.slow
def test_a_trainer_that_is_killed_is_started_again_and_gives_the_same_model(due, monkeypatch):
    monkeypatch.setattr(trainer_process, "_BACK_OFF_SECONDS", (0.0, 0.0))
    train(Layout(due), 2)
    wanted = checkpoint.checksum(Layout(due).model(2))
    Layout(due).model(2).unlink()
    with Stream(due) as stream:
        for _ in range(2):
            trainer = stream._training._trainer
            killed = trainer._process
            killed.kill()
            wait_for(lambda t=trainer, k=killed: t.is_done or t._process is not k)
        stream.finish(ask=False)
    assert rows(due, "SELECT sha256 FROM models WHERE version = 2") == [(wanted,)]


def test_a_trainer_that_keeps_dying_is_told_with_an_error_of_its_own(trainer, monkeypatch, caplog):
    monkeypatch.setattr(trainer_process, "_BACK_OFF_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    trainer.begin(2)
    with pytest.raises(TrainingError, match=r"model 2 .* died 3 times, .*exit code 1.*nothing is"):
        finished(trainer)
    assert caplog.text.count("starting it again") == 2


def test_a_trainer_waits_longer_before_each_new_start():
    first, second = trainer_process._BACK_OFF_SECONDS
    assert 0 < first < second


@pytest.mark.slow
def test_a_full_disk_while_training_is_told_as_such(due, trainer):
    """The limit on a file's size stands for a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        trainer.begin(2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(StorageError, match=r"model 2 .* make room, then run again"):
        finished(trainer)
    assert [file.name for file in Layout(due).model(2).parent.iterdir()] == ["000001.safetensors"]


@pytest.mark.slow
def test_a_trainer_that_gets_no_memory_is_tried_again_and_then_told(trainer, monkeypatch):
    monkeypatch.setattr(trainer_process, "_BACK_OFF_SECONDS", (0.0, 0.0))
    before = resource.getrlimit(resource.RLIMIT_AS)
    trainer.begin(2)
    for _ in range(3):
        process = trainer._process
        resource.prlimit(process.pid, resource.RLIMIT_AS, (10_000_000, before[1]))
        wait_for(lambda p=process: trainer.is_done or trainer._process is not p)
    with pytest.raises(TrainingError, match="died 3 times"):
        finished(trainer)


@pytest.mark.slow
def test_a_trainer_that_runs_out_of_memory_in_the_middle_of_its_work_is_started_again(
    due, trainer, monkeypatch, caplog
):
    monkeypatch.setattr(trainer_process, "_BACK_OFF_SECONDS", (0.0, 0.0))
    trainer.begin(2)
    finished(trainer)  # from now on the process has imported all that it needs
    wanted = checkpoint.checksum(Layout(due).model(2))
    Layout(due).model(2).unlink()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.prlimit(trainer._process.pid, resource.RLIMIT_AS, (10_000_000, before[1]))
    trainer.begin(2)
    finished(trainer)
    assert "memory" in caplog.text
    assert caplog.text.count("starting it again") == 1
    assert checkpoint.checksum(Layout(due).model(2)) == wanted


@pytest.mark.slow
def test_a_trainer_works_in_its_own_folder_even_if_that_is_moved(due, trainer, tmp_path):
    trainer.begin(2)
    due.rename(tmp_path / "moved")
    finished(trainer)
    assert not due.exists()
    assert Layout(tmp_path / "moved").model(2).exists()


def test_a_job_gives_the_model_that_training_in_memory_gives(due):
    layout = Layout(due)
    train(layout, 2)
    state = checkpoint.read(layout.job(2))
    job = Job(**{name: state[name] for name in ("version", "seed", "images", "labels", "is_told")})
    model = build(Settings.from_dict(state["settings"])).trainer.train(job, read_model(layout, 1))
    found = read_model(layout, 2)
    assert found.class_ids == model.class_ids == (0, 1, 2, 3)
    assert (found.weights == model.weights).all()
    assert found.network.keys() == model.network.keys()
    assert all((found.network[name] == array).all() for name, array in model.network.items())


def test_a_model_that_is_there_and_whole_is_not_trained_again(due, trainer):
    train(Layout(due), 2)
    trainer.begin(2)
    assert trainer.is_done
    assert trainer.finish() == 0.0
    assert trainer._process is None


@pytest.mark.slow
def test_a_trainer_ends_with_its_parent_even_one_that_was_killed(due):
    parent = os.fork()
    if not parent:  # becomes a stream, starts a trainer and dies
        stream = Stream(due)
        (due / "pid").write_text(str(stream._training._trainer._process.pid))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(parent, 0)
    child = int((due / "pid").read_text())
    wait_for(lambda: not is_running(child))
    (due / "pid").unlink()
    with Stream(due, trainer=None) as stream:
        assert stream.position == 200


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False
