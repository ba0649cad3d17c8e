"""What can come out of pulling a lever: an item with a label, or one reason why there is none."""

from dataclasses import dataclass, field
from enum import StrEnum

from georefusal_build.anchors import Measurement
from georefusal_build.arrays import U8, Mask
from georefusal_build.targets import Target
from georefusal_task.core.verdicts import Verdict

Json = str | float | int | bool | None | list["Json"] | dict[str, "Json"]


class Reason(StrEnum):
    """Why a lever gave no item; every candidate that is dropped carries exactly one."""

    ALREADY_PULLED = "already_pulled"
    """Another lever has changed this image: one item, one lever."""
    NO_TARGET = "no_target"
    """Nothing to aim at, or it lies outside the image."""
    WRONG_BASE = "wrong_base"
    """The lever is not defined for this modality or this base answer."""
    NO_MATCH = "no_match"
    """A question lever finds no second class, part, sense or clause here that it could speak of."""
    TARGET_TOO_SMALL = "target_too_small"
    TARGET_TOO_LARGE = "target_too_large"
    """The targets, or all of them together, need more of the image than the budget allows."""
    TARGET_TOO_FAINT = "target_too_faint"
    """A target does not stand out on the clean image, so its loss could not be shown."""
    WAKE = "wake"
    """A ship on a radar image has a wake, which would give it away: nothing can hide it."""
    NO_ROOM = "no_room"
    """No place for decoys, or for the same pattern away from the targets."""
    BASE_NOT_CLEAN = "base_not_clean"
    """The untouched image already shows what the lever would bring (cloud, saturation)."""
    UNEVEN_BUDGET = "uneven_budget"
    """LOW, MEDIUM and HIGH of this base cannot be given the same budget."""
    UNMEASURED = "unmeasured"
    """A number that the label band asks for is undefined on this image."""
    DEAD_ZONE = "dead_zone"
    """The measurement lies neither in the answer band nor in the refusal band."""
    COLLATERAL = "collateral"
    """Another verdict of higher precedence holds as well."""


class InapplicableError(Exception):
    """Raised inside a lever when it cannot be pulled here; `apply` turns it into `NotApplicable`."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class NotApplicable:
    """A lever that could not be pulled on this base: a normal, counted outcome."""

    lever_id: str
    reason: Reason
    detail: str


@dataclass(frozen=True)
class Outcome:
    """A finished image with its measurement and what follows from it: a verdict, or the reason for rejecting it.

    pixels: same dtype as the input, and same shape except after tile_cut. targets: in pixels of `pixels`. mask: the
    lever's own region (what is hidden), (H, W), None when it acts on the whole image. params: what was drawn and
    chosen, plain JSON.
    """

    lever_id: str
    variant: str
    pixels: U8
    targets: tuple[Target, ...]
    measurement: Measurement
    verdict: Verdict | None
    rejection: Reason | None
    params: dict[str, Json] = field(default_factory=dict)
    mask: Mask | None = None
    levers_applied: tuple[str, ...] = ()
