"""Random streams: the same words everywhere, and variates with the laws that they claim."""

import numpy as np
import pytest
from scipy import stats

from georefusal_build.streams import SCHEMA, Stream, derive_key


def stream(name: str = "any") -> Stream:
    return Stream(derive_key(7, name, "test"))


def test_words_are_frozen() -> None:
    """A new numpy, or a generator method in place of raw words, would change every image of a build."""
    words = Stream(derive_key(20261130, "scene-1", "im_occlude")).words(3)
    assert [hex(int(word)) for word in words] == ["0x5fe91102d36851fc", "0x225c96bd5db021ac", "0x92bb767033b80a4d"]


def test_key_is_the_documented_hash() -> None:
    import hashlib

    text = f"{SCHEMA}|5|base|im_redact|2"
    assert derive_key(5, "base", "im_redact", 2) == int(hashlib.sha256(text.encode()).hexdigest()[:32], 16)


def test_every_part_of_the_key_counts() -> None:
    keys = {
        derive_key(1, "a", "f"),
        derive_key(2, "a", "f"),
        derive_key(1, "b", "f"),
        derive_key(1, "a", "g"),
        derive_key(1, "a", "f", 1),
    }
    assert len(keys) == 5


def test_uniform_is_the_top_53_bits() -> None:
    word = int(stream().words(1)[0])
    assert stream().uniform() == (word >> 11) / 2**53


def test_a_shaped_draw_takes_the_same_words_as_single_ones() -> None:
    one, other = stream(), stream()
    assert one.uniform((2, 3)).ravel().tolist() == [other.uniform() for _ in range(6)]


@pytest.mark.parametrize(
    ("values", "law"),
    [
        (stream().uniform((20_000,)), stats.uniform()),
        (stream().normal((20_001,)), stats.norm()),
        (stream().gamma(1, (20_000,)), stats.gamma(1, scale=1)),
        (stream().gamma(4, (20_000,)), stats.gamma(4, scale=0.25)),
    ],
)
def test_laws(values: np.ndarray, law: stats.rv_continuous) -> None:
    assert stats.kstest(values, law.cdf).pvalue > 0.01


@pytest.mark.parametrize("looks", [1, 2, 4])
def test_speckle_has_unit_mean_and_variance_one_over_looks(looks: int) -> None:
    values = stream().gamma(looks, (400, 400))
    assert values.mean() == pytest.approx(1, rel=0.01)
    assert values.var() == pytest.approx(1 / looks, rel=0.05)


def test_choices_reach_every_option_and_shuffles_lose_none() -> None:
    source = stream()
    assert {source.choice("abc") for _ in range(60)} == set("abc")
    orders = {tuple(source.shuffled("abc")) for _ in range(60)}
    assert len(orders) == 6
    assert all(sorted(order) == list("abc") for order in orders)


def test_between_stays_inside() -> None:
    values = [stream(str(i)).between(-2, 3) for i in range(200)]
    assert -2 <= min(values) < -1.5 < 2.5 < max(values) < 3
