"""State ↔ one file: named arrays and JSON in the safetensors format, no pickle.

The header holds the format number, everything that is not an array as JSON, and a sha256 of that
JSON and the arrays, because safetensors does not notice a flipped bit. A file that is damaged, not
csim's or newer is refused before anything is built from it. Format 4 is upgraded when it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from csim import atomic
from csim.errors import CheckpointError
from csim.records import Model, State
from csim.settings import with_current_names

FORMAT = 5  # 4 to 5: views from outside, the last search, names of settings
_ARRAY = "$array"
_PLAIN = (str, int, float, bool, type(None))

Arrays = dict[str, npt.NDArray[Any]]


def model_state(model: Model) -> State:
    """Return a model as plain values and arrays."""
    return {name: getattr(model, name) for name in Model.__slots__}


def model_from(state: State) -> Model:
    """Return the model that `model_state` turned into plain values."""
    return Model(
        **state
        | {"class_ids": tuple(state["class_ids"]), "image_shape": tuple(state["image_shape"])}
    )


def write(path: Path, state: State) -> None:
    """Write a state to a file, atomically: a crash leaves the old file or the new one."""
    arrays: Arrays = {}
    text = json.dumps(_take_apart(state, "", arrays))
    header = {"csim": str(FORMAT), "state": text, "sha256": _digest(text, arrays)}
    atomic.write_file(path, save(arrays, metadata=header))


def read(path: Path) -> State:
    """Return the state in a file; raise CheckpointError if it cannot be read."""
    try:
        with safe_open(path, framework="numpy") as file:
            header: Mapping[str, str] = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise CheckpointError(f"there is no file {path}; check the path") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} is not a whole csim file ({error}); restore it from a copy"
        ) from error
    if not {"csim", "state", "sha256"} <= set(header) or not header["csim"].isdecimal():
        raise CheckpointError(
            f"{path} holds arrays but was not written by csim; give a file made by save()"
        )
    found = int(header["csim"])
    if found not in (FORMAT, *_UPGRADES):
        wanted = "a newer csim" if found > FORMAT else "the csim that wrote it"
        raise CheckpointError(
            f"{path} has format {found}, this program reads {FORMAT}; use {wanted}"
        )
    if _digest(header["state"], arrays) != header["sha256"]:
        raise CheckpointError(
            f"{path} is damaged: its content does not match its checksum; restore it from a copy"
        )
    state: State = _put_together(json.loads(header["state"]), arrays)
    return state if found == FORMAT else _UPGRADES[found](state)


def checksum(path: Path) -> str:
    """Return the sha256 of the content of a file that `write` wrote."""
    with safe_open(path, framework="numpy") as file:
        return str(file.metadata()["sha256"])


def _from_format_4(state: State) -> State:
    """Return a state of format 4 as it would be written today."""
    upgraded = dict(state)
    if isinstance(model := state.get("model"), dict):
        upgraded["model"] = _from_format_4(model)
    if "held_out" in state:  # of a model
        upgraded["trained"] = np.zeros((0, 0), np.float32)
        upgraded["trained_ids"] = np.zeros(0, np.int64)
    if "settings" in state:
        upgraded["settings"] = with_current_names(state["settings"])
    if "discovery" in state:
        pool = dict(state["discovery"]["pool"])
        last_search = pool.pop("last_look", 0)
        upgraded["discovery"] = state["discovery"] | {"pool": pool, "last_search": last_search}
        empty = np.zeros((0, 0), np.float32)
        upgraded["gallery"] = {"ids": [], "positions": [], "vectors": empty, "features": empty}
    return upgraded


_UPGRADES = {4: _from_format_4}


def _take_apart(value: Any, path: str, arrays: Arrays) -> Any:  # noqa: ANN401
    if isinstance(value, np.ndarray):
        arrays[path] = np.ascontiguousarray(value).reshape(value.shape)  # it makes rows of numbers
        return {_ARRAY: path}
    if isinstance(value, Mapping):
        return {key: _take_apart(entry, f"{path}/{key}", arrays) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        if all(
            type(entry) in _PLAIN for entry in value
        ):  # long lists of ids are many, and quick to pass over
            return list(value)
        return [_take_apart(entry, f"{path}/{place}", arrays) for place, entry in enumerate(value)]
    return value


def _put_together(value: Any, arrays: Arrays) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        if set(value) == {_ARRAY}:
            return arrays[value[_ARRAY]]
        return {key: _put_together(entry, arrays) for key, entry in value.items()}
    return [_put_together(entry, arrays) for entry in value] if isinstance(value, list) else value


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
