"""Consensus of verifiers: models that judge candidates through the host, and rules that never make a label by vote."""
