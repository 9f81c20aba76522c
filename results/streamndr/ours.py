"""Write the stream for both programs, and run csim's ECSMiner over it."""

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

K = 10  # spheres of a model
ENOUGH = 20  # q, images of a new class
DELAY = 200  # T_l, images until a label arrives
MODELS = 6  # L, of the ensemble


def main(work: Path) -> None:
    """Write `stream.npz` and `ours.json`."""
    stream = paper_stream(digits(), known_share=0.3, seed=0)
    flat = {
        part: getattr(stream, part).reshape(len(getattr(stream, part)), -1) / 255
        for part in ("warm_up", "images")
    }
    np.savez(work / "stream.npz", **flat, warm_up_names=stream.warm_up_names, names=stream.names)
    chunk = len(stream.warm_up) // MODELS
    settings = EcsMinerSettings(
        summaries=round(1000 * K / chunk), enough=ENOUGH, label_delay=DELAY, wait=DELAY,
        chunk=chunk, evidence=chunk,
        models=MODELS, boundary="nearest", recalls=False,
    )  # fmt: skip
    with one_thread():
        events = run(stream, lambda on_event: EcsMiner(settings, on_event)).events
    log = read_outcomes(events)
    decisions = [(log.at_arrival[item_id], sorted(known)) for item_id, known in log.known.items()]
    setting = {"K": K, "q": ENOUGH, "T_l": DELAY, "L": MODELS, "chunk": chunk}
    (work / "ours.json").write_text(json.dumps({"decisions": decisions, "setting": setting}))


main(Path(sys.argv[1]))
