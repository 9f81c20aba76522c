"""Write the stream for both programs, and run our ECSMiner over it."""

import json
import sys
from pathlib import Path

import numpy as np

from csim.bench.baselines.ecsminer import EcsMiner, EcsMinerSettings
from csim.bench.datasets.digits import digits
from csim.bench.run import run
from csim.bench.scenario import paper_stream
from csim.metrics.outcomes import read_outcomes
from csim.threads import one_thread

K, ENOUGH, DELAY, MODELS = 10, 20, 200, 6  # spheres a model, q, T_l, L


def main(work: Path) -> None:
    """Leave `stream.npz` and `ours.json`."""
    stream = paper_stream(digits(), known_share=0.3, seed=0)
    flat = {
        part: getattr(stream, part).reshape(len(getattr(stream, part)), -1) / 255
        for part in ("warm_up", "images")
    }
    np.savez(work / "stream.npz", **flat, warm_up_names=stream.warm_up_names, names=stream.names)
    chunk = len(stream.warm_up) // MODELS
    settings = EcsMinerSettings(
        summaries=round(1000 * K / chunk), enough=ENOUGH, label_delay=DELAY, wait=DELAY, chunk=chunk, evidence=chunk,
        models=MODELS, boundary="nearest", recalls=False,
    )  # fmt: skip
    with one_thread():
        events = run(stream, lambda on_event: EcsMiner(settings, on_event)).events
    log = read_outcomes(events)
    said = [(log.at_arrival[item_id], sorted(known)) for item_id, known in log.known.items()]
    setting = {"K": K, "q": ENOUGH, "T_l": DELAY, "L": MODELS, "chunk": chunk}
    (work / "ours.json").write_text(json.dumps({"said": said, "setting": setting}))


main(Path(sys.argv[1]))
