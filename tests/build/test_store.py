"""The store: whole or not at all, resumable at any point, the same bytes whatever way the work was cut."""

import hashlib
import itertools
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.toy_build import IDENTITY, ToyJob, jobs, make_toy, run, tree

from georefusal_build import assemble as assembling
from georefusal_build import store
from georefusal_build.assemble import assemble
from georefusal_build.run import run_jobs
from georefusal_build.store import MakeShard, Work, open_work, part_of, shards
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data import load

FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed process wrote is seen by the next one without it; only a power cut needs the wait."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def finish(out: Path, *, work: list[ToyJob] | None = None, workers: int = 1, shard_size: int = 4) -> dict[str, bytes]:
    """Run the toy build to its end and return every byte of it."""
    run(out, work, workers=workers, shard_size=shard_size)
    assemble(work or jobs(), out, identity=IDENTITY, salt="a toy salt")
    return tree(out)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the toy build must end as."""
    return finish(tmp_path_factory.mktemp("reference") / "set")


def status_of(work: Callable[[], object]) -> int | None:
    """Do something in a process of its own and return how that ended; negative: by which signal."""
    process = FORK.Process(target=work)
    process.start()
    process.join(60)
    return process.exitcode


def on_each_change(folder: Path, act: Callable[[int, str], None]) -> None:
    """From now on call `act` just before this process changes something below `folder`: with 1, 2, 3, ..., and the path
    of the file that is opened for writing, else "".
    """
    count = itertools.count(1)

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        inside = bool(arguments) and str(folder) in str(arguments[0])
        moves = inside and event in ("os.rename", "os.link", "os.mkdir")
        writes = inside and event == "open" and bool(int(str(arguments[2])) & (os.O_WRONLY | os.O_RDWR))
        # whole trees are removed by names that are relative to an open folder
        removes = event in ("os.remove", "os.rmdir") and (inside or arguments[1] != -1)
        if moves or writes or removes:
            act(next(count), str(arguments[0]) if writes else "")

    sys.addaudithook(hear)


def killed_at(nth: int, out: Path) -> int | None:
    """Run the toy build in a process that is killed at its nth change; a file that it is writing is left torn."""

    def act(number: int, written: str) -> None:
        if number == nth:
            if written:
                Path(written).write_bytes(b"torn")
            os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        on_each_change(out.parent, act)
        finish(out)

    return status_of(work)


def changes_of_a_whole_run(folder: Path) -> int:
    """Return how many times a run that is not killed changes something."""
    seen: list[int] = []
    report = folder.with_suffix(".txt")

    def work() -> None:
        on_each_change(folder, lambda number, written: seen.append(number))
        finish(folder / "set")
        report.write_text(str(seen[-1]))

    assert status_of(work) == 0
    return int(report.read_text())


def test_the_set_is_sound_and_says_where_each_job_went(reference: dict[str, bytes], tmp_path: Path) -> None:
    finish(tmp_path / "set")
    benchmark = load(tmp_path / "set")
    assert len(benchmark.items) == 24
    rejects = [json.loads(line) for line in reference["rejects.jsonl"].splitlines()]
    assert [row["base_id"] for row in rejects] == [f"scene-{n:03d}" for n in range(4, 30, 5)]
    assert {row["reason"] for row in rejects} == {"dead_zone", "no_room"}
    summary = json.loads(reference["summary.json"])
    assert summary["items"] + summary["rejects"] == 30
    assert summary["levers"]["im_toy_low"] == {"items": 8, "rejects": {"dead_zone": 1, "no_room": 1}}
    assert not part_of(tmp_path / "set").exists()


def test_each_row_names_the_bytes_of_its_image(reference: dict[str, bytes]) -> None:
    for name in "AB":
        cases = [json.loads(line) for line in reference[f"cases/{name}.jsonl"].splitlines()]
        provenance = [json.loads(line) for line in reference[f"provenance/{name}.jsonl"].splitlines()]
        assert [row["id"] for row in cases] == sorted(row["id"] for row in cases)
        for case, row in zip(cases, provenance, strict=True):
            assert hashlib.sha256(reference[case["image"]]).hexdigest() == row["image_sha256"]
            assert row["status"] == "unreviewed"


@pytest.mark.parametrize(("workers", "shard_size"), [(1, 1), (1, 7), (1, 100), (3, 2)])
def test_workers_and_shards_change_no_byte(
    reference: dict[str, bytes], tmp_path: Path, workers: int, shard_size: int
) -> None:
    assert finish(tmp_path / "set", workers=workers, shard_size=shard_size) == reference


def test_killed_at_any_write_and_started_again_it_ends_the_same(reference: dict[str, bytes], tmp_path: Path) -> None:
    """Twenty seeded points between the first file and the last rename; nothing is lost or doubled."""
    count = changes_of_a_whole_run(tmp_path / "count")
    assert count > 100
    for nth in random.Random(20261130).sample(range(1, count + 1), 20):
        out = tmp_path / str(nth) / "set"
        assert killed_at(nth, out) == -signal.SIGKILL
        assert finish(out) == reference, f"killed at change {nth} of {count}"
        assert [path.name for path in out.parent.iterdir()] == ["set"], "something was left behind"


def test_stopped_and_continued_with_other_shards_it_makes_nothing_twice(
    reference: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "set"
    run_jobs(jobs()[:13], make_toy, out, identity=IDENTITY, shard_size=4)
    with open_work(out, IDENTITY) as work:
        assert len(work.done()) == 13
    assert finish(out, shard_size=3) == reference


def test_files_reach_the_disk_before_the_names_that_promise_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard that survives a power cut while its images do not would leave holes that no later run fills."""
    done: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append(Path(f"/proc/self/fd/{descriptor}").readlink()))
    run(tmp_path / "set", jobs(4), shard_size=4)
    kinds = [path.name.rstrip("0123456789.part").rpartition(".")[2] for path in done]
    assert kinds == ["json", "png", "png", "png", "pixels", "jsonl"]  # four jobs, two of which share an image


def test_shards_made_by_several_machines_are_taken_over(reference: dict[str, bytes], tmp_path: Path) -> None:
    """The seam for a cluster: no lock, no order, a shard may be asked for twice, one machine may be lost."""
    out = tmp_path / "set"
    for machine in (2, 0, 2):
        one_shard = MakeShard(Work(part_of(out), IDENTITY), make_toy)
        for part in shards(jobs(), 4)[machine::3]:
            one_shard(part)
    with open_work(out, IDENTITY) as work:
        assert len(work.done()) == 20
    assert finish(out) == reference


def test_jobs_that_two_machines_have_made_count_once(reference: dict[str, bytes], tmp_path: Path) -> None:
    """Machines that were told different shard sizes overlap."""
    out = tmp_path / "set"
    for size in (4, 5):
        for part in shards(jobs(), size)[:3]:
            MakeShard(Work(part_of(out), IDENTITY), make_toy)(part)
    assert finish(out) == reference


def test_what_a_killed_process_was_writing_is_swept_away(tmp_path: Path) -> None:
    """On a disk that is nearly full, torn files of many kills would be what fills it."""
    out = tmp_path / "set"
    run(out, jobs(4))
    torn = part_of(out) / "pixels" / ".0123.png.99.part"
    torn.write_bytes(b"torn")
    run(out, jobs(8))
    assert not torn.exists()


def test_a_machine_with_another_configuration_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "set", jobs(2))
    with pytest.raises(ConfigError, match="begun by another build"):
        MakeShard(Work(part_of(tmp_path / "set"), {**IDENTITY, "config": "other"}), make_toy)(jobs(4)[2:])


def test_running_again_makes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "set"
    run(out)
    before = tree(part_of(out))
    stamps = {name: (part_of(out) / name).stat().st_mtime_ns for name in before if name != "lock"}
    run_jobs(jobs(), None, out, identity=IDENTITY)  # type: ignore[arg-type]  # to make anything would fail
    assert tree(part_of(out)) == before
    assert {name: (part_of(out) / name).stat().st_mtime_ns for name in stamps} == stamps


def test_a_finished_set_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "set"
    summary = (finish(out), assembling.read_summary(out))[1]
    assert assemble(jobs(), out, identity=IDENTITY, salt="another") == summary


def test_killed_with_workers_at_work_it_ends_the_same(reference: dict[str, bytes], tmp_path: Path) -> None:
    """They may finish what they are at while the next run begins; none of it may be torn or lost."""
    out = tmp_path / "set"

    def work() -> None:
        started = itertools.count(1)
        run_jobs(
            jobs(), make_toy, out, identity=IDENTITY, workers=2, shard_size=2,
            progress=lambda count: os.kill(os.getpid(), signal.SIGKILL) if next(started) == 12 else None,
        )  # fmt: skip

    assert status_of(work) == -signal.SIGKILL
    assert finish(out) == reference


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_stops_it_cleanly_and_a_later_run_finishes(tmp_path: Path, workers: int) -> None:
    work = jobs(job_12=ToyJob(12, side=90))
    finish(tmp_path / "other", work=work)
    out, report = tmp_path / "set", tmp_path / "report"

    def with_little_room() -> None:
        limit = 20_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            run(out, work, workers=workers)
        except DataError as error:
            report.write_text(str(error))

    assert status_of(with_little_room) == 0
    told = re.fullmatch(
        r"no room left to write \(.*File too large: '(.*\.png)'\); (\d+) of 30 jobs are stored in (.*), (\d+) are "
        r"missing. Make room there and run the same command again: it goes on with scene-\d+\|im_toy_\w+",
        report.read_text(),
    )
    assert told, report.read_text()
    assert int(told[2]) >= 12 - 4 * workers
    assert int(told[2]) + int(told[4]) == 30
    assert not [path for path in part_of(out).rglob(".*") if path.is_file()], "a torn file was left"
    assert finish(out, work=work) == tree(tmp_path / "other")


def test_a_disk_that_is_full_when_the_set_is_written_is_named_too(tmp_path: Path) -> None:
    """A table is larger than any shard: what made every job may still not end."""
    finish(tmp_path / "other")
    out, report = tmp_path / "set", tmp_path / "report"
    run(out)

    def with_little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))
        try:
            assemble(jobs(), out, identity=IDENTITY, salt="a toy salt")
        except DataError as error:
            report.write_text(str(error))

    assert status_of(with_little_room) == 0
    told = report.read_text()
    assert re.match(r"no room left to write \(.*File too large.*\); all 30 jobs are stored in .*set\.part\. Make", told)
    assert finish(out) == tree(tmp_path / "other")


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_names_its_job_and_keeps_what_was_made(tmp_path: Path, workers: int) -> None:
    out = tmp_path / "set"
    with pytest.raises(DataError, match=r"scene-007\|im_toy_medium: ZeroDivisionError: toy trouble; \d+ of 30 jobs"):
        run(out, jobs(job_7=ToyJob(7, does="raise")), workers=workers, shard_size=1)
    with open_work(out, IDENTITY) as work:
        assert len(work.done()) >= 6


def test_a_worker_that_dies_names_its_job(tmp_path: Path) -> None:
    """Such as one that the system kills for its memory, which leaves no traceback."""
    with pytest.raises(DataError, match=r"job scene-005\|im_toy_high: its process was killed by signal 9"):
        run(tmp_path / "set", jobs(job_5=ToyJob(5, does="die")), workers=2, shard_size=2)


def test_another_build_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "set"
    run(out, jobs(3))
    with pytest.raises(ConfigError, match=r"begun by another build \(config was toy, is other\)"):
        run_jobs(jobs(), make_toy, out, identity={**IDENTITY, "config": "other"})
    assemble(jobs(3), out, identity=IDENTITY, salt="a toy salt")
    with pytest.raises(ConfigError, match="built by another configuration"):
        assemble(jobs(), out, identity={**IDENTITY, "config": "other"}, salt="a toy salt")


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "thesis.tex").touch()
    with pytest.raises(ConfigError, match="is no build; name a new folder"):
        assemble(jobs(), tmp_path / "set", identity=IDENTITY, salt="a toy salt")


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "set"
    with open_work(out, IDENTITY), pytest.raises(ConfigError, match="in use by another run"):
        run(out)


def test_a_set_is_not_assembled_before_all_is_made(tmp_path: Path) -> None:
    out = tmp_path / "set"
    run(out, jobs(10))
    with pytest.raises(DataError, match=r"20 of 30 jobs are not made yet, such as scene-010\|im_toy_medium"):
        assemble(jobs(), out, identity=IDENTITY, salt="a toy salt")
    assert not out.exists()


def test_an_image_that_somebody_deleted_is_named(tmp_path: Path) -> None:
    out = tmp_path / "set"
    run(out, jobs(4))
    image = next((part_of(out) / "pixels").iterdir())
    image.unlink()
    with pytest.raises(DataError, match=f"{image.name} is gone"):
        assemble(jobs(4), out, identity=IDENTITY, salt="a toy salt")
    assert not out.exists()


def test_shards_of_an_earlier_kind_are_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "set", jobs(4))
    monkeypatch.setattr(store, "VERSION", 2)
    with pytest.raises(ConfigError, match="store was 1, is 2"):
        run(tmp_path / "set", jobs(8))


def test_two_jobs_of_one_key_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"two jobs with the key 'scene-002\|im_toy_high'"):
        run(tmp_path / "set", [*jobs(4), ToyJob(2)])


def test_ids_of_a_set_get_longer_when_two_are_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembling, "ID_DIGITS", 1)  # 12 items of a set share 16 ids
    files = finish(tmp_path / "set")
    ids = [json.loads(line)["id"] for line in files["cases/A.jsonl"].splitlines()]
    assert {len(one) for one in ids} == {len("A-") + 12}
    assert len(load(tmp_path / "set").items) == 24
