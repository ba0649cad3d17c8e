"""Errors that a user can act on: every message names the file, line or id and says what to do."""


class GeoRefusalError(Exception):
    """Base of all expected errors; the CLI prints its message without a traceback and exits with 1."""


class DataError(GeoRefusalError):
    """A data set, image or reply file is missing, malformed or inconsistent."""


class ConfigError(GeoRefusalError):
    """An option, environment variable or name does not exist or does not fit the others."""
