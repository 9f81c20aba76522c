"""A log of nine images that can be checked by eye."""

from metrics.random_log import asked

from csim.records import (
    Accepted,
    ClassAdded,
    ClassesMerged,
    ClassRenamed,
    Labelled,
    Rejected,
    Retrained,
    Revised,
)

TRUTH = {
    "1": "cat",
    "2": "dog",
    "3": "emu",
    "4": "emu",
    "5": "cat",
    "6": "fox",
    "7": "emu",
    "8": "fox",
    "9": "fox",
}

LOG = [
    ClassAdded(0, 0, "cat"),
    ClassAdded(0, 1, "doog"),
    Retrained(0, 1, (0, 1)),
    Accepted(1, "1", 0, 0.9, 1),  # right
    Accepted(2, "2", 1, 0.9, 1),  # right once the class is renamed
    Accepted(3, "3", 0, 0.7, 1),  # a new kind taken for a known one
    Rejected(4, "4", 0, 0.2, 1),
    Rejected(5, "5", 0, 0.4, 1),  # a known kind rejected, then inferred as "emu"
    asked(5, 1, "4", "5"),
    ClassAdded(5, 2, "emu"),
    Labelled(5, "4", 2, 1, is_told=True),
    Labelled(5, "5", 2, 1, is_told=False),
    ClassRenamed(5, 1, "dog"),
    Rejected(6, "6", 1, 0.3, 1),
    asked(6, 2, "6"),
    ClassAdded(6, 3, "vixen"),
    ClassAdded(6, 4, "fox"),
    Labelled(6, "6", 3, 2, is_told=True),
    Retrained(6, 2, (0, 1, 2)),
    Accepted(7, "7", 2, 0.9, 2),  # right, of a class learned meanwhile
    Rejected(8, "8", 1, 0.1, 2),
    Accepted(9, "9", 1, 0.8, 2),  # a new kind taken for a dog, then revised
    asked(9, 3, "8"),
    Labelled(9, "8", 4, 3, is_told=True),
    ClassesMerged(9, 3, 4),
    Revised(9, "9", 1, None),
    Retrained(9, 3, (0, 1, 2, 4)),
]
