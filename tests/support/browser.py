"""What tests of pages in Chromium share."""

from typing import Any

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def contrast(page: Any, selector: str) -> float:
    """Return the contrast of text to what lies behind it. Source: WCAG 2, relative luminance."""
    colours = page.locator(selector).first.evaluate(
        """element => {
          const style = getComputedStyle(element), svg = element instanceof SVGElement;
          let behind = element;
          while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
          return [svg ? style.fill : style.color, getComputedStyle(behind).backgroundColor];
        }"""
    )
    light, dark = sorted(map(luminance, colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
