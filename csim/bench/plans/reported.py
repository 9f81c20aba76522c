"""The figures that the CSIM paper reports; tables show them in columns of their own.

Gao, Chandra, Wang, Khan, KDD'18 Deep Learning Day: the stream table, the novelty table and the
table of convolution layers, all for r = 0.3 and ten streams each, and the table of metric
learners. The paper's EMNIST is the Balanced split; `emnist-47` has the same classes but other
images.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reported:
    """Hold means and standard deviations in percent, as reported; None is a dash in the paper."""

    accuracy: float
    accuracy_spread: float
    labels: float
    labels_spread: float
    m_new: float
    m_new_spread: float
    f_new: float | None
    f_new_spread: float | None


STREAM: dict[str, dict[str, Reported]] = {
    "mnist": {
        "ecsminer": Reported(93.26, 0.26, 100.0, 0.0, 66.57, 5.04, 1.10, 0.01),
        "senc-mas": Reported(54.78, 0.38, 41.79, 0.63, 97.76, 0.10, 5.36, 0.13),
        "echo-d": Reported(92.64, 0.26, 47.22, 1.21, 61.29, 3.64, 1.21, 0.01),
        "paper": Reported(94.27, 0.48, 17.41, 0.18, 30.41, 3.15, 0.10, 0.01),
    },
    "fashion-mnist": {
        "ecsminer": Reported(76.50, 0.61, 100.0, 0.0, 100.0, 0.0, None, None),
        "senc-mas": Reported(46.62, 0.32, 37.92, 1.83, 93.76, 0.34, 20.74, 0.46),
        "echo-d": Reported(68.60, 1.33, 45.11, 2.09, 100.0, 0.0, None, None),
        "paper": Reported(93.13, 0.10, 34.39, 1.17, 52.59, 3.52, 0.11, 0.02),
    },
    "emnist-47": {
        "ecsminer": Reported(61.44, 0.51, 100.0, 0.0, 100.0, 0.0, None, None),
        "senc-mas": Reported(38.91, 1.01, 35.75, 1.01, 98.22, 0.01, 6.80, 0.06),
        "echo-d": Reported(47.06, 1.99, 43.14, 1.72, 100.0, 0.0, None, None),
        "paper": Reported(85.77, 0.03, 40.29, 0.04, 21.06, 0.35, 0.39, 0.01),
    },
    "cifar-10-grey": {
        "ecsminer": Reported(28.30, 0.38, 100.0, 0.0, 100.0, 0.0, None, None),
        "senc-mas": Reported(43.93, 1.24, 35.30, 1.28, 97.06, 0.22, 1.39, 0.12),
        "echo-d": Reported(27.68, 0.40, 45.34, 1.01, 100.0, 0.0, None, None),
        "paper": Reported(53.31, 0.63, 39.91, 0.79, 54.68, 0.53, 0.60, 0.08),
    },
}

# Convolution layers on Fashion-MNIST: accuracy, M_new and F_new in percent and minutes of training,
# each with its standard deviation.
CONVOLUTION: dict[int, tuple[tuple[float, float], ...]] = {
    0: ((88.97, 0.46), (56.40, 2.41), (0.16, 0.03), (1.89, 0.08)),
    1: ((93.13, 0.10), (52.59, 3.52), (0.11, 0.02), (4.89, 0.44)),
    2: ((93.13, 0.08), (52.51, 1.64), (0.22, 0.03), (8.06, 0.08)),
}

# Metric learners with all classes known: accuracy in percent and its standard deviation, by data
# set, split and method.
_LEARNERS = ("lmnn", "hdml", "gb-lmnn", "sklr", "paper")
_METRIC: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {
    "mnist": {
        "S1": ((96.95, 0.06), (94.75, 0.19), (97.15, 0.10), (95.65, 0.06), (97.36, 0.39)),
        "S2": ((95.17, 0.12), (91.34, 0.20), (94.21, 0.08), (93.33, 0.21), (95.96, 0.98)),
    },
    "fashion-mnist": {
        "S1": ((84.24, 0.19), (77.23, 0.21), (85.37, 0.14), (84.47, 0.09), (88.21, 0.65)),
        "S2": ((82.24, 0.21), (72.94, 0.20), (83.01, 0.14), (81.63, 0.30), (86.05, 0.67)),
    },
    "emnist-47": {
        "S1": ((73.02, 0.26), (61.95, 0.15), (71.79, 0.15), (72.48, 0.15), (76.71, 1.05)),
        "S2": ((63.38, 0.68), (58.08, 0.17), (64.05, 0.22), (63.68, 0.34), (73.67, 0.78)),
    },
    "cifar-10-grey": {
        "S1": ((25.48, 0.19), (26.83, 0.25), (25.87, 0.16), (31.98, 0.11), (43.18, 1.43)),
        "S2": ((21.14, 0.27), (23.50, 0.23), (23.31, 0.20), (29.56, 0.55), (35.25, 1.10)),
    },
}


def metric_of(data: str, split: str, method: str) -> tuple[float, float] | None:
    """Return the accuracy that the paper reports for a metric learner, and its deviation, or None.

    >>> metric_of("mnist", "S2", "sklr")
    (93.33, 0.21)
    """
    figures = _METRIC.get(data, {}).get(split)
    return dict(zip(_LEARNERS, figures, strict=True)).get(method) if figures else None


# The paper's table of data sets: features, classes, instances.
DATA_SETS: dict[str, tuple[int, int, int]] = {
    "fashion-mnist": (784, 10, 70_000),
    "mnist": (784, 10, 70_000),
    "emnist-47": (784, 47, 131_600),
    "cifar-10-grey": (1024, 10, 70_000),
}


def printed(mean: float | None, spread: float | None) -> str:
    """Return a figure in the paper's format.

    >>> printed(94.27, 0.48), printed(None, None)
    ('94.27 ± 0.48', '–')
    """
    return "–" if mean is None else f"{mean:.2f} ± {spread:.2f}"
