import os
import signal

import pytest
from waiting import wait_for

from csim import checkpoint
from csim.build import build
from csim.errors import FolderError
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
