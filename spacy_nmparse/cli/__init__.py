"""`python -m spacy nmparse ...`: found by spaCy's command line through an entry point.

spaCy imports this module for each of its commands: it imports nothing of ours until one of our own
commands is asked for, and a spaCy that keeps its application elsewhere just does not get them. A
command, with its options, is the function ``run`` in the module of its name; other packages bring
commands by the entry points ``spacy_nmparse_commands``.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from spacy_nmparse.private import command_line

HELP = "Convert treebanks, parse files, evaluate, and see what parsers do."
COMMANDS = (
    *("parse", "convert", "init-config", "evaluate", "compare", "trace", "errors"),
    *("annotate", "learn-on", "replace", "vectors", "draw", "systems", "debug-data"),
)


class Commands(TyperGroup):
    """The commands, each made when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return [*COMMANDS, *entry_points(group="spacy_nmparse_commands").names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; None: there is none of this name."""
        settings: dict[str, Any] = {}
        if cmd_name in COMMANDS:
            module = import_module(f"{__name__}.{cmd_name.replace('-', '_')}")
            run, settings = module.run, getattr(module, "CONTEXT", {})
        elif found := entry_points(group="spacy_nmparse_commands", name=cmd_name):
            run = next(iter(found)).load()
        else:
            return None
        own = typer.Typer(add_completion=False)
        own.command(cmd_name, context_settings=settings)(run)
        return typer.main.get_command(own)


nmparse = typer.Typer(name="nmparse", cls=Commands, no_args_is_help=True, help=HELP)


@nmparse.callback()
def main(context: typer.Context) -> None:
    """Convert treebanks, parse files, evaluate, and see what parsers do."""
    from spacy_nmparse.cli.process import prepared

    context.with_resource(prepared())


with suppress(ImportError):
    command_line().add_typer(nmparse, name="nmparse")
