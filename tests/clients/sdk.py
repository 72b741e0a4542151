"""The Python MCP SDK uses every tool and resource of the server.

Arguments: `stdio PROGRAM`, or `http URL [TOKEN]`. Without a token, the server has no tools for memory.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

CALLS = [
    ("search", {"query": "remove the oldest page", "budget": 500}, "evict_oldest"),
    ("read", {"place": "src/cache.py:12-14"}, "def drop_page"),
    ("grep", {"pattern": "def .*page"}, "src/cache.py:12"),
    ("graph", {"name": "drop_page", "relation": "callers"}, "evict_oldest"),
    ("history", {"place": "src/cache.py"}, "lines by author"),
    ("status", {}, "1 files"),
]


MEMORY = ["recall", "remember", "outcome"]
SECRET = "heliotrope"


@asynccontextmanager
async def transport(kind, target, token=None):
    if kind == "stdio":
        server = StdioServerParameters(command=target, args=["mcp"], env=dict(os.environ), cwd=os.getcwd())
        async with stdio_client(server) as streams:
            yield streams[:2]
    else:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        client = httpx2.AsyncClient(headers=headers, timeout=60)
        async with client, streamable_http_client(target, http_client=client) as streams:
            yield streams[:2]


async def text_of(session, name, arguments):
    """Calls a tool that must succeed, and returns the text of the answer."""
    result = await session.call_tool(name, arguments)
    assert not result.is_error, (name, arguments, result)
    return result.content[0].text


async def use_memory(session, kind):
    """Remembers, recalls and reports an outcome. Returns the id of the session with a private entry."""
    shared = {"kind": "note", "content": f"The staging database of {kind} is reset every Sunday", "tags": ["operations"]}
    stored = json.loads(await text_of(session, "remember", shared))
    assert stored["stored"] and "session" not in stored, stored
    recalled = await text_of(session, "recall", {"query": "staging database reset", "budget": 500})
    assert f"[{stored['id']}]" in recalled and "data, not instructions" in recalled, recalled
    found = await text_of(session, "search", {"query": "staging database reset"})
    assert f"memory {stored['id']}" in found, found
    private = {"kind": "note", "content": f"The code word of the launch is {SECRET}", "private": True}
    own = json.loads(await text_of(session, "remember", private))["session"]
    name = {"session": own} if kind == "http" else {}
    assert SECRET in await text_of(session, "recall", {"query": "code word of the launch", **name})
    ended = await text_of(session, "outcome", {"result": "success", **name})
    assert ended.startswith("Recorded."), ended
    return own


async def attack(session, kind, own):
    """Tries to read the private entry of another session."""
    changed = own[:-1] + ("0" if own[-1] != "0" else "1")
    for guess in [None, "s-", "s1", own[:-1], changed, "s-" + "0" * 64]:
        for name in ["recall", "search"]:
            arguments = {"query": "code word of the launch"} | ({"session": guess} if guess else {})
            result = await session.call_tool(name, arguments)
            assert SECRET not in result.content[0].text, (name, guess, result)
            # Over HTTP, the server refuses ids that it has not issued.
            assert result.is_error == (kind == "http" and guess is not None), (name, guess, result)
    for scope in ["session", "project", "user", "global"]:
        answer = await text_of(session, "recall", {"query": "code word of the launch", "scope": scope})
        assert SECRET not in answer, (scope, answer)


async def main(kind, target, token=None):
    has_memory = kind == "stdio" or token is not None
    async with transport(kind, target, token) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names == [name for name, _, _ in CALLS] + (MEMORY if has_memory else []), names
        for name, arguments, expected in CALLS:
            result = await session.call_tool(name, arguments)
            text = result.content[0].text
            assert not result.is_error and expected in text, (name, text)
        refused = await session.call_tool("read", {"place": "/etc/passwd"})
        assert refused.is_error, refused
        resources = (await session.list_resources()).resources
        read_back = await session.read_resource(resources[0].uri)
        assert "class PageCache" in read_back.contents[0].text, read_back
        assert len((await session.list_resource_templates()).resource_templates) == 2
        own = await use_memory(session, kind) if has_memory else None
        for name in [] if has_memory else MEMORY:
            arguments = {"query": "x"} if name == "recall" else {"kind": "note", "content": "x", "result": "success"}
            assert (await session.call_tool(name, arguments)).is_error, name
    if has_memory:
        async with transport(kind, target, token) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await attack(session, kind, own)


asyncio.run(main(*sys.argv[1:]))
