"""Untrusted text made safe to stand in a terminal, in Markdown and in LaTeX: model names, replies and questions."""

import re
import unicodedata

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Control, format (text direction among them), lone surrogates, unassigned, line separators."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",  # two would become a dash
    "[": "{[}",  # after the end of a row this would be an argument
    "]": "{]}",
    "*": "{*}",
}


def visible(text: str, longest: int = 120) -> str:
    r"""Return text as one line of printable characters, cut to a length; what cannot be seen becomes a space or U+FFFD.

    >>> visible("a\x1b[31m\nb") == "a\ufffd[31m b"
    True
    """
    line = " ".join(text[: 8 * longest].split())
    shown = "".join("\ufffd" if unicodedata.category(char) in _UNSEEN else char for char in line)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def markdown(text: str, longest: int = 120) -> str:
    r"""Return untrusted text for a cell or a line of Markdown: nothing in it is markup, HTML or a link.

    >>> markdown("a|b_c <b>")
    'a\\|b\\_c &lt;b&gt;'
    """
    safe = visible(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~$@]|:(?=/)|(?<=www)\.)", r"\\\1", safe, flags=re.IGNORECASE)


def latex(text: str, longest: int = 120) -> str:
    r"""Return untrusted text for LaTeX.

    >>> latex("a_b & 50%")
    'a\\_b \\& 50\\%'
    """
    return "".join(_LATEX.get(char, char) for char in visible(text, longest))


def p_value(p: float) -> str:
    """Return a p-value as it stands in a sentence.

    >>> p_value(0.0123), p_value(1e-9)
    ('p = 0.012', 'p < 0.0001')
    """
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"
