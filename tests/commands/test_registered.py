"""Commands that other packages register."""

from importlib.metadata import EntryPoint

import pytest
import typer

from georefusal_task import cli


def single(name: str) -> None:
    """Greet."""
    print(f"hello {name}")


several = typer.Typer()
several.command("one")(single)
several.command("two")(single)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """The command line with three registered commands, one of which cannot be loaded."""
    entries = [
        EntryPoint("alone", f"{__name__}:single", "georefusal.commands"),
        EntryPoint("broken", "no_such_package:APP", "georefusal.commands"),
        EntryPoint("several", f"{__name__}:several", "georefusal.commands"),
    ]
    monkeypatch.setattr(cli, "entry_points", lambda group: entries)
    monkeypatch.setattr(cli, "app", typer.Typer())
    cli.app.command("core")(single)
    cli._add_registered_commands()
    return cli.app


@pytest.mark.parametrize("command", [["alone"], ["several", "two"], ["core"]])
def test_a_function_is_a_command_and_an_app_a_group(registered: typer.Typer, command: list[str]) -> None:
    """A typer app of one command would otherwise be called by its name twice."""
    from typer.testing import CliRunner

    done = CliRunner().invoke(registered, [*command, "you"])
    assert (done.exit_code, done.stdout) == (0, "hello you\n"), done.stderr


def test_a_broken_one_costs_only_itself(registered: typer.Typer, capsys: pytest.CaptureFixture[str]) -> None:
    cli._add_registered_commands()
    assert "warning: command 'broken' of no_such_package:APP could not be loaded" in capsys.readouterr().err
