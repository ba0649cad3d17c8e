"""GeoRefusalBench for inspect_ai: `inspect eval georefusal_task/georefusalbench --model MODEL`.

inspect_ai imports this module through its entry-point group and finds the decorated functions by the package's name.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from georefusal_task.adapters.common import MINI, described, load, spec_of
from georefusal_task.adapters.inspect_grsvqa import grsvqa, grsvqa_mini, grsvqa_noimage, grsvqa_two_turn
from georefusal_task.adapters.inspect_messages import one_turn
from georefusal_task.adapters.inspect_scorer import accept_set, georefusal
from georefusal_task.tasks_table import Variant
from georefusal_task.variants import show, shown_cases

__all__ = ["georefusalbench", "georefusalbench_mini", "grsvqa", "grsvqa_mini", "grsvqa_noimage", "grsvqa_two_turn"]


@task
def georefusalbench(
    variant: Variant = "main",
    prompt: str = "default",
    data: str | None = None,
    limit: int | None = None,
    clusters: str | None = None,
) -> Task:
    """Return the benchmark as a task.

    Args:
        variant: what is shown as the image: main, jpeg_q95, noimage, shuffled or grey.
        prompt: name of the prompt, such as default, minimal or mcq.
        data: folder of the set; else GEOREFUSAL_DATA, else the Hub. `mini` is the small set of this package.
        limit: the first so many items only.
        clusters: file of JSONL {"id", "cluster"}, read when the run is summed up: the interval and the test then count
            items of one base question or image as dependent.
    """
    spec = spec_of(prompt, variant, data)
    benchmark = load(spec, data)
    samples = [
        Sample(
            id=item.case.id,
            input=spec.asks.text(item.case),
            target=list(item.label.accept),
            metadata=item.label.model_dump(mode="json", include={"set", "category", "intensity", "lever"}),
        )
        for item in benchmark.items[:limit]
    ]
    return Task(
        name=spec.name,
        version=spec.asks.version,
        metadata=described(spec, benchmark),
        dataset=MemoryDataset(samples, name=spec.name),
        setup=show_item(variant, prompt, data),  # a setup stays when the user brings another solver
        solver=generate(),
        scorer=accept_set(prompt, data),
        metrics=[georefusal(prompt, variant, clusters)],
        config=GenerateConfig(temperature=0, max_tokens=1024),
        score_on_error=True,  # a failed request stays in n and counts as wrong, and does not end the run
    )


@task
def georefusalbench_mini(variant: Variant = "main", prompt: str = "default", limit: int | None = None) -> Task:
    """Return the same on the small set that ships with the package, which needs no download."""
    return georefusalbench(variant, prompt, MINI, limit)


@solver
def show_item(variant: Variant = "main", prompt: str = "default", data: str | None = None) -> Solver:
    """Return the step that puts the image between instruction and question, made when its sample is run."""
    spec = spec_of(prompt, variant, data)
    shown = shown_cases([item.case for item in load(spec, data).items], variant)
    cases = {case.id: case for case in shown}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        case = cases[str(state.sample_id)]
        image = show(case, variant)
        if image is not None:
            state.messages = one_turn(spec.asks.instruction, image, spec.asks.ask(case))
        return state

    return solve
