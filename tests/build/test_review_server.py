"""The review server gives its page, its bundle and nothing else, to this computer and nobody else."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from support.review import bundle_of, fields, serving

from georefusal_build.review.bundle import Bundle, Key, key_path
from georefusal_build.review.server import TOKEN_HEADER, ReviewServer
from georefusal_build.review.vote_file import VoteFile
from georefusal_build.review.votes import read_votes
from georefusal_task.core.errors import ConfigError

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Bundle, Key]:
    return bundle_of(tmp_path_factory.mktemp("served"))


@pytest.fixture
def server(made: tuple[Path, Bundle, Key], tmp_path: Path) -> Iterator[ReviewServer]:
    folder, bundle, _ = made
    with serving(folder, bundle, tmp_path / "votes.jsonl") as running:
        yield running


def ask(server: ReviewServer, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    sent = {"Host": f"127.0.0.1:{server.server_port}"} | {
        name.replace("_", "-"): text for name, text in headers.items()
    }
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, text in sent.items():
        connection.putheader(name, text)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    found = response.status, {name.lower(): text for name, text in response.getheaders()}, response.read()
    connection.close()
    return found


def post(server: ReviewServer, vote: object, **headers: str) -> Answer:
    own = {
        "Origin": f"http://127.0.0.1:{server.server_port}",
        "Content_Type": "application/json",
        TOKEN_HEADER.replace("-", "_"): server.token,
    }
    return ask(server, "/api/vote", "POST", json.dumps(vote).encode(), **{**own, **headers})


def first(server: ReviewServer, **choice: Any) -> dict[str, Any]:
    return fields(server.bundle, "a", 1, **choice) | {"seen": 0}


def test_it_listens_on_this_computer_alone(server: ReviewServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/"


def test_a_reviewer_gets_the_items_in_order_and_no_label(server: ReviewServer, made: tuple[Path, Bundle, Key]) -> None:
    status, _, body = ask(server, "/api/state?reviewer=a")
    state = json.loads(body)
    assert status == 200
    assert tuple(item["key"] for session in state["sessions"] for item in session) == tuple(
        one for session in server.bundle.reviewers["a"] for one in session
    )
    assert {name for session in state["sessions"] for item in session for name in item} == {
        "key", "question", "content", "votes",
    }  # fmt: skip
    assert server.bundle.seal.encode() not in body
    assert not [known.item for known in made[2].items.values() if known.item.encode() in body]
    assert json.loads(ask(server, "/api/reviewers")[2]) == {"reviewers": ["a", "b"]}


@pytest.mark.parametrize(
    "path",
    [
        "/bundle.json",
        "/../bundle.key.json",
        "/images/../bundle.json",
        "/images/..%2fbundle.json",
        "/images/%2e%2e/%2e%2e/bundle.key.json",
        "/images//etc/passwd",
        "//etc/passwd",
        "/images/",
        "/images/{key}.png",
        "/images/{key}/..",
        "/images/{key}%00",
        "/page/../server.py",
        "/page.css/",
        "/votes.jsonl",
        "http://127.0.0.1/etc/passwd",
        "http://[",
        "/api/state?reviewer=z",
        "/api/state?reviewer=a&reviewer=z",
        "/api/votes?reviewer=a&after=-1",
        "/api/votes?reviewer=a&after=%c2%b2",
        "/api/vote",
    ],
)
def test_there_is_nothing_outside_the_bundle(server: ReviewServer, path: str) -> None:
    status, _, body = ask(server, path.format(key=next(iter(server.bundle.items))))
    assert (status, json.loads(body)) == (404, {"error": "there is nothing here"})


def test_the_key_beside_the_bundle_is_never_served(server: ReviewServer) -> None:
    assert key_path(server.folder).is_file()
    for path in (f"/{key_path(server.folder).name}", f"/../{key_path(server.folder).name}"):
        assert ask(server, path)[0] == 404


def test_an_image_that_was_swapped_while_serving_is_not_shown(tmp_path: Path) -> None:
    folder, bundle, _ = bundle_of(tmp_path)
    one, two = sorted(bundle.items)[:2]
    with serving(folder, bundle, tmp_path / "votes.jsonl") as server:
        assert ask(server, f"/images/{one}")[0] == 200
        (folder / "images" / f"{one}.png").write_bytes((folder / "images" / f"{two}.png").read_bytes())
        status, _, body = ask(server, f"/images/{one}")
        assert status == 500
        assert b"was changed since the bundle was made" in body
        (folder / "images" / f"{two}.png").unlink()
        (folder / "images" / f"{two}.png").symlink_to("/etc/hostname")
        assert ask(server, f"/images/{two}")[0] == 500


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "[::1]:{port}"]
)
def test_another_name_for_this_computer_is_refused(server: ReviewServer, host: str) -> None:
    """A web site whose name is made to point at 127.0.0.1 would otherwise read the bundle and vote."""
    named = host.format(port=server.server_port)
    for path in ("/", "/api/state?reviewer=a", f"/images/{next(iter(server.bundle.items))}"):
        assert ask(server, path, Host=named)[0] == 421
    assert post(server, first(server), Host=named)[0] == 421
    assert ask(server, "/", Host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1:1"},
        {TOKEN_HEADER.replace("-", "_"): "guess"},
        {TOKEN_HEADER.replace("-", "_"): "\u00e9"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_another_site_cannot_vote(server: ReviewServer, headers: dict[str, str]) -> None:
    assert post(server, first(server), **headers)[0] == 403
    assert server.votes.of("a") == []


def test_a_form_of_another_site_cannot_vote(server: ReviewServer) -> None:
    assert post(server, first(server), Content_Type="text/plain")[0] == 400
    assert post(server, first(server), Content_Type="application/x-www-form-urlencoded")[0] == 400
    assert server.votes.of("a") == []


def test_other_sites_cannot_show_the_images(server: ReviewServer) -> None:
    image = f"/images/{next(iter(server.bundle.items))}"
    assert ask(server, image, Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(server, "/", Sec_Fetch_Site="cross-site")[0] == 200  # a link may lead to the page
    status, headers, _ = ask(server, image)
    assert status == 200
    assert headers["content-type"] == "image/png"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    policy = ask(server, "/")[1]["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "harm",
    [
        {"verdict": "MAYBE"},
        {"verdict": "REMOVE"},
        {"verdict": "ANSWER"},
        {"item_id": "0" * 12},
        {"content": "0" * 64},
        {"order": 2},
        {"order": True},
        {"ms": -1},
        {"ms": 1.5},
        {"confidence": 4},
        {"flags": ["wording", "wording"]},
        {"note": "x" * 2_001},
        {"note": "\ud800"},
        {"reviewer": "z"},
        {"reviewer": ["a"]},
        {"seen": None},
        {"seq": 7},
        {"seal": "0"},
        {"extra": 1},
    ],
    ids=str,
)
def test_what_is_no_vote_is_not_written(server: ReviewServer, harm: dict[str, Any]) -> None:
    status, _, body = post(server, first(server) | harm)
    assert status == 400
    assert json.loads(body)["error"]
    assert server.votes.path.read_bytes() == b""


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 9_000, b"\xff\xfe", b'{"seen": 1e999}'])
def test_what_is_no_json_is_refused(server: ReviewServer, body: bytes) -> None:
    headers = {TOKEN_HEADER: server.token, "Content-Type": "application/json", "Origin": server.address.rstrip("/")}
    assert ask(server, "/api/vote", "POST", body, **headers)[0] == 400


def test_a_request_that_is_too_long_is_not_read(server: ReviewServer) -> None:
    assert ask(server, "/api/vote", "POST", b"x" * 20_000)[0] == 413
    assert ask(server, "/api/vote", "POST")[0] == 413  # no length at all
    assert ask(server, "/api/vote", "DELETE")[0] == 501


def test_a_vote_comes_back_with_those_of_other_tabs(server: ReviewServer) -> None:
    assert post(server, first(server))[0] == 200
    status, _, body = post(server, fields(server.bundle, "a", 2) | {"seen": 0})
    assert status == 200
    assert [vote["seq"] for vote in json.loads(body)["votes"]] == [1, 2]
    assert [vote["seq"] for vote in json.loads(ask(server, "/api/votes?reviewer=a&after=1")[2])["votes"]] == [2]
    assert json.loads(ask(server, "/api/votes?reviewer=b")[2])["votes"] == []


def test_votes_of_many_tabs_at_once_are_all_kept(server: ReviewServer) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def cast(order: int) -> int:
        return post(server, fields(server.bundle, "ab"[order % 2], order) | {"seen": 0})[0]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(cast, range(1, 41))) == {200}
    assert len(read_votes(server.votes.path, server.bundle.ballot).votes) == 40


def test_a_full_disk_is_said_and_nothing_is_confirmed(server: ReviewServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(server.votes, "append", full)
    status, _, body = post(server, first(server))
    assert status == 507
    assert json.loads(body)["error"] == "the vote could not be written: No space left on device"


def test_the_page_can_be_narrowed_to_one_reviewer(made: tuple[Path, Bundle, Key], tmp_path: Path) -> None:
    folder, bundle, _ = made
    with serving(folder, bundle, tmp_path / "votes.jsonl", ["b"]) as server:
        assert json.loads(ask(server, "/api/reviewers")[2]) == {"reviewers": ["b"]}
        assert ask(server, "/api/state?reviewer=a")[0] == 404
        assert post(server, first(server))[0] == 400


def test_a_port_in_use_and_an_unknown_reviewer_are_said(server: ReviewServer, tmp_path: Path) -> None:
    votes = VoteFile(tmp_path / "other.jsonl", server.bundle.ballot)
    with pytest.raises(ConfigError, match=r"port \d+ cannot be used .*--port"):
        ReviewServer(server.folder, server.bundle, votes, port=server.server_port)
    with pytest.raises(ConfigError, match="'z' is no reviewer of this bundle; they are a, b"):
        ReviewServer(server.folder, server.bundle, votes, reviewers=["z"])
    votes.close()


def test_a_connection_that_says_nothing_holds_nobody_up(server: ReviewServer) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port)):
        assert ask(server, "/")[0] == 200


def test_the_command_serves_until_it_is_interrupted(made: tuple[Path, Bundle, Key], tmp_path: Path) -> None:
    command = [Path(sys.executable).with_name("georefusal"), "build", "review", "serve", made[0], "--port", "0"]
    file = tmp_path / "votes.jsonl"
    torn = b'{"schema": "rev'
    file.write_bytes(torn)
    with subprocess.Popen(
        [*command, "--votes", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        again = subprocess.run([*command, "--votes", file], capture_output=True, text=True, check=False)
        assert again.returncode == 1
        assert "another server writes to" in again.stderr
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert f"cut off after {len(torn)} bytes" in errors
    assert "every vote is saved" in errors
    assert file.read_bytes() == b""
