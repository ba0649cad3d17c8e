"""The page's server: standard library only, on 127.0.0.1 only, and nothing but the page, its bundle and its votes.

A web site that the reviewer has open at the same time must not reach it: the Host header defeats DNS rebinding, Origin
and a token that only our page can read defeat forged votes, Fetch metadata and Cross-Origin-Resource-Policy keep the
images from being embedded.
"""

import hmac
import json
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from georefusal_build.review.bundle import Bundle, image_bytes
from georefusal_build.review.vote_file import VoteFile
from georefusal_build.review.votes import FLAG_TEXTS, LONGEST_NOTE, Vote
from georefusal_task.core.errors import ConfigError, DataError

TOKEN_HEADER = "X-Review-Token"  # noqa: S105 - the header's name
_LONGEST_REQUEST = 16 * 1024
_PAGE = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_PAGE |= {f"/{name}": (name, "text/javascript") for name in ("page.js", "form.js", "viewer.js", "votes.js")}
_OURS = {"schema", "bundle", "seq", "seal"}
"""Fields of a vote that the server sets."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ReviewServer(ThreadingHTTPServer):
    """Serves one bundle to its reviewers; `serve_forever` as in the standard library, `server_close` ends both."""

    daemon_threads = True

    def __init__(
        self, folder: Path, bundle: Bundle, votes: VoteFile, *, port: int = 0, reviewers: Sequence[str] = ()
    ) -> None:
        """Listen on 127.0.0.1, on any free port where `port` is 0; `reviewers` may narrow the page to some of them.

        Raises:
            ConfigError: a reviewer is not in the bundle, or the port is taken.
        """
        unknown = [name for name in reviewers if name not in bundle.reviewers]
        if unknown:
            raise ConfigError(f"{unknown[0]!r} is no reviewer of this bundle; they are {', '.join(bundle.reviewers)}")
        self.folder, self.bundle, self.votes = folder, bundle, votes
        self.reviewers = tuple(reviewers) or tuple(bundle.reviewers)
        self.token = secrets.token_urlsafe(24)
        self.page = {
            path: (
                resources.files("georefusal_build.review").joinpath("page", name).read_bytes(),
                f"{kind}; charset=utf-8",
            )
            for path, (name, kind) in _PAGE.items()
        }
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise ConfigError(f"port {port} cannot be used ({error.strerror}); name another with --port") from None
        self.hosts = tuple(f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost"))

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://127.0.0.1:{self.server_port}/"

    def server_close(self) -> None:
        """Stop listening, and let another server have the vote file."""
        super().server_close()
        self.votes.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a page that was closed while it was being answered."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def state(self, reviewer: str) -> dict[str, Any]:
        """Return everything that the page of one reviewer shows."""
        items = self.bundle.items
        return {
            "token": self.token,
            "bundle": self.bundle.id,
            "kind": self.bundle.kind,
            "reviewer": reviewer,
            "texts": self.bundle.texts.model_dump(mode="json"),
            "flags": FLAG_TEXTS,
            "longest_note": LONGEST_NOTE,
            "sessions": [
                [
                    {
                        "key": key,
                        "question": items[key].question,
                        "content": items[key].content,
                        "votes": [vote.model_dump(mode="json") for vote in items[key].votes],
                    }
                    for key in session
                ]
                for session in self.bundle.reviewers[reviewer]
            ],
            **self.news(reviewer, 0),
        }

    def news(self, reviewer: str, after: int) -> dict[str, Any]:
        """Return the votes of a reviewer since the one numbered `after`."""
        return {"votes": [_shown(vote) for vote in self.votes.of(reviewer, after)]}

    def cast(self, given: object) -> dict[str, Any]:
        """Return the votes since the last that the page knew, among them the one just saved.

        Raises:
            ValueError: it is no vote that this page could have sent.
            OSError: it is not on the disk.
        """
        if not isinstance(given, dict) or given.keys() & _OURS or given.get("reviewer") not in self.reviewers:
            raise ValueError("that is no vote")
        seen = given.pop("seen", None)
        if type(seen) is not int:
            raise ValueError("a vote says which vote its page has seen last")
        self.votes.append(given)
        return self.news(given["reviewer"], seen)


def _shown(vote: Vote) -> dict[str, Any]:
    fields = vote.model_dump(mode="json", by_alias=True)
    return {key: value for key, value in fields.items() if key not in ("schema", "bundle", "content", "seal")}


class _RefusedError(Exception):
    """A request that gets no more than a status and a sentence."""

    def __init__(self, status: HTTPStatus, why: str, **more: str) -> None:
        super().__init__(why)
        self.status, self.content = status, {"error": why, **more}


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "georefusal-review", ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer with a file of the page, an image of the bundle, or what the page asks for."""
        self._answer(self._read)

    def do_POST(self) -> None:
        """Save a vote and answer only once it is on the disk."""
        self._answer(self._vote)

    def _answer(self, reply: Callable[[], tuple[bytes, str]]) -> None:
        status = HTTPStatus.OK
        try:
            body, kind = reply()
        except _RefusedError as refused:
            status, (body, kind) = refused.status, _json(refused.content)
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _read(self) -> tuple[bytes, str]:
        self._check_sender()
        try:
            address = urlsplit(self.path)
        except ValueError:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here") from None
        if address.path in self.server.page:
            return self.server.page[address.path]
        if address.path == "/api/reviewers":
            return _json({"reviewers": self.server.reviewers})
        key = address.path.removeprefix("/images/")
        if address.path == f"/images/{key}" and key in self.server.bundle.items:
            try:
                return image_bytes(self.server.folder, self.server.bundle, key), "image/png"
            except DataError as error:
                raise _RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from None
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        reviewer, after = asked.get("reviewer"), asked.get("after", "0")
        if reviewer in self.server.reviewers and address.path == "/api/state":
            return _json(self.server.state(reviewer))
        if reviewer in self.server.reviewers and address.path == "/api/votes" and re.fullmatch("[0-9]{1,9}", after):
            return _json(self.server.news(reviewer, int(after)))
        raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _vote(self) -> tuple[bytes, str]:
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,8}", length) or int(length) > _LONGEST_REQUEST:
            self.close_connection = True
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "that is no vote")
        body = self.rfile.read(int(length))
        self._check_sender()
        if self.headers.get("Origin") not in [f"http://{host}" for host in self.server.hosts]:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "votes come from this page alone")
        if not hmac.compare_digest(self.headers.get(TOKEN_HEADER, "").encode(), self.server.token.encode()):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the server was started anew", token="stale")  # noqa: S106
        if self.headers.get("Content-Type") != "application/json" or self.path != "/api/vote":
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "that is no vote")
        try:
            return _json(self.server.cast(json.loads(body)))
        except ValidationError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "; ".join(e["msg"] for e in error.errors())) from None
        except (ValueError, RecursionError) as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from None
        except OSError as error:
            why = f"the vote could not be written: {error.strerror}"
            raise _RefusedError(HTTPStatus.INSUFFICIENT_STORAGE, why) from None

    def _check_sender(self) -> None:
        """Refuse what was not meant for this server by its user."""
        if self.headers.get("Host") not in self.server.hosts:
            raise _RefusedError(HTTPStatus.MISDIRECTED_REQUEST, f"open {self.server.address}")
        # a link or a bookmark may open the page itself; everything else is asked for by the page
        site = self.headers.get("Sec-Fetch-Site", "none")
        if site not in ("same-origin", "none") and self.path.partition("?")[0] != "/":
            raise _RefusedError(HTTPStatus.FORBIDDEN, "this is not for other sites")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Say nothing of single requests."""


def _json(content: object) -> tuple[bytes, str]:
    return json.dumps(content).encode(), "application/json"
