"""A method for tests: the class of the nearest mean; it asks about images far from all means.

It shows that the bench takes methods that share nothing with csim's. A stream takes milliseconds.
"""

import functools
import time

import numpy as np

from csim.bench.datasets import DataSet
from csim.bench.datasets.digits import digits
from csim.records import Accepted, Asked, ClassAdded, Item, Labelled, Question, Rejected, Retrained

FAR = 500  # Euclid's distance between images of 8×8 bytes


@functools.cache
def few_digits(every=6):
    """Return every n-th of scikit-learn's digits; do not change them."""
    data = digits()
    return DataSet("few digits", data.images[::every], data.names[::every])


class NearestMean:
    """Learns the mean image of each class; a new class from its first answer."""

    def __init__(self, on_event, far=FAR):
        self.training_seconds = 0.0
        self._on_event = on_event
        self._far = far
        self._names = []
        self._sums = []
        self._counts = []
        self._open = {}
        self._position = 0
        self._asked = 0
        self._model = 0

    @property
    def classes_(self):
        return np.array(self._names, np.str_)

    def fit(self, images, names):
        events = [
            event
            for image, name in zip(images, names, strict=True)
            for event in self._learn(image, name)
        ]
        return self._publish([*events, self._retrained()])

    def observe(self, images):
        return self._publish([event for image in images for event in self._see(image)])

    def ask_now(self):
        return []

    def questions(self):
        return list(self._open.values())

    def tell(self, answers):
        events = []
        for question_id, name in answers.items():
            shown = self._open.pop(question_id).representative
            events += self._learn(shown.image, name)
            class_id = self._names.index(name)
            events.append(Labelled(self._position, shown.id, class_id, question_id, is_told=True))
        return self._publish([*events, self._retrained()] if answers else [])

    def predict_proba(self, images):
        return np.exp(-self._distances(images) / self._far)

    def _see(self, image):
        self._position += 1
        item_id = str(self._position)
        distances = self._distances(image[None])[0]
        best = int(distances.argmin())
        if distances[best] <= self._far:
            return [Accepted(self._position, item_id, best, float(-distances[best]), self._model)]
        self._asked += 1
        item = Item(item_id, self._position, image)
        self._open[self._asked] = Question(self._asked, self._position, item, (item,))
        rejected = Rejected(self._position, item_id, best, float(-distances[best]), self._model)
        return [rejected, Asked(self._position, self._open[self._asked])]

    def _learn(self, image, name):
        start = time.perf_counter()
        is_new = name not in self._names
        if is_new:
            self._names.append(name)
            self._sums.append(np.zeros(image.shape))
            self._counts.append(0)
        place = self._names.index(name)
        self._sums[place] = self._sums[place] + image
        self._counts[place] += 1
        self.training_seconds += time.perf_counter() - start
        return [ClassAdded(self._position, place, name)] if is_new else []

    def _retrained(self):
        self._model += 1
        return Retrained(self._position, self._model, tuple(range(len(self._names))))

    def _distances(self, images):
        means = np.stack(
            [total / count for total, count in zip(self._sums, self._counts, strict=True)]
        )
        return np.linalg.norm(
            (images[:, None].astype(float) - means[None]).reshape(len(images), len(means), -1),
            axis=2,
        )

    def _publish(self, events):
        for event in events:
            self._on_event(event)
        return events
