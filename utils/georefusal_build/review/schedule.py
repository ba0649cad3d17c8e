"""Which item a reviewer sees when: short sessions, an order of their own, and never two views of one image in one."""

from collections.abc import Mapping

from georefusal_build.streams import Stream

Sessions = list[list[str]]


def schedule(ties: Mapping[str, frozenset[str]], limit: int, stream: Stream) -> Sessions:
    """Return the sessions of one reviewer: every key once, at most `limit` in one, and none that shares a tie.

    Args:
        ties: key -> what it has in common with others, such as its image.
        limit: most items of one session, at least 1.
        stream: decides the order.

    Keys with the rarest freedom are placed first, each into the emptiest session that takes it, so that sessions are of
    about the same length; where none takes it, there is one session more.
    """
    crowd: dict[str, int] = {}
    for tied in ties.values():
        for tie in tied:
            crowd[tie] = crowd.get(tie, 0) + 1
    freedom = {key: max((crowd[tie] for tie in tied), default=1) for key, tied in ties.items()}
    sessions: Sessions = [[] for _ in range(max(-(-len(ties) // limit), max(freedom.values(), default=1)))]
    taken: list[set[str]] = [set() for _ in sessions]
    for key in sorted(stream.shuffled(sorted(ties)), key=lambda key: -freedom[key]):
        fits = [n for n, there in enumerate(sessions) if len(there) < limit and not taken[n] & ties[key]]
        if not fits:
            sessions.append([])
            taken.append(set())
            fits = [len(sessions) - 1]
        place = min(fits, key=lambda n: len(sessions[n]))
        sessions[place].append(key)
        taken[place] |= ties[key]
    return stream.shuffled([stream.shuffled(session) for session in sessions if session])
