"""The official Python client against `local-agent mcp`: initialize, list, search, ask, verify.

    pip install mcp
    cd a/folder/with/an/index && python3 tests/peers/peer.py path/to/local-agent
"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

QUESTION = "At what temperature and humidity does the proofbox hold sourdough?"


def field(value, *names):
    """The first of these names that the version of the client uses."""
    return next(getattr(value, name) for name in names if hasattr(value, name))


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        info = field(hello, "server_info", "serverInfo")
        print("server:", info.name, info.version, "protocol:", field(hello, "protocol_version", "protocolVersion"))
        tools = (await session.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools))

        async def call(name, args):
            result = await session.call_tool(name, args)
            assert not field(result, "is_error", "isError"), result
            return field(result, "structured_content", "structuredContent")

        found = await call("search", {"query": "proofbox temperature", "limit": 2})
        for hit in found["hits"]:
            print("search:", hit["cite"], round(hit["score"], 2))
        asked = await call("ask", {"question": QUESTION})
        print("ask:", asked["outcome"])
        print(asked["answer"])
        judged = await call("verify", {"answer": asked["answer"], "run_id": asked["run_id"]})
        print("verify:", judged["outcome"])
        changed = "The proofbox holds sourdough at 72 degrees [E1]."
        judged = await call("verify", {"answer": changed, "run_id": asked["run_id"]})
        print("verify of a changed number:", judged["outcome"], judged["claims"][0]["codes"])
        refused = await session.call_tool("get", {"address": "../../etc/passwd"})
        assert field(refused, "is_error", "isError")
        print("get ../../etc/passwd:", refused.content[0].text)


asyncio.run(main())
