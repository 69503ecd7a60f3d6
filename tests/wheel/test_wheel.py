"""The installed wheel, as a user of it sees it. Run in an environment that holds nothing else:

    python -m venv /tmp/wheel && /tmp/wheel/bin/pip install "dist/comfy_triage-….whl[mcp]" pytest
    /tmp/wheel/bin/pytest tests/wheel
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import comfy_triage

LEAK = Path(__file__).parents[2] / "fixtures/case/a02_strong_leak_25/console.log"


def test_the_program_is_the_one_of_this_environment():
    assert Path(comfy_triage.program()).parent == Path(sys.executable).parent
    shown = subprocess.run([comfy_triage.program(), "--version"], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("comfy-triage ")


def test_a_log_is_answered_as_a_dict():
    report = comfy_triage.triage(LEAK.read_bytes())
    assert report["verdict"]["primary"] == "leak-confirmed"
    assert report == comfy_triage.triage(LEAK.read_text())
    assert comfy_triage.triage_file(LEAK)["verdict"] == report["verdict"]
    assert comfy_triage.triage(LEAK.read_bytes(), lang="zh-CN")["language"] == "zh"


def test_a_file_that_is_not_there_is_an_error_with_the_programs_words():
    with pytest.raises(comfy_triage.ComfyTriageError, match="no-such.log"):
        comfy_triage.triage_file("no-such.log")


def test_what_is_private_is_replaced_when_asked():
    text = "** Python executable: /home/zorblatt/venv/bin/python\ngot prompt\n"
    assert "zorblatt" in json.dumps(comfy_triage.triage(text))
    assert "zorblatt" not in json.dumps(comfy_triage.triage(text, redact=True))


def test_an_assistant_can_ask(tmp_path):
    pytest.importorskip("mcp", reason="installed without the extra `mcp`")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    private = tmp_path / "comfyui.log"
    private.write_text("** Python executable: /home/zorblatt/venv/bin/python\n" + LEAK.read_text())

    async def ask():
        server = StdioServerParameters(command=sys.executable, args=["-m", "comfy_triage.mcp"])
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            answer = await session.call_tool("triage", {"path": str(private)})
            meaning = await session.call_tool("explain", {"identifier": "leak-confirmed"})
            return tools, answer.content[0].text, meaning.content[0].text

    tools, answer, meaning = asyncio.run(ask())
    assert tools == {"triage", "explain", "compare", "probe"}
    assert "leak-confirmed" in answer and "zorblatt" not in answer
    assert "leak" in meaning
