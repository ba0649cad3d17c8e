"""The levers: each family is one declared function; a lever is a family at an intensity.

Importing a category's file declares its levers: image levers in `FAMILIES`, question levers in `QUESTION_FAMILIES`.
"""

import georefusal_build.levers.ambiguous
import georefusal_build.levers.false_premise
import georefusal_build.levers.granularity
import georefusal_build.levers.info_missing
import georefusal_build.levers.nonfactual  # noqa: F401
from georefusal_build.levers.asked import QUESTION_FAMILIES, QuestionFamily, find_question
from georefusal_build.levers.registry import FAMILIES, Family, Variant, find

__all__ = ["FAMILIES", "QUESTION_FAMILIES", "Family", "QuestionFamily", "Variant", "find", "find_question"]
