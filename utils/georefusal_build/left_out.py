"""Why questions are left out of a plan, and what helps: one line for each reason that planning counts."""

from collections.abc import Mapping

HELP: Mapping[str, str] = {
    "balance": "more of one answer than of the other: add a source and `bases: {balance: all}`, or set it `off`",
    "class_share": "a class has its share: raise it under `bases`",
    "cut": "the border of the tile cuts the object: a larger `tiling: {size: …}`, or more `overlap`",
    "difficult": "no object settles a yes: the files call it difficult",
    "gate": "no verifier got the answer from the clean image",
    "ignored": "in a region that the files say to ignore",
    "incomplete": "nobody vouches that all of the class is annotated: name it in the source's `complete`, where it is",
    "not_in_table": "the class table does not know the name, or denies it: `classes:` with a table of your own",
    "per_image": "its image has its share: raise it under `bases`",
    "rival": "something there might pass for it",
    "straddles": "the object lies on a line between quarters",
    "too_small": "no object is large enough for a yes: `limits: {min_minor_px: …}`",
    "truncated": "no object settles a yes: the files, or the border of the tile, cut it short",
    "undecidable": "the files say that the image cannot show it",
    "unresolved": "the sampling is too coarse for the class: finer images, or `gsd_m` where it is wrong",
}


def told(left_out: Mapping[str, int]) -> list[str]:
    """Return a line for each reason that occurred, in the order of their names: count, and what it means or what helps.

    >>> told({"rival": 2, "cut": 0})
    ['rival                2  something there might pass for it']
    """
    return [f"{name:16}{count:>6}  {HELP[name]}" for name, count in sorted(left_out.items()) if count]
