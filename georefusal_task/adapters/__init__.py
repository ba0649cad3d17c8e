"""One thin file per evaluation harness; no logic about verdicts lives here."""
