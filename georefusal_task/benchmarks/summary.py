"""Everything computed from one run of any benchmark here, and what of it a harness's table shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from georefusal_task.core.errors import ConfigError
from georefusal_task.core.stats import Estimate, PairedTest

SMALL = 20
"""A rate over fewer items than this is shown as counts only."""


@dataclass(frozen=True)
class Summary:
    """Everything computed from one run."""

    n: int
    metrics: dict[str, Estimate]
    by: dict[str, dict[str, dict[str, Estimate]]]
    """breakdown -> group -> metric; items that belong to no group are in none."""
    tests: dict[str, PairedTest | None] = field(default_factory=dict)

    def to_json(self, meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the content of `score --json`; what is not defined is None."""
        return {
            "metrics": {name: estimate.to_json() for name, estimate in self.metrics.items()},
            "by": {
                breakdown: {
                    group: {name: estimate.to_json() for name, estimate in found.items()}
                    for group, found in groups.items()
                }
                for breakdown, groups in self.by.items()
            },
            "tests": {name: test and test.to_json() for name, test in self.tests.items()},
            "meta": {"n": self.n, **(meta or {})},
        }


def scalar(summary: Summary, name: str) -> float | None:
    """Return the value of one metric as the host's table wants it; None where it is not defined.

    Raises:
        ConfigError: no metric of this summary has that name.
    """
    try:
        return summary.metrics[name].value
    except KeyError:
        raise ConfigError(f"no metric is called {name!r}; there are: {', '.join(summary.metrics)}") from None
