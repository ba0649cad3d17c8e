"""A real OpenAI-compatible chat server on 127.0.0.1 that keeps every request and lets a test decide every reply."""

import base64
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    """One chat-completions request as it came over the wire."""

    body: dict[str, Any]

    @property
    def parts(self) -> list[dict[str, Any]]:
        """All content parts of all messages, in order; a plain string is one text part."""
        contents = (message["content"] for message in self.body["messages"])
        return [part for c in contents for part in ([{"type": "text", "text": c}] if isinstance(c, str) else c)]

    @property
    def kinds(self) -> list[str]:
        """The type of each part, such as ["text", "image_url", "text"]."""
        return [part["type"] for part in self.parts]

    @property
    def texts(self) -> list[str]:
        return [part["text"] for part in self.parts if part["type"] == "text"]

    @property
    def images(self) -> list[tuple[str, bytes]]:
        """(media type, file bytes) of each image, from its data URL."""
        urls = [part["image_url"]["url"] for part in self.parts if part["type"] == "image_url"]
        split = [url.removeprefix("data:").split(";base64,", 1) for url in urls]
        return [(media_type, base64.b64decode(data, validate=True)) for media_type, data in split]

    @property
    def params(self) -> dict[str, Any]:
        """Everything but the messages: model, max_tokens, temperature, stop, ..."""
        return {key: value for key, value in self.body.items() if key != "messages"}


Answer = str | int | None
"""A reply's text, None for `"content": null`, or an HTTP status to fail with."""


@dataclass
class ChatServer:
    """Serves while the `with` block runs; `reply` is called once per request, possibly from several threads at once."""

    reply: Callable[[Request], Answer]
    delay_s: float = 0.0
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def answer(self, request: Request) -> tuple[int, dict[str, Any]]:
        """Return HTTP status and JSON body for one request, after keeping it."""
        self.requests.append(request)
        time.sleep(self.delay_s)
        answer = self.reply(request)
        if isinstance(answer, int):
            return answer, {"error": {"message": f"status {answer}, as the test asked", "type": "scripted"}}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "chat-1", "object": "chat.completion", "created": 0, "model": request.body["model"]}
        return 200, {**head, "choices": [choice], "usage": usage}


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.endswith("/chat/completions"):
                status, answer = server.answer(Request(json.loads(body)))
            else:
                status, answer = 404, {"error": {"message": f"no such path: {self.path}"}}
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler
