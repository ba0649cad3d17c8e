"""What `georefusal check-data` says of a set of answer-grounding questions."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from georefusal_task.benchmarks.grounding_records import QuestionType
from georefusal_task.commands._common import fail_with
from georefusal_task.core.errors import DataError
from georefusal_task.grounding_data import GroundingSet, load


def check_grounding(folder: Path) -> None:
    """Print the counts of a set whose rows passed the loader, and decode every image strictly.

    Raises:
        DataError: a row or image is not sound.
    """
    found = load(folder)
    images = sorted({one.image for one in found.questions})
    damaged = _decode_all(images)
    print(f"data      {found.source}")
    print(f"digest    {found.digest}")
    print(f"images    {len(images) - len(damaged)} of {len(images)} decoded strictly")
    _print_counts(found)
    for warning in found.warnings:
        print(f"note: {warning}")
    if damaged:
        fail_with(f"{len(damaged)} of {len(images)} images cannot be used:", damaged)


def _decode_all(images: list[Path]) -> list[str]:
    from tqdm import tqdm

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        found = list(tqdm(pool.map(_decode, images), "decoding images", len(images), leave=False, disable=None))
    return [problem for problem in found if problem]


def _decode(image: Path) -> str:
    from georefusal_task.images import open_image

    try:
        open_image(image)
    except (DataError, OSError) as error:
        return str(error)
    return ""


def _print_counts(found: GroundingSet) -> None:
    answers = Counter((one.type, gold.answer) for one, gold in zip(found.questions, found.golds, strict=True))
    print(f"\n{'type':12}{'questions':>10}{'yes':>7}{'no':>7}")
    for type_ in QuestionType:
        yes, no = (answers[type_, answer] for answer in ("yes", "no"))
        total = sum(n for (other, _), n in answers.items() if other is type_)
        told = f"{'':7}{'':7}" if type_ is QuestionType.COUNTING else f"{yes:>7}{no:>7}"
        print(f"{type_:12}{total:>10}{told}".rstrip())
    numbers = sorted((int(answer), n) for (type_, answer), n in answers.items() if type_ is QuestionType.COUNTING)
    print("counts      " + (", ".join(f"{number}: {n}" for number, n in numbers) or "none"))
    left_out = answers[QuestionType.EXISTENCE, "no"]
    print(f"scored for support: {len(found.questions) - left_out} (all but the {left_out} about absent classes)")
    print(f"places      {len({one.image_id for one in found.questions})} (image_id; intervals are clustered by it)")
    instances = sum(len(outlines) for gold in found.golds for outlines in gold.instances.values())
    print(f"instances   {instances}")
