"""Draw docs/images/stream_time.png, the time that each part of a stream takes.

Run it with `python docs/images/stream_time.py`. It runs the default preset on every fifth
image of Fashion-MNIST (4.3 % of labels, seed 0, about two minutes; `CSIM_DATA` names the folder of
the data sets) under Python's profiler.
"""

import cProfile
import os
import pstats
from pathlib import Path

import matplotlib.pyplot as plt

from csim.bench.case import Case
from csim.bench.run import run
from csim.threads import one_thread

# Each part: what it is called, and the functions that it consists of (file, function).
PARTS = {
    "training": [("model_trainer.py", "train")],
    "decide recent images again": [("second_look.py", "revise")],
    "search: projection": [("projection.py", "place")],
    "search: novelty": [("novelty.py", "novelty")],
    "search: embed labelled images": [("gallery.py", "features")],
    "search: the rest": [("discovery.py", "search")],
    "classify what arrives": [("engine.py", "observe")],
}
# The parts that each part calls: their time is not its own.
INSIDE = {
    "search: projection": ["search: embed labelled images"],
    "search: the rest": ["search: projection", "search: novelty"],
    "classify what arrives": ["search: the rest"],
}


def main() -> None:
    """Profile the stream and write the picture beside this file."""
    data = os.environ["CSIM_DATA"]
    case = Case("default", "fashion-mnist", thin=5, budget=0.043)
    stream = case.stream(case.load(Path(data)))
    profile = cProfile.Profile()
    with one_thread():
        profile.enable()
        found = run(stream, case.open_method, seed=case.seed)
        profile.disable()
    times = seconds_of(pstats.Stats(profile))
    times["everything else"] = found.seconds - sum(times.values())
    draw(times, found.seconds, len(stream.images))


def seconds_of(stats: pstats.Stats) -> dict[str, float]:
    """Return the seconds of each part, without those of parts inside it."""
    whole = {
        part: sum(
            row[3]
            for (path, _, name), row in stats.stats.items()  # type: ignore[attr-defined]
            if (Path(path).name, name) in functions
        )
        for part, functions in PARTS.items()
    }
    return {
        part: seconds - sum(whole[name] for name in INSIDE.get(part, []))
        for part, seconds in whole.items()
    }


def draw(times: dict[str, float], total: float, images: int) -> None:
    """Draw a bar for each part."""
    figure, axes = plt.subplots(figsize=(8, 3.2), dpi=110)
    names = list(times)[::-1]
    axes.barh(names, [100 * times[name] / total for name in names], color="#2a6fbb")
    for index, name in enumerate(names):
        axes.text(100 * times[name] / total + 1, index, f"{times[name]:.1f} s", va="center")
    axes.set_xlabel(f"% of {total:.0f} s, {images:,} images of Fashion-MNIST, one core")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(0, 100)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("stream_time.png"), facecolor="white")


if __name__ == "__main__":
    main()
