"""`georefusal check-data`: whether a set is sound, and whether it is the one that the card describes."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands._common import fail_with, reports_errors
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.data import Benchmark, Item, load, load_mini
from georefusal_task.data_files import read_sums, table_files


@reports_errors
def check_data(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with cases/, labels/ and images/, or with questions.jsonl and images/ (answer-grounding). "
            "Default: GEOREFUSAL_DATA, else the Hub data set."
        ),
    ] = None,
    *,
    mini: Annotated[bool, typer.Option("--mini", help="Check the mini set that ships with this package.")] = False,
    released: Annotated[
        bool, typer.Option("--released", help="Fail also where a count differs from the GeoRefusalBench card.")
    ] = False,
) -> None:
    """Check a data set: ids, labels, checksums, and every image decoded strictly; print its counts beside the card's.

    Exit status 0 only if all is sound. Counts that differ from the card matter only with --released.
    """
    if mini and (data or released):
        raise ConfigError("--mini checks the set of this package; leave out --data and --released")
    if data and (data / "questions.jsonl").is_file():
        if released:
            raise ConfigError(f"--released is about GeoRefusalBench, but {data} holds answer-grounding questions")
        from georefusal_task.commands._grounding import check_grounding

        check_grounding(data)
        return
    benchmark = load_mini() if mini else load(data)
    damaged = _decode_all(benchmark.items)
    different = _print_report(benchmark, len(damaged))
    if damaged:
        fail_with(f"{len(damaged)} of {len(benchmark.items)} images cannot be used:", damaged)
    if released and different:
        fail_with("this is not the released set:", different)


def _decode_all(items: tuple[Item, ...]) -> list[str]:
    """Return what is wrong with images when they are read and decoded afresh."""
    from tqdm import tqdm

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        found = list(tqdm(pool.map(_decode, items), "decoding images", len(items), leave=False, disable=None))
    return [problem for problem in found if problem]


def _decode(item: Item) -> str:
    from georefusal_task.images import open_image

    try:
        open_image(item.case.image)
        digest = hashlib.sha256(item.case.image.read_bytes()).hexdigest()
    except (DataError, OSError) as error:
        return f"{item.case.id}: {error}"
    if digest != item.image_sha256:
        return f"{item.case.id}: image {item.case.image} has other bytes than when its digest was taken; get it again"
    return ""


def _print_report(benchmark: Benchmark, damaged: int) -> list[str]:
    """Print where the data come from, the counts, and the rows to know about; return differences from the card."""
    labels = [item.label for item in benchmark.items]
    print(f"data      {benchmark.source}")
    print(f"digest    {benchmark.digest}")
    print(f"images    {len(benchmark.items) - damaged} of {len(benchmark.items)} decoded strictly")
    for line in _file_lines(benchmark):
        print(f"files     {line}")
    print(f"\n{'':34}{'here':>12}{'card':>12}")
    different = []
    for name, here, card in _facts(benchmark):
        print(f"{name:34}{here:>12}{card:>12}")
        if card and here != card:
            different.append(f"{name}: {here} here, {card} on the card")
    print()
    for verdict in VERDICTS:
        print(f"verdict   {verdict:32}{sum(label.gold == verdict for label in labels):>4}")
    for intensity in Intensity:
        print(f"intensity {intensity:32}{sum(label.intensity == intensity for label in labels):>4}")
    for ids in _repeated(benchmark.items):
        print(f"same image and question: {', '.join(ids)}")
    for warning in benchmark.warnings:
        print(f"note: {warning}")
    return different


def _facts(benchmark: Benchmark) -> list[tuple[str, str, str]]:
    """Return (fact, its value here, its value on the card or "") in the order of the report."""
    labels = [item.label for item in benchmark.items]

    def count(holds: Callable[..., bool]) -> str:
        return str(sum(map(holds, labels)))

    anchored = any(label.anchor for label in labels)
    measured = count(lambda label: label.anchor not in (None, "consensus"))
    answerable = sum(Verdict.ANSWER in label.accept for label in labels)
    return [
        ("items", str(len(labels)), "587"),
        ("sets", " ".join(sorted({label.set for label in labels})), "A B C"),
        ("accept ANSWER", str(answerable), "295"),
        ("always-answer accept_acc", f"{answerable / len(labels):.4f}", f"{295 / 587:.4f}"),
        ("accept several verdicts", count(lambda label: len(label.accept) > 1), "15"),
        ("distinct (image, question)", str(len({_fingerprint(item) for item in benchmark.items})), "586"),
        ("levers used", str(len({label.lever for label in labels} - {None})), "83"),
        ("anchored by measurement", measured if anchored else "unknown", "193" if anchored else ""),
        ("left out at answer level", count(lambda label: label.score_answer is False), "3"),
        ("with a known yes or no", count(lambda label: label.answer in ("yes", "no")), ""),
    ]


def _file_lines(benchmark: Benchmark) -> Iterable[str]:
    folder = benchmark.folder
    if folder is None:
        return
    images = {item.case.image for item in benchmark.items}
    read = [*images, *table_files(folder, "cases"), *table_files(folder, "labels")]
    names = {file.relative_to(folder).as_posix() for file in read if file.is_relative_to(folder)}
    sums = read_sums(folder)
    yield f"SHA256SUMS lists and matches {len(names & sums.keys())} of {len(names)}" if sums else "no SHA256SUMS"
    unused = {file for file in (folder / "images").rglob("*") if file.is_file()} - images
    if unused:
        yield f"{len(unused)} below images/ that no case shows, such as {min(unused).relative_to(folder)}"


def _fingerprint(item: Item) -> tuple[str, str]:
    return item.image_sha256, item.case.question


def _repeated(items: tuple[Item, ...]) -> list[list[str]]:
    """Return the ids of items that share image bytes and question, group by group."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for item in items:
        groups[_fingerprint(item)].append(item.case.id)
    return [ids for ids in groups.values() if len(ids) > 1]
