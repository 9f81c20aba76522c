"""A plan: which streams a table covers. It makes the cases and the note about them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from csim.bench.case import Case
from csim.bench.datasets.catalogue import NAMES
from csim.bench.methods import METHODS, PUBLISHED, budget_in, settings_of
from csim.bench.plans.reported import STREAM, Reported
from csim.errors import InputError
from csim.settings import Settings

DATA = ("mnist", "fashion-mnist", "emnist-47", "cifar-10-grey")
_THIN = 5
_QUICK_THIN = 20
_SHARE = 0.3  # the paper reports figures for this r alone


@dataclass(frozen=True)
class Plan:
    """Describe which streams a table covers.

    Parameters
    ----------
    data, methods
        By name. None leaves the choice to the table: most take the paper's four data sets and all
        methods.
    seeds
        A run per data set, method and seed. More seeds make the means more certain.
    known_share
        r, the share of classes known at the start. Higher leaves fewer to discover.
    thin
        Take every n-th image. Higher is quicker and makes the task harder.
    is_quick
        Take minutes: one seed, every 20th image, fewer settings.
    """

    data: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    seeds: tuple[int, ...] = (0, 1, 2)
    known_share: float = _SHARE
    thin: int = _THIN
    is_quick: bool = False

    def __post_init__(self) -> None:
        for word, given, known in (
            ("data set", self.data, NAMES),
            ("method", self.methods, METHODS),
        ):
            if unknown := [name for name in given or () if name not in known]:
                raise InputError(
                    f"the {word} must be one of {', '.join(known)}; got {unknown[0]!r}"
                )

    def quick(self) -> Plan:
        """Return a plan of the same streams that takes minutes."""
        return replace(self, seeds=self.seeds[:1], thin=max(self.thin, _QUICK_THIN), is_quick=True)

    def case(
        self,
        method: str,
        data: str,
        seed: int,
        *,
        budget: float | None = None,
        **changes: Any,  # noqa: ANN401
    ) -> Case:
        """Return one run of the plan, with settings changed.

        A budget or a change equal to the method's default is dropped: the run is then the unchanged
        one, and is not made twice.

        >>> Plan().case("paper", "mnist", 0, conv_layers=1) == Plan().case("paper", "mnist", 0)
        True
        """
        usual = settings_of(method, seed=seed, changes={}).to_dict()
        budget = self.budget(method) if budget is None else budget
        return Case(
            method,
            data,
            seed,
            known_share=self.known_share,
            thin=self.thin,
            budget=None if budget == budget_in(usual) else budget,
            changes={name: value for name, value in changes.items() if usual.get(name) != value},
        )

    def cases(self) -> list[Case]:
        """Return every method on every data set with every seed."""
        return [
            self.case(method, data, seed)
            for data in self.data or DATA
            for method in self.methods or PUBLISHED
            for seed in self.seeds
        ]

    def budget(self, method: str) -> float | None:
        """Return the budget of a method; None if it keeps its default.

        `least-sure` and `random` get the budget of `default`, so that only their questions differ.
        """
        return Settings().budget if method in ("least-sure", "random") else None

    def reported(self, data: str, method: str) -> Reported | None:
        """Return the paper's figures for such runs; None if it has none."""
        return STREAM.get(data, {}).get(method) if self.known_share == _SHARE else None

    @property
    def suffix(self) -> str:
        """Return what distinguishes its files from those of the usual streams."""
        words = list(self.data) if self.data and len(self.data) == 1 else []
        words += [f"r{self.known_share:g}"] * (self.known_share != _SHARE)
        words += ["whole" if self.thin == 1 else f"thin{self.thin}"] * (
            self.thin != self._usual_thin
        )
        return "".join(f"-{word}" for word in [*words, *["quick"] * self.is_quick])

    @property
    def options(self) -> str:
        """Return the options of the command that makes the same again."""
        words = ["--quick"] * self.is_quick
        words += [f"--dataset {name}" for name in self.data or ()] + [
            f"--method {name}" for name in self.methods or ()
        ]
        words += [f"--r {self.known_share:g}"] * (self.known_share != _SHARE)
        words += [f"--thin {self.thin}"] * (self.thin != self._usual_thin)
        return " ".join([*words, *(f"--seed {seed}" for seed in self.seeds)])

    @property
    def note(self) -> str:
        """Return the table's note about its streams."""
        quick = " (quick)" if self.is_quick else ""
        images = (
            "all images" if self.thin == 1 else f"every {ordinal(self.thin)} image of the data set"
        )
        seeds = f"seed{'s' * (len(self.seeds) > 1)} {', '.join(map(str, self.seeds))}"
        return f"streams: r = {self.known_share:g}, {images}{quick}, {seeds}"

    @property
    def _usual_thin(self) -> int:
        return _QUICK_THIN if self.is_quick else _THIN


def paper_budget(data: str) -> float | None:
    """Return the share of images that the paper's method asked about; None for other data sets.

    >>> paper_budget("mnist")
    0.1741
    """
    return round(STREAM[data]["paper"].labels / 100, 4) if data in STREAM else None


def ordinal(number: int) -> str:
    """Return 5th for 5.

    >>> ordinal(2), ordinal(3), ordinal(11), ordinal(20)
    ('2nd', '3rd', '11th', '20th')
    """
    ending = "th" if 10 < number % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
