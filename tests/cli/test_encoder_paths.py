"""A stream folder opens an encoder in a local file from any directory."""

import pytest
from embed.photographs import draw_photographs
from PIL import Image
from tiny_encoder import write_encoder
from tiny_hf import save_model
from typer.testing import CliRunner

from csim.cli.choose_encoder import with_absolute_path
from csim.cli.main import app
from csim.folder.reader import Reader

SIDE = 16


def csim(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in a directory with colour images: known/CLASS/ and incoming/."""
    (tmp_path / "here" / "incoming").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    for index, image in enumerate(draw_photographs(12, SIDE)):
        folder = tmp_path / "here" / ("incoming" if index >= 8 else f"known/{index % 2}")
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / f"{index}.png")
    return tmp_path / "here"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["--encoder", "onnx:e.onnx"], "onnx:{here}/e.onnx"),
        (["--set", "encoder=onnx:./e.onnx"], "onnx:{here}/e.onnx"),
        (["--encoder", "hf:model"], "hf:{here}/model"),
    ],
)
def test_a_folder_made_with_a_relative_path_runs_from_another_directory(
    here, tmp_path, monkeypatch, given, kept
):
    write_encoder(here / "e.onnx", SIDE)
    save_model(here / "model")
    csim("init", tmp_path / "stream", "--labelled", "known", *given)
    monkeypatch.chdir("/")
    csim("run", tmp_path / "stream", here / "incoming", "--out", tmp_path / "predictions.jsonl")
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 4
    with Reader(tmp_path / "stream") as reader:
        assert reader.config.settings.encoder == kept.format(here=here)
        assert reader.config.encoder.name == kept.format(here=here)


@pytest.mark.parametrize(
    "name", ["own", "lite0", "hf:facebook/dinov2-small", "hf:lab/tiny@abc", "hf:./gone"]
)
def test_what_is_no_local_file_stays_as_it_is(here, name):
    assert with_absolute_path(name) == name
