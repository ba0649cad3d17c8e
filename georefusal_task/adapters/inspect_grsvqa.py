"""Answer-grounding consistency for inspect_ai: `inspect eval georefusal_task/grsvqa --model MODEL`.

A sample is one request, as a document of lmms-eval is; replies to two turns are joined where the run is summed up.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from georefusal_task.adapters.inspect_grsvqa_scorer import answer_and_boxes
from georefusal_task.adapters.inspect_messages import one_turn
from georefusal_task.benchmarks.grounding_prompts import PROMPTS
from georefusal_task.core.frames import Frame, get_frame
from georefusal_task.grounding_replies import described
from georefusal_task.grounding_tasks import GROUNDING_TASKS, declared_frame, load_set, requests


@task
def grsvqa(data: str | None = None, frame: str | None = None, limit: int | None = None) -> Task:
    """Return the task that asks for answer and boxes in one reply.

    Args:
        data: folder of the questions; else GRSVQA_DATA.
        frame: coordinate frame of the model's boxes; else GEOREFUSAL_FRAME, else what the model's name settles.
        limit: the first so many questions only.
    """
    return _task("grsvqa", data, frame, limit)


@task
def grsvqa_two_turn(data: str | None = None, frame: str | None = None, limit: int | None = None) -> Task:
    """Return the task that asks for answer and boxes apart, two samples per question; arguments as for `grsvqa`."""
    return _task("grsvqa_two_turn", data, frame, limit)


@task
def grsvqa_noimage(data: str | None = None, frame: str | None = None, limit: int | None = None) -> Task:
    """Return `grsvqa` without the image; arguments as there."""
    return _task("grsvqa_noimage", data, frame, limit)


@task
def grsvqa_mini(frame: str | None = None, limit: int | None = None) -> Task:
    """Return `grsvqa` on the small set that ships with the package, which needs no download."""
    return _task("grsvqa_mini", None, frame, limit)


def _task(name: str, data: str | None, frame: str | None, limit: int | None) -> Task:
    spec, chosen = GROUNDING_TASKS[name], _frame(frame)
    questions = load_set(spec, data)
    asked = list(requests(spec, questions))[: None if limit is None else limit * len(spec.turns)]
    about = described(spec, questions, chosen)
    samples = [
        Sample(
            id=one.id,
            input=PROMPTS[one.turn].text(one.question, chosen),
            target=one.gold.answer,
            metadata={"type": str(one.question.type), "classes": list(one.question.classes), "turn": one.turn},
        )
        for one in asked
    ]
    return Task(
        name=name,
        version=about["version"],
        metadata=about,
        dataset=MemoryDataset(samples, name=name),
        setup=show_request(name, data, chosen.label),  # a setup stays when the user brings another solver
        solver=generate(),
        scorer=answer_and_boxes(name, data, chosen.label),
        config=GenerateConfig(temperature=0, max_tokens=2048),
        score_on_error=True,  # a failed request stays in n and counts as wrong, and does not end the run
    )


def _frame(named: str | None) -> Frame:
    try:
        models = [get_model().name]
    except ValueError:  # no model is chosen yet
        models = []
    return declared_frame(models, named)


@solver
def show_request(name: str, data: str | None, frame: str) -> Solver:
    """Return the step that puts the image between instruction and question, made when its sample is run."""
    spec = GROUNDING_TASKS[name]
    asked = {one.id: one for one in requests(spec, load_set(spec, data))}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        from georefusal_task import images

        one = asked[str(state.sample_id)]
        if spec.image:
            prompt, image = PROMPTS[one.turn], images.as_sent(one.question.image)
            state.messages = one_turn(prompt.instruction(get_frame(frame)), image, prompt.ask(one.question))
        return state

    return solve
