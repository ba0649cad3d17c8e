"""From a set to a bundle: opaque keys, copies of the images, sessions, repeats and catch items."""

import hashlib
import hmac
import io
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from georefusal_build.layout import Row, read_provenance, write_text
from georefusal_build.review.bundle import (
    FILE,
    IMAGES,
    Bundle,
    Key,
    Kind,
    Known,
    Role,
    Shown,
    choices,
    key_path,
)
from georefusal_build.review.schedule import schedule
from georefusal_build.review.votes import Judgement, content_digest
from georefusal_build.streams import Stream, derive_key
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data import Benchmark, Item
from georefusal_task.data_files import find_image
from georefusal_task.image_files import examine

TRACE_FREE_TIME = (0, 0)
"""Access and modification time of every image of a bundle."""


@dataclass(frozen=True)
class Mix:
    """How a bundle is made."""

    seed: int
    """Decides keys and orders; whoever knows it can undo the keys, so it stands in the private key file alone."""
    repeats: float = 0.1
    """Share of items that come a second time."""
    catch: float = 0.05
    """Share of untouched images mixed in."""
    session: int = 60
    """Most items of one session."""


@dataclass(frozen=True)
class View:
    """One view of an item before it has a key."""

    item: str
    role: Role
    image: Path
    question: str
    ties: frozenset[str]
    expects_answer: bool = False
    answer: str | None = None
    votes: tuple[Judgement, ...] = ()


def blind_views(benchmark: Benchmark, mix: Mix) -> list[View]:
    """Return every item once, with repeats and catch items.

    Catch items are untouched base images with their base question where provenance leads to an image file; where it
    does not, answerable LOW items are watched instead, and only the private key says which.
    """
    folder = benchmark.folder
    rows = read_provenance(folder) if folder and (folder / "provenance").is_dir() else {}
    stream = Stream(derive_key(mix.seed, benchmark.digest, "review mix"))
    items = stream.shuffled(benchmark.items)
    views = {item.case.id: _view(item, rows.get(item.case.id, {})) for item in items}
    wanted = _share(mix.catch, len(items))
    bases = _bases(items, rows, folder) if folder else []
    catch = list({view.image: view for view in stream.shuffled(bases)}.values())[:wanted]
    if not catch:
        for item in [item for item in items if _looks_untouched(item)][:wanted]:
            views[item.case.id] = _expecting(views[item.case.id], item.label.answer)
    again = stream.shuffled(sorted(views))[: _share(mix.repeats, len(items))]
    repeats = [View(v.item, "repeat", v.image, v.question, v.ties) for v in map(views.__getitem__, again)]
    return [*views.values(), *repeats, *catch]


def write_bundle(
    out: Path, views: Sequence[View], reviewers: Sequence[str], mix: Mix, data: str, kind: Kind = "blind"
) -> tuple[Bundle, Key]:
    """Write a bundle and, beside it, its private key; return both. The folder appears when it is whole.

    Raises:
        ConfigError: the bundle or its key is there already.
        DataError: an image cannot be shown.
    """
    private = key_path(out)
    for path in (out, private):
        if path.exists():
            raise ConfigError(f"{path} exists; delete it or name a new bundle")
    secret = hashlib.sha256(f"review|{mix.seed}|{data}|{kind}".encode()).digest()
    keyed = {_opaque(secret, view): view for view in views}
    if len(keyed) != len(views):
        raise DataError(f"two of the {len(views)} views got the same key; choose another --seed")
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    (part / IMAGES).mkdir(parents=True)
    shown, known = {}, {}
    for key, view in sorted(keyed.items()):
        image = plain_png(view.image)
        file = part / IMAGES / f"{key}.png"
        file.write_bytes(image)
        os.utime(file, TRACE_FREE_TIME)
        content = content_digest(key, image, view.question)
        shown[key] = Shown(question=view.question, content=content, votes=view.votes)
        known[key] = Known(
            item=view.item,
            role=view.role,
            content=content,
            source_sha256=hashlib.sha256(view.image.read_bytes()).hexdigest(),
            question=view.question,
            expects_answer=view.expects_answer,
            answer=view.answer,
            allowed=choices(view.votes) if kind == "adjudication" else (),
        )
    ties = {key: view.ties for key, view in keyed.items()}
    orders = {
        name: tuple(map(tuple, schedule(ties, mix.session, Stream(derive_key(mix.seed, data, f"review order {name}")))))
        for name in reviewers
    }
    bundle_id = hashlib.sha256("".join(one.content for one in shown.values()).encode()).hexdigest()[:16]
    seal = hmac.new(secret, b"seal", hashlib.sha256).hexdigest()
    bundle = Bundle(schema="review-bundle/1", id=bundle_id, kind=kind, seal=seal, reviewers=orders, items=shown)
    key_file = Key(
        schema="review-key/1",
        bundle=bundle_id,
        kind=kind,
        seal=seal,
        seed=mix.seed,
        data=data,
        reviewers=orders,
        items=known,
    )
    write_text(part / FILE, bundle.model_dump_json(by_alias=True, indent=1) + "\n")
    write_text(private, key_file.model_dump_json(by_alias=True, indent=1) + "\n")
    private.chmod(0o600)
    part.replace(out)
    return bundle, key_file


def plain_png(path: Path) -> bytes:
    """Return an image file as a PNG of nothing but pixels; one that is so already keeps its bytes.

    Raises:
        DataError: it is no image that can be shown.
    """
    from georefusal_task.images import open_image

    data = path.read_bytes()
    try:
        if examine(data).plain:
            return data
    except ValueError as error:
        raise DataError(f"image {path} cannot be used: {error}") from None
    encoded = io.BytesIO()
    open_image(path).save(encoded, "PNG")
    return encoded.getvalue()


def _opaque(secret: bytes, view: View) -> str:
    identity = json.dumps([view.item, view.role])
    return hmac.new(secret, identity.encode(), hashlib.sha256).hexdigest()[:12]


def _share(share: float, items: int) -> int:
    """Return how many that is, at least one unless none are wanted."""
    return max(1, round(share * items)) if share and items else 0


def _looks_untouched(item: Item) -> bool:
    return item.label.gold is Verdict.ANSWER and item.label.intensity in (None, Intensity.LOW)


def _view(item: Item, row: Mapping[str, object]) -> View:
    tied = {f"image {item.image_sha256}"} | ({f"pair {row['pair_id']}"} if row.get("pair_id") else set())
    return View(item.case.id, "item", item.case.image, item.case.question, frozenset(tied))


def _expecting(view: View, answer: str | None) -> View:
    return View(view.item, view.role, view.image, view.question, view.ties, expects_answer=True, answer=answer)


def _bases(items: Iterable[Item], rows: Mapping[str, Row], folder: Path) -> list[View]:
    """Return the untouched images that provenance leads to, each with its base question."""
    found = []
    for item in items:
        row = rows.get(item.case.id, {})
        question, answer = row.get("base_question"), row.get("base_answer")
        if not (row.get("base_image") and isinstance(question, str) and answer in ("yes", "no")):
            continue
        try:
            image = find_image(folder, row["base_image"], item.case.set)
        except ValueError:
            continue  # a name from the source's own archive, which is not in this folder
        ties = _view(item, row).ties | {f"image {hashlib.sha256(image.read_bytes()).hexdigest()}"}
        found.append(View(item.case.id, "catch", image, question, ties, expects_answer=True, answer=str(answer)))
    return found
