"""comfy-triage for assistants: a server of the Model Context Protocol on standard input and output.

Start it with ``python -m comfy_triage.mcp`` after ``pip install "comfy-triage[mcp]"``. It reads only files that the user
names, and what it gives is redacted unless the user says otherwise: an assistant may send it on.
"""

from __future__ import annotations

from typing import Any

from mcp.server.fastmcp import FastMCP

import comfy_triage

server = FastMCP("comfy-triage")


@server.tool()
def triage(path: str, asked: list[str] | None = None, redact: bool = True, lang: str = "en") -> dict[str, Any]:
    """Say what is wrong in a ComfyUI log, with line numbers, what is not wrong, and what to do next.

    path: the log file that the user named. asked: what worries the user (ram-high, vram-high, slow, killed, oom, leak).
    """
    return comfy_triage.triage_file(path, asked=asked or (), redact=redact, lang=lang)


@server.tool()
def explain(identifier: str, lang: str = "en") -> str:
    """Explain a verdict, a rule, a flag of ComfyUI, a known bug or a node pack in a paragraph."""
    return comfy_triage.explain(identifier, lang=lang)


@server.tool()
def compare(before: str, after: str, redact: bool = True, lang: str = "en") -> dict[str, Any]:
    """Say what changed between two ComfyUI logs that the user named, and whether that can be said at all."""
    return comfy_triage.compare(before, after, redact=redact, lang=lang)


@server.tool()
def probe(lang: str = "en") -> dict[str, Any]:
    """Say what this machine or container really grants ComfyUI: RAM, limits, cards."""
    return comfy_triage.probe(lang=lang)


def main() -> None:
    server.run()


if __name__ == "__main__":
    main()
