"""The tasks inside the real lmms-eval, without a flag, by every way in; judged by the files that it writes."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from support.host import MODULE, HostRun, run_host
from support.server import ChatServer
from support.twin import POISON, make_twin
from typer.testing import CliRunner

from georefusal_task import cli, data
from georefusal_task.adapters.lmms_register import OFF_VARIABLE, tasks_dir
from georefusal_task.benchmarks.refusal_metrics import FORCED_METRICS, METRICS
from georefusal_task.tasks_table import TASKS

pytestmark = [pytest.mark.host, pytest.mark.slow]

ON_TWIN = [task for task, spec in TASKS.items() if not spec.mini]
ALWAYS = ("--model", "georefusal_constant", "--model_args", "verdict=ANSWER,answer=yes")
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m", "lmms_eval")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("host")


@pytest.fixture(scope="module")
def twin(folder: Path) -> Path:
    return make_twin(folder / "twin", spelling="other", accept="bar", score_answer=True)


@pytest.fixture(scope="module")
def small(folder: Path) -> Path:
    return make_twin(folder / "small", n=24, seed=5)


def on(data_folder: Path, **more: str) -> dict[str, str]:
    return {"GEOREFUSAL_DATA": str(data_folder), **more}


@pytest.fixture(scope="module")
def everything(folder: Path, twin: Path) -> HostRun:
    """All tasks on the twin, always answering."""
    return run_host(folder / "everything", *ALWAYS, "--tasks", ",".join(ON_TWIN), "--log_samples", env=on(twin))


@pytest.fixture(scope="module")
def by_chance(folder: Path, twin: Path) -> HostRun:
    """The random baseline on the main task, one process, started as a module and told by a file."""
    config = folder / "run.yaml"
    options = {"model": "georefusal_random", "model_args": "seed=3", "tasks": "georefusalbench", "log_samples": True}
    config.write_text(json.dumps(options), encoding="utf-8")
    return run_host(folder / "by_chance", "--config", str(config), program=MODULE, env=on(twin))


def test_always_answering_gets_what_the_card_says(everything: HostRun) -> None:
    main = everything.metrics("georefusalbench")
    assert main["accept_acc"] == main["score"] == 295 / 587
    assert main["always_answer_gap"] == 0.0
    assert main["answer_recall"] == 1.0
    assert main["recall_ANSWER"] == 1.0
    assert main["missed_refusal_rate"] == 1.0
    assert main["category_acc"] is None, "nothing was refused: not defined is not 0"
    assert everything.n("georefusalbench") == 587


@pytest.mark.parametrize("task", ON_TWIN)
def test_every_metric_of_a_task_is_one_number_in_the_hosts_results(everything: HostRun, task: str) -> None:
    found = {name: value for name, value in everything.metrics(task).items() if "_stderr" not in name}
    del found["alias"]
    expected = set(FORCED_METRICS) if TASKS[task].asks.reply == "yes_no" else {*METRICS, "score"}
    absent = {"answer_rate"} if task.endswith("_grey") else {"grey_answer_rate"}
    assert found.keys() == expected - absent
    assert all(value is None or isinstance(value, float) for value in found.values())
    if "score" in found:
        assert found["accept_acc"] == 295 / 587


def test_no_standard_error_stands_beside_a_figure_that_it_does_not_belong_to(everything: HostRun) -> None:
    errors = {
        name.partition("_stderr")[0]
        for name, value in everything.metrics("georefusalbench").items()
        if "_stderr" in name and value != "N/A"
    }
    assert errors == {"accept_acc", "score"}


def test_results_say_what_was_asked_on_which_data(everything: HostRun, twin: Path) -> None:
    configs = everything.results["configs"]
    assert {config["metadata"]["data_digest"] for config in configs.values()} == {data.load(twin).digest}
    for task, config in configs.items():
        assert config["metadata"]["prompt"] == TASKS[task].asks.id
        assert config["metadata"]["prompt_sha256"] == TASKS[task].asks.sha256
        assert config["metadata"]["variant"] == TASKS[task].variant


def test_a_log_holds_the_reply_and_the_row_of_every_item(everything: HostRun, twin: Path) -> None:
    items = data.load(twin).by_id
    samples = everything.samples("georefusalbench")
    assert {sample["accept_acc"]["id"] for sample in samples} == items.keys()
    for sample in samples:
        label = items[sample["accept_acc"]["id"]].label
        assert sample["target"] == f"{label.id} {'|'.join(label.accept)}"
        assert json.loads(sample["filtered_resps"][0])["verdict"] == "ANSWER"
        assert sample["score"] == float("ANSWER" in label.accept)
        assert sample["accept_acc"]["lever"] == label.lever


def test_nothing_of_the_provenance_and_no_local_path_gets_into_a_file(everything: HostRun, twin: Path) -> None:
    for file in everything.files:
        text = file.read_text(encoding="utf-8")
        assert POISON not in text
        assert POISON not in str(file)
        assert str(twin) not in text


def test_score_gives_the_hosts_figures_to_the_last_digit(everything: HostRun, by_chance: HostRun, twin: Path) -> None:
    runs = [(everything, task) for task in ON_TWIN] + [(by_chance, "georefusalbench")]
    for run, task in runs:
        out = run.folder / "again.json"
        command = ["score", str(run.sample_file(task)), "--task", task, "--data", str(twin), "--json", str(out)]
        done = CliRunner().invoke(cli.app, command)
        assert done.exit_code == 0, done.output
        again = {name: figure["value"] for name, figure in json.loads(out.read_text())["metrics"].items()}
        host = run.metrics(task)
        assert again == {name: host[name] for name in again}, task


@pytest.fixture(scope="module")
def two_ranks(folder: Path, twin: Path) -> HostRun:
    options = ("--model", "georefusal_random", "--model_args", "seed=3", "--tasks", "georefusalbench", "--log_samples")
    return run_host(folder / "two_ranks", *options, program=TORCHRUN, env=on(twin, OMP_NUM_THREADS="1"))


def test_two_ranks_get_what_one_gets(by_chance: HostRun, two_ranks: HostRun) -> None:
    assert "rank 1" in two_ranks.output, "torchrun ran one process only"

    def figures(run: HostRun) -> dict[str, Any]:
        return {name: value for name, value in run.metrics("georefusalbench").items() if "_stderr" not in name}

    assert figures(two_ranks) == figures(by_chance)
    assert 0.1 < figures(by_chance)["accept_acc"] < 0.25  # one in six, and a little for the items with two verdicts
    replies = [
        {s["target"]: s["filtered_resps"] for s in run.samples("georefusalbench")} for run in (two_ranks, by_chance)
    ]
    assert replies[0] == replies[1]


def test_an_oracle_gets_everything_on_a_part_of_the_suite(folder: Path, twin: Path) -> None:
    options = ("eval", "--model", "georefusal_oracle", "--tasks", "georefusal_suite", "--limit", "7", "--offset", "290")
    run = run_host(folder / "suite", *options, env=on(twin))
    for task in ("georefusalbench", "georefusalbench_noimage", "georefusalbench_shuffled"):
        metrics = run.metrics(task)
        assert run.n(task) == 7
        assert metrics["accept_acc"] == metrics["strict_acc"] == metrics["macro_recall"] == 1.0
        assert metrics["recall_REFUSE_NONFACTUAL_QUERY"] in (None, 1.0)


def test_one_item_is_enough(folder: Path, twin: Path) -> None:
    run = run_host(
        folder / "one", *ALWAYS, "--tasks", "georefusalbench", "--limit", "1", program=TORCHRUN, env=on(twin)
    )
    assert run.n("georefusalbench") == 1
    assert run.metrics("georefusalbench")["macro_recall"] in (0.0, 1.0)


def test_three_samples_per_item_are_all_read(folder: Path, twin: Path) -> None:
    options = ("--model", "georefusal_random", "--tasks", "georefusalbench", "-n", "3", "--log_samples")
    run = run_host(folder / "three", *options, env=on(twin))
    metrics = run.metrics("georefusalbench")
    rows = [sample["accept_acc"] for sample in run.samples("georefusalbench")]
    assert all(len(row["repeats"]) == 3 for row in rows)
    assert metrics["repeat_agreement"] == sum(len(set(row["repeats"])) == 1 for row in rows) / 587
    shares = [sum(verdict in row["accept"] for verdict in row["repeats"]) / 3 for row in rows]
    assert metrics["repeat_mean_accept_acc"] == pytest.approx(sum(shares) / 587, abs=1e-12)
    assert metrics["accept_acc"] == sum(row["repeats"][0] in row["accept"] for row in rows) / 587


def test_own_sets_run_side_by_side_and_a_log_without_scores_can_be_scored(folder: Path, small: Path) -> None:
    other = make_twin(folder / "other set", n=30, seed=6)
    tasks = folder / "own"
    for name, place in (("first_set", small), ("second_set", other)):
        command = ["make-task", name, "--data", str(place), "--out", str(tasks)]
        assert CliRunner().invoke(cli.app, command).exit_code == 0
    options = ("--model", "georefusal_oracle", "--include_path", str(tasks), "--tasks", "first_set,second_set")
    run = run_host(folder / "own_run", *options, "--predict_only")
    for name, place, n in (("first_set", small, 24), ("second_set", other, 30)):
        out = folder / f"{name}.json"
        command = ["score", str(run.sample_file(name)), "--task", name, "--data", str(place), "--json", str(out)]
        done = CliRunner().invoke(cli.app, command)
        assert done.exit_code == 0, done.output
        strict = json.loads(out.read_text())["metrics"]["strict_acc"]
        assert (strict["value"], strict["n"]) == (1.0, n)


def test_cached_replies_are_never_served_for_other_images(folder: Path) -> None:
    place = make_twin(folder / "changing", n=20)
    n = 4
    with ChatServer(lambda _: '{"verdict": "ANSWER", "answer": "yes", "justification": ""}') as server:

        def requests(run: str) -> int:
            before = len(server.requests)
            run_host(
                folder / run,
                *("--model", "openai", "--model_args", f"model=m,base_url={server.base_url}", "--limit", str(n)),
                *("--tasks", "georefusalbench", "--use_cache", str(folder / "cache")),
                env=on(place, OPENAI_API_KEY="none", NO_PROXY="127.0.0.1"),
            ).metrics("georefusalbench")
            return len(server.requests) - before

        assert (requests("first"), requests("same")) == (n, 0)
        images = [item.case.image for item in data.load(place).items]
        images[0].write_bytes(images[1].read_bytes())
        assert requests("changed") == n


def test_the_example_suite_runs_beside_a_task_of_the_hosts(folder: Path, twin: Path) -> None:
    from datasets import Dataset, Features, Image, Value
    from PIL import Image as Pillow

    where = folder / "suite_file"
    (where / "lmms-lab-encoder").mkdir(parents=True)  # a folder of the data set's name stands in for the Hub
    row = {"question_id": "1", "question": "Is there a ship?", "answer": "yes", "image": Pillow.new("RGB", (8, 8))}
    kinds = Features(
        {"question_id": Value("string"), "question": Value("string"), "answer": Value("string"), "image": Image()}
    )
    Dataset.from_list([row], kinds).to_parquet(where / "lmms-lab-encoder" / "POPE" / "test.parquet")
    suite = Path(__file__).parents[2] / "docs" / "examples" / "suite.yaml"
    with ChatServer(lambda request: "yes" if "Is there a ship?" in request.texts[-1] else "{}") as server:
        model = ("--model", "openai", "--model_args", f"model=m,base_url={server.base_url}")
        run = run_host(
            where, "--config", str(suite), *model, "--limit", "2",
            env=on(twin, OPENAI_API_KEY="none", NO_PROXY="127.0.0.1"),
        )  # fmt: skip
    assert run.metrics("pope")["pope_accuracy"] == 1.0
    for task in ("georefusalbench", "georefusalbench_noimage", "georefusalbench_shuffled"):
        assert run.n(task) == 2


def test_from_python_it_is_one_call(folder: Path, twin: Path) -> None:
    program = folder / "own_program.py"
    program.write_text(
        "import json, sys\n"
        "from lmms_eval.evaluator import simple_evaluate\n"
        "found = simple_evaluate(model='georefusal_constant', tasks=['georefusalbench'], limit=5)\n"
        "json.dump(found['n-samples'], open(sys.argv[-1] + '_counts.json', 'w'))\n",
        encoding="utf-8",
    )
    run = run_host(folder / "python", program=(sys.executable, str(program)), env=on(twin))
    assert json.loads(Path(f"{run.folder}_counts.json").read_text())["georefusalbench"]["effective"] == 5


def test_missing_data_is_one_line_at_once_and_a_failure(folder: Path) -> None:
    run = run_host(folder / "missing", *ALWAYS, "--tasks", "georefusalbench", env=on(folder / "nowhere"))
    assert run.status == 1
    assert run.output.splitlines()[-1].startswith("error: ")
    assert str(folder / "nowhere") in run.output
    assert "Traceback" not in run.output
    assert "RetryError" not in run.output


@pytest.fixture
def foreign_plugin(tmp_path: Path) -> str:
    """Another package's broken entry point, found before ours."""
    info = tmp_path / "site" / "aaa-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: aaa\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lmms_eval.models]\naaa = no_such_module_aaa:manifests\n")
    return str(info.parent)


def test_another_plugins_fault_is_found_by_the_doctor_and_the_official_path_still_works(
    tmp_path: Path, twin: Path, foreign_plugin: str
) -> None:
    broken = on(twin, PYTHONPATH=foreign_plugin)
    doctor = subprocess.run(
        [sys.executable, "-c", "from georefusal_task.cli import main; main()", "doctor"],
        cwd=tmp_path,  # a source tree holds metadata of ours, which would come first
        env={**broken, "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert doctor.returncode == 1
    assert "the plugin aaa of lmms-eval is broken" in doctor.stdout
    listed = run_host(tmp_path / "run", "tasks", "list", "--include-path", str(tasks_dir()), env=broken, output=False)
    assert set(TASKS) <= {line.strip() for line in listed.output.splitlines()}


def test_switched_off_the_host_knows_none_of_our_tasks(folder: Path, twin: Path) -> None:
    run = run_host(folder / "off", *ALWAYS, "--tasks", "georefusalbench", env=on(twin, **{OFF_VARIABLE: "1"}))
    assert "Tasks were not found: georefusalbench" in run.output
    assert not run.files


def test_listing_models_stays_light() -> None:
    program = "import sys, lmms_eval.models as m; print('georefusal_oracle' in m.AVAILABLE_MODELS, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    known, *modules = done.stdout.split()
    assert known == "True"
    assert not {"torch", "datasets", "PIL", "pydantic", "numpy", "georefusal_task.data"} & set(modules)


def test_the_entry_point_is_declared_once() -> None:
    found = [e for e in metadata.entry_points(group="lmms_eval.models") if e.value.startswith("georefusal_task.")]
    assert len(found) == 1
