"""The Python MCP SDK uses every tool and resource of the server."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

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


@asynccontextmanager
async def transport(kind, target):
    if kind == "stdio":
        server = StdioServerParameters(command=target, args=["mcp"], env=dict(os.environ), cwd=os.getcwd())
        async with stdio_client(server) as streams:
            yield streams[:2]
    else:
        async with streamable_http_client(target) as streams:
            yield streams[:2]


async def main(kind, target):
    async with transport(kind, target) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names == [name for name, _, _ in CALLS], names
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


asyncio.run(main(*sys.argv[1:3]))
