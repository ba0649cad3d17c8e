"""Templates filled with other people's text: all of it escaped, and no script or style on the page but ours."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from georefusal_task.core.errors import ConfigError
from georefusal_task.report.texts import visible

if TYPE_CHECKING:
    from jinja2 import Environment


def fill(template: str, *, scripts: Sequence[str], styles: Sequence[str], **content: Any) -> str:
    """Return a page of its own, with these of our scripts and styles in it and a policy that allows no other.

    Raises:
        ConfigError: jinja2 is not installed.
    """
    script, style = _assets(tuple(scripts)), _assets(tuple(styles))
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return _environment().get_template(template).render(policy=policy, style=style, script=script, **content)


@cache
def _assets(names: tuple[str, ...]) -> str:
    folder = files("georefusal_task.report") / "templates"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


@cache
def _environment() -> "Environment":
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise ConfigError("HTML needs the extra `report`: pip install 'georefusal[report]'") from None
    environment = Environment(
        loader=PackageLoader("georefusal_task.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "kind": _kind, "slug": _slug}
    return environment


def _kind(part: Any) -> str:
    return type(part).__name__.lower()


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]
