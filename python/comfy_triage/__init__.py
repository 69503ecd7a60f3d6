"""comfy-triage from Python: each function runs the program that this package installed and gives its JSON.

Nothing is sent anywhere. A log is handed over through a pipe and never written to disk.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any, Iterable

__all__ = ["ComfyTriageError", "compare", "explain", "probe", "program", "triage", "triage_file"]


class ComfyTriageError(RuntimeError):
    """The program could not answer; the text is what it wrote on standard error."""


def program() -> str:
    """Path of the program: the one of this environment, else the one on the path."""
    name = "comfy-triage.exe" if os.name == "nt" else "comfy-triage"
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        own = Path(sysconfig.get_path("scripts", scheme)) / name
        if own.is_file():
            return str(own)
    found = shutil.which(name)
    if found is None:
        raise ComfyTriageError("the program comfy-triage is not installed: pip install comfy-triage")
    return found


def _run(arguments: list[str], text: str | bytes | None = None, timeout: float | None = None) -> str:
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    stdin = {"input": data} if data is not None else {"stdin": subprocess.DEVNULL}
    done = subprocess.run([program(), *arguments], capture_output=True, timeout=timeout, **stdin)
    if done.returncode not in (0, 1):
        raise ComfyTriageError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8")


def _options(asked: Iterable[str], redact: bool, lang: str) -> list[str]:
    options = ["--format", "json", "--lang", lang]
    for worry in asked:
        options += ["--asked", worry]
    return options + (["--redact"] if redact else [])


def triage(text: str | bytes, *, asked: Iterable[str] = (), redact: bool = False, lang: str = "en") -> dict[str, Any]:
    """The report on a log, as ``comfy-triage schema triage`` describes it.

    >>> triage("got prompt\\nPrompt executed in 2.50 seconds\\n")["verdict"]["primary"]
    'insufficient-evidence'
    """
    return json.loads(_run(["triage", "-", *_options(asked, redact, lang)], text))["reports"][0]


def triage_file(path: str | os.PathLike[str], *, asked: Iterable[str] = (), redact: bool = False, lang: str = "en") -> dict[str, Any]:
    """The same of a file, also ``.gz`` and ``.zst``, in any encoding."""
    return json.loads(_run(["triage", *_options(asked, redact, lang), "--", os.fspath(path)]))["reports"][0]


def compare(before: str | os.PathLike[str], after: str | os.PathLike[str], *, redact: bool = False, lang: str = "en") -> dict[str, Any]:
    """What changed between two logs, as ``comfy-triage schema compare`` describes it."""
    options = ["--format", "json", "--lang", lang] + (["--redact"] if redact else [])
    return json.loads(_run(["compare", *options, "--", os.fspath(before), os.fspath(after)]))


def explain(identifier: str, *, lang: str = "en") -> str:
    """A verdict, rule, flag of ComfyUI, known bug or node pack in a paragraph."""
    return _run(["explain", "--lang", lang, "--", identifier])


def probe(*, lang: str = "en") -> dict[str, Any]:
    """What this machine or container really grants, as ``comfy-triage schema probe`` describes it."""
    return json.loads(_run(["probe", "--format", "json", "--lang", lang]))
