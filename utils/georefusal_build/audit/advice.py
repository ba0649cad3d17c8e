"""What to change when a tier leaks, by the figure that gives the label away."""

from georefusal_build.audit.gates import Finding

BY_FIGURE = (
    (("bits per pixel", "file bytes", "JPEG"), "pair items by image (one image, two questions), and add equal grain"),
    (
        ("bright", "black", "saturated", "white", "mean", "sd"),
        "give all intensities of a base the same budget (cover, area, saturated share) and number of hidden areas",
    ),
    (
        ("sharpness", "frequencies", "noise"),
        "sample all intensities alike and add one noise; take LOW and refusals from two classes of one image",
    ),
    (("chunk", "mode", "height", "width", "bytes after"), "write all images with one encoder, one size, no metadata"),
    (("characters", "words"), "pad the LOW questions, or ask all intensities with one string"),
    (("template",), "draw the template anew, without regard to the intensity"),
    (("base answer",), "balance yes and no inside the family, for LOW and for refusals alike"),
    (("instances", "target", "smallest", "largest"), "draw LOW and refusals from targets of one size and number"),
    (("row order", "rank of the id"), "sort rows by ids that are salted digests"),
    (("file time",), "give all files one time of modification"),
    (("digits of the id", "length of the id", '"'), "make ids from a salted digest, not from what an item is"),
)
"""Source: section 11 of the design, fixes by symptom; those on ids, files and base answers are ours."""

BY_TIER = {
    "T0": "make ids from a salted digest and sort the rows by them",
    "T1": "write all images with one encoder",
    "T2": "ask all intensities of the family with one string",
    "T3": "give all intensities the same budget, or pair them by image",
    "T6": "balance answers, numbers and sizes inside the family",
}


def advice(finding: Finding) -> str:
    """Return what to change so that a leak goes away."""
    for name, _ in finding.suspects:
        if finding.tier == "T2" and name.startswith('"'):
            return f"re-word the questions: {name} stands more often on one side; re-balance if it is a class name"
        for parts, text in BY_FIGURE:
            if any(name.startswith(part) or part in name for part in parts):
                return text
    return BY_TIER[finding.tier]
