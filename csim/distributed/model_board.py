"""The model in use, published in Redis for workers: `<stream>:model`.

`csim run` puts the model file there with its version, the configuration of the stream folder and
the version of csim. Workers look at the version before each batch, and load the model if it is new.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from csim import __version__, checkpoint
from csim.distributed.broker import Broker
from csim.errors import BrokerError
from csim.folder.layout import Config
from csim.folder.stream import Stream, model_in_use
from csim.records import Model


class ModelBoard:
    """Publish the model of a stream, or read what is published.

    Parameters
    ----------
    broker
        The server and the stream of images.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._key = f"{broker.address.stream}:model"
        self._shown: tuple[int, int] | None = None  # version, and breaks of the connection

    def publish(self, stream: Stream) -> None:
        """Publish the model in use, if it is new or the server may have lost it."""
        version = model_in_use(stream).version
        state = (version, self._broker.breaks)
        if state == self._shown:
            return
        file = stream.layout.model(version).read_bytes()
        config = json.dumps(stream.config.to_dict())
        values = ("csim", __version__, "config", config, "file", file)
        self._broker.call("HSET", self._key, "version", version, *values)
        self._shown = state

    def version(self) -> int | None:
        """Return the version of the model that is published; None if there is none."""
        found = self._broker.call("HGET", self._key, "version")
        return None if found is None else int(found)

    def read(self) -> tuple[Config, Model]:
        """Return the configuration and the model; refuse those of another version of csim."""
        names = ("csim", "config", "file")
        csim, config, file = self._broker.call("HMGET", self._key, *names)
        if csim.decode() != __version__:
            raise BrokerError(
                f"workers and `csim run` must have the same version, this is csim {__version__} "
                f"and {self._broker.address} is of csim {csim.decode()}; install the same one"
            )
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            path.write_bytes(file)
            model = checkpoint.model_from(checkpoint.read(path))
        return Config.from_dict(json.loads(config)), model
