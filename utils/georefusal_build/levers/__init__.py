"""The levers: each family is one declared function; a lever is a family at an intensity."""

import georefusal_build.levers.granularity
import georefusal_build.levers.info_missing  # noqa: F401  (importing a category declares its levers)
from georefusal_build.levers.registry import FAMILIES, Family, Variant, find

__all__ = ["FAMILIES", "Family", "Variant", "find"]
