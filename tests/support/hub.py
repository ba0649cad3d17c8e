"""A stand-in for the Hub on 127.0.0.1: serves a folder as a data set with one commit, and keeps what was asked."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """Address and request log of a running stand-in."""

    def __init__(self, folder: Path, repository: str) -> None:
        self.folder = folder
        self.repository = repository
        self.url = ""
        self.paths: list[str] = []

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body for a GET of this path."""
        api, files = f"/api/datasets/{self.repository}/", f"/datasets/{self.repository}/resolve/"
        if path.startswith(files):
            revision, _, name = path.removeprefix(files).partition("/")
            file = self.folder / name
            if revision in (COMMIT, "main") and file.is_file():
                body = file.read_bytes()
                return 200, {"ETag": f'"{hashlib.sha1(body).hexdigest()}"', "X-Repo-Commit": COMMIT}, body
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        if path.startswith(api):
            what, _, revision = path.removeprefix(api).partition("/")
            if revision.split("/")[0] not in (COMMIT, "main"):
                return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
            names = sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("*") if file.is_file())
            if what == "revision":
                return self._json({"id": self.repository, "sha": COMMIT, "siblings": [{"rfilename": n} for n in names]})
            if what == "tree":
                return self._json([self._entry(name) for name in names])
        return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"

    def _entry(self, name: str) -> dict[str, object]:
        data = (self.folder / name).read_bytes()
        return {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}

    @staticmethod
    def _json(value: object) -> tuple[int, dict[str, str], bytes]:
        return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


@contextmanager
def serve_hub(folder: Path, repository: str) -> Iterator[Hub]:
    """Run a stand-in that serves the folder; for HF_ENDPOINT take `.url`."""
    hub = Hub(folder, repository)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.paths.append(path)
            status, headers, body = hub.answer(path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
