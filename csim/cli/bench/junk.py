"""`csim bench junk`: questions about images of no interest."""

from __future__ import annotations

from pathlib import Path

from csim.bench.datasets.digits import digits
from csim.bench.tables import junk as table
from csim.cli.bench.options import AsJson, Jobs, Out, Seeds
from csim.cli.bench.output import make_and_show


def junk(
    out: Out = Path("results"),
    seed: Seeds = [0, 1, 2],  # noqa: B006
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare skipping images of no interest with calling them junk.

    The images are handwritten digits, one of which is of no interest. It
    takes about a minute on two cores and needs no data set.

    Example: csim bench junk --seed 0
    """
    make_and_show(
        lambda on_done: table.make(digits(), seeds=seed, jobs=jobs, on_done=on_done), out, as_json
    )
