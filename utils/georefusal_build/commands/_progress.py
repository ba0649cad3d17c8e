"""How far an audit is, on stderr."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from georefusal_build.audit.progress import Progress

if TYPE_CHECKING:
    from tqdm import tqdm


class _Bars(Progress):
    def __init__(self) -> None:
        self._bar: tqdm[None] | None = None

    def start(self, what: str, steps: int) -> None:
        from tqdm import tqdm

        self.close()
        self._bar = tqdm(total=steps, desc=what, disable=None)  # none where stderr is no terminal

    def step(self, steps: int = 1) -> None:
        if self._bar is not None:
            self._bar.update(steps)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def bars() -> Iterator[Progress]:
    """Give a progress that draws one bar per stage on stderr."""
    drawn = _Bars()
    try:
        yield drawn
    finally:
        drawn.close()
