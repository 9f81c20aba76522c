"""Image models of the transformers library: DINOv2, image towers of CLIP and SigLIP, ConvNeXt.

csim reads safetensors alone and runs no code that comes with a model. A directory must hold
`config.json`, `preprocessor_config.json` and the weights, as `save_pretrained` writes them. A name
is looked up in the local cache of the Hugging Face hub, and downloaded if it is missing there. Its
revision is part of the encoder's identity, so a stream keeps the revision that it began with.

Pictures are stretched to the size that the model takes, as everywhere in csim. Scaling is as
`preprocessor_config.json` says.

transformers fills missing weights with random numbers, so csim refuses them: a restart would change
every vector. Checkpoints of DINO and classifiers such as ViT are saved without a pooler. csim then
leaves the pooler out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from csim.embed.weights import digest, first_line, import_extra, refuse_damaged
from csim.errors import EncoderError
from csim.records import EncoderId, Floats, Images

_CHUNK = 8  # images per forward pass
_FILES = ("config.json", "preprocessor_config.json")
_BYTE = 1 / 255
_MOST_NAMES = 3  # of missing tensors in an error message


class HfEncoder:
    """Embed images with a model of transformers.

    Parameters
    ----------
    source
        A directory, or a name on the hub, which may end in "@" and a revision.
    device
        The device to run it on.
    revision
        The revision to use if `source` names none; the newest if empty.
    """

    def __init__(self, source: str, device: torch.device, *, revision: str = "") -> None:
        name = f"hf:{source}"
        transformers = import_extra("transformers", name, "hf")
        folder, revision = _find(source, revision)
        weights = sorted(folder.glob("*.safetensors"))
        files = [folder / file for file in _FILES]
        if not weights or not all(file.is_file() for file in files):
            raise EncoderError(
                f"{folder} must hold {', '.join(_FILES)} and weights as .safetensors; "
                "save the model and its image processor there with save_pretrained"
            )
        self._scaling = _Scaling(folder)
        self.image_shape: tuple[int, ...] | None = (*self._scaling.size, 3)
        self.identity: EncoderId | None = EncoderId(name, digest([*weights, *files]), revision)
        self._device = device
        model, self._has_pooler = _load(transformers, folder)
        self._model = model.eval().to(device)

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d), of images of `image_shape`."""
        parts = []
        with torch.inference_mode():
            for start in range(0, len(images), _CHUNK):
                inputs = self._scaling(images[start : start + _CHUNK]).to(self._device)
                vectors = _vectors(self._model, inputs, has_pooler=self._has_pooler)
                parts.append(vectors.float().cpu().numpy())
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)


class _Scaling:
    """Scale pixels as a model's image processor does."""

    def __init__(self, folder: Path) -> None:
        try:
            values = json.loads((folder / "preprocessor_config.json").read_text())
            crop = values.get("crop_size") if values.get("do_center_crop", True) else None
            self.size = _size(crop or values["size"])
            factor = values.get("rescale_factor", _BYTE) if values.get("do_rescale", True) else 1
            is_normalised = values.get("do_normalize", True)
            mean = values["image_mean"] if is_normalised else [0.0] * 3
            spread = values["image_std"] if is_normalised else [1.0] * 3
            self._factor = float(factor)
            self._mean = torch.tensor(mean, dtype=torch.float32)[:, None, None]
            self._spread = torch.tensor(spread, dtype=torch.float32)[:, None, None]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else first_line(error)
            raise EncoderError(
                f"{folder / 'preprocessor_config.json'} must say size, image_mean and image_std; "
                f"csim cannot load it: {reason}; save the image processor again with "
                "save_pretrained"
            ) from error

    def __call__(self, images: Images) -> torch.Tensor:
        inputs = torch.from_numpy(np.array(images)).permute(0, 3, 1, 2).float() * self._factor
        return (inputs - self._mean) / self._spread


def _size(value: Any) -> tuple[int, int]:  # noqa: ANN401
    """Return height and width of what an image processor calls a size."""
    if isinstance(value, int):
        return value, value
    if "height" in value:
        return int(value["height"]), int(value["width"])
    return int(value["shortest_edge"]), int(value["shortest_edge"])


def _load(transformers: Any, folder: Path) -> tuple[Any, bool]:  # noqa: ANN401
    """Return the model in a folder, and whether its pooler was saved too."""
    try:
        with _quiet(transformers):
            model, found = transformers.AutoModel.from_pretrained(
                folder,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                ignore_mismatched_sizes=True,  # they are refused below, with their names
                output_loading_info=True,
            )
    # transformers raises its own and the safetensors library's errors for bad files.
    except Exception as error:
        raise refuse_damaged(str(folder), error) from error
    _refuse(folder, "of another shape", [key for key, *_ in found["mismatched_keys"]])
    missing = set(found["missing_keys"])
    pooler = {key for key in missing if key.startswith("pooler.")}
    _refuse(folder, "missing", missing - pooler)
    return model, not pooler


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:  # noqa: ANN401
    """Keep bars and reports of transformers out of a command's output."""
    logging = transformers.utils.logging
    logging.disable_progress_bar()
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def _refuse(folder: Path, what: str, keys: Iterable[str]) -> None:
    """Raise an `EncoderError` if there are any such tensors."""
    if names := sorted(keys):
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        raise EncoderError(
            f"{folder} must hold all weights of the model that its config.json describes; "
            f"{what}: {', '.join(names[:_MOST_NAMES])}{more}; "
            "save the complete model there with save_pretrained, or copy it again"
        )


def _vectors(model: Any, inputs: torch.Tensor, *, has_pooler: bool) -> torch.Tensor:  # noqa: ANN401
    """Return the image vectors of whatever model, (n, d)."""
    if hasattr(model, "get_image_features"):  # it has a tower for text too
        outputs = model.get_image_features(pixel_values=inputs)
    else:
        outputs = model(pixel_values=inputs)
    if isinstance(outputs, torch.Tensor):
        return outputs
    pooled: torch.Tensor | None = getattr(outputs, "pooler_output", None)
    if has_pooler and pooled is not None:
        return pooled.flatten(1)
    hidden: torch.Tensor = outputs.last_hidden_state
    if not has_pooler and _pools_class_token(model):
        return hidden[:, 0]
    return hidden.mean(1) if hidden.ndim == 3 else hidden.mean(dim=(2, 3))


def _pools_class_token(model: Any) -> bool:  # noqa: ANN401
    """Tell whether the pooler of a model would read its class token, the first one."""
    embeddings = getattr(model, "embeddings", None)
    averages = getattr(model.config, "use_mean_pooling", False)  # as BEiT does
    return getattr(embeddings, "cls_token", None) is not None and not averages


def _find(source: str, revision: str) -> tuple[Path, str]:
    """Return the folder of a model, and its revision on the hub; a directory has none."""
    if Path(source).is_dir():
        return Path(source).resolve(), ""
    if _is_path(source):
        raise EncoderError(
            f"hf:{source} must be a directory with a saved model; there is no such directory; "
            "check the path"
        )
    name, _, wanted = source.partition("@")
    hub = import_extra("huggingface_hub", f"hf:{source}", "hf")
    try:
        folder = Path(
            hub.snapshot_download(
                name,
                revision=wanted or revision or None,
                allow_patterns=["*.safetensors", *_FILES],
            )
        )
    # The hub's client raises errors of its own, of its HTTP library and of the system.
    except Exception as error:
        raise EncoderError(
            f"hf:{source} must be a directory or a model on the Hugging Face hub; csim cannot get "
            f"it: {first_line(error)}; check the name, or copy the model here and write "
            "hf:DIRECTORY"
        ) from error
    return folder, folder.name


def _is_path(source: str) -> bool:
    """Tell whether a source can only be a path: a name on the hub has one "/" at most."""
    name = source.partition("@")[0]
    return name.startswith((".", "/", "~")) or name.endswith("/") or name.count("/") > 1
