"""Cuts thought from a reply: what a reasoning model writes before it commits itself is not its reply."""

import re
from collections import Counter

from georefusal_task.core.reply_json import scan

_TAG = re.compile(
    r"<\s{0,5}(/?)\s{0,5}(think|thinking|thought|reasoning|analysis)(?:\s[^<>]{0,200})?(?<!/)>", re.IGNORECASE
)


def cut_thought(text: str) -> tuple[str, bool]:
    """Return the text without its thought, and whether it ends within a thought that is never closed.

    A closed block goes, whatever is nested in it; a closing tag without an opening one ends a thought that began
    with the text; an opening tag without a closing one begins a thought that fills the rest. A tag inside a JSON object
    is text that the object quotes.
    """
    tags = list(_TAG.finditer(text))
    if not tags:
        return text, False
    found = scan(text)
    cut_start = found.cut.start if found.cut else len(text)
    kept: list[str] = []
    open_tags: list[str] = []
    count: Counter[str] = Counter()  # of open_tags, which may be long
    at = span = 0  # `at`: end of the last cut; `span`: the first object that does not lie before the tag
    for tag in tags:
        while span < len(found.spans) and found.spans[span][1] <= tag.start():
            span += 1
        if span < len(found.spans) and found.spans[span][0] < tag.start():
            continue
        if cut_start < tag.start() and not open_tags:  # an object that is begun within a thought need not end
            continue
        name = tag[2].lower()
        if not tag[1]:
            if not open_tags:
                kept.append(text[at : tag.start()])
            open_tags.append(name)
            count[name] += 1
        elif count[name]:
            closed = ""
            while closed != name:
                closed = open_tags.pop()
                count[closed] -= 1
        else:
            kept.clear()
            open_tags.clear()
            count.clear()
        at = tag.end()
    if open_tags:
        return "".join(kept), True
    return "".join((*kept, text[at:])), False
