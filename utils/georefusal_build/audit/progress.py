"""What long work tells of how far it is."""


class Progress:
    """Told how much there is to do and what was done; this one keeps it to itself."""

    def start(self, what: str, steps: int) -> None:
        """Begin a stage of so many steps."""

    def step(self, steps: int = 1) -> None:
        """Note that steps of the stage are done."""
