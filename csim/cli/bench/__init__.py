"""`csim bench`: measure methods on streams, and make the published tables and figures again."""

from __future__ import annotations

import typer

from csim.cli.bench.metric import metric
from csim.cli.bench.pictures import cohesion, embedding, report
from csim.cli.bench.run import run
from csim.cli.bench.study import (
    ablation,
    convolution,
    data_sets,
    label_curve,
    novelty,
    over_stream,
    sensitivity,
    stream,
    tuning,
)
from csim.cli.bench.training import beta, closed_set, durability, mining, speed
from csim.cli.messages import in_one_line

bench = typer.Typer(
    help="Measure methods on streams; make the published tables again.", no_args_is_help=True
)

# In the order of `csim bench --help`: single runs, the tables of streams, those of the network and its settings,
# the page of all.
COMMANDS = (
    run,
    stream,
    novelty,
    convolution,
    over_stream,
    sensitivity,
    label_curve,
    metric,
    embedding,
    cohesion,
    data_sets,
    ablation,
    tuning,
    mining,
    beta,
    closed_set,
    speed,
    durability,
    report,
)

for command in COMMANDS:
    bench.command()(in_one_line(command))
