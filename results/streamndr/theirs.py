"""Run StreamNDR's ECSMiner over the stream that `ours.py` wrote."""

import json
import sys
from pathlib import Path

import numpy as np
from streamndr.model import ECSMiner


def main(work: Path) -> None:
    """Write `theirs.json`."""
    stream = np.load(work / "stream.npz")
    setting = json.loads((work / "ours.json").read_text())["setting"]
    classes = sorted(set(stream["names"]) | set(stream["warm_up_names"]))
    model = ECSMiner(
        K=setting["K"],
        min_examples_cluster=setting["q"],
        ensemble_size=setting["L"],
        T_l=setting["T_l"],
        random_state=0,
        init_algorithm="kmeans",
    )
    order = np.random.default_rng(0).permutation(len(stream["warm_up"]))
    model.learn_many(
        stream["warm_up"][order], [classes.index(name) for name in stream["warm_up_names"][order]]
    )
    decisions = []
    for row, name in zip(stream["images"], stream["names"], strict=True):
        known = sorted({classes[label] for each in model.models for label in each.labels})
        answer = int(np.ravel(model.predict_many(row[None], [classes.index(name)]))[0])
        decisions.append((classes[answer] if 0 <= answer < len(classes) else None, known))
    (work / "theirs.json").write_text(json.dumps({"decisions": decisions}))


main(Path(sys.argv[1]))
