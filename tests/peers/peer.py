"""The official Python client against `local-agent mcp`: initialize, list, search, ask, verify, resources, taking back; and
against a running `serve` over HTTP, if its address and token are given.

    pip install mcp
    cd a/folder/with/an/index && python3 tests/peers/peer.py path/to/local-agent [http://127.0.0.1:8377/mcp TOKEN]
"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

QUESTION = "At what temperature and humidity does the proofbox hold sourdough?"


def field(value, *names):
    """The first of these names that the version of the client uses."""
    return next(getattr(value, name) for name in names if hasattr(value, name))


async def call(session, name, args):
    result = await session.call_tool(name, args)
    assert not field(result, "is_error", "isError"), result
    return field(result, "structured_content", "structuredContent")


async def ask_and_verify(session):
    found = await call(session, "search", {"query": "proofbox temperature", "limit": 2})
    for hit in found["hits"]:
        print("search:", hit["cite"], round(hit["score"], 2))
    asked = await call(session, "ask", {"question": QUESTION})
    print("ask:", asked["outcome"])
    print(asked["answer"])
    judged = await call(session, "verify", {"answer": asked["answer"], "run_id": asked["run_id"]})
    print("verify:", judged["outcome"])
    changed = "The proofbox holds sourdough at 72 degrees [E1]."
    judged = await call(session, "verify", {"answer": changed, "run_id": asked["run_id"]})
    print("verify of a changed number:", judged["outcome"], judged["claims"][0]["codes"])
    refused = await session.call_tool("get", {"address": "../../etc/passwd"})
    assert field(refused, "is_error", "isError")
    print("get ../../etc/passwd:", refused.content[0].text)


async def loose_arguments(session):
    """Numbers as text, and one word for a list of one."""
    found = await call(session, "search", {"query": "proofbox", "limit": "1", "path": "projects"})
    print("search with \"1\" and one word:", [hit["rel_path"] for hit in found["hits"]])
    refused = await session.call_tool("search", {"query": "proofbox", "limit": "many"})
    print("search with a wrong number:", refused.content[0].text.splitlines()[0])


async def resources(session):
    listed = (await session.list_resources()).resources
    templates = await session.list_resource_templates()
    template = field(templates, "resource_templates", "resourceTemplates")[0]
    print("resources:", len(listed), field(template, "uri_template", "uriTemplate"))
    uri = next(one.uri for one in listed if str(one.uri).endswith("Proofbox.md"))
    read = await session.read_resource(uri)
    print("resource:", uri, read.contents[0].text.splitlines()[0])


async def take_back(session):
    """A call that is given up leaves the session as it was."""
    try:
        await asyncio.wait_for(session.call_tool("multi_get", {"glob": "**/*.md"}), 0.0001)
    except (asyncio.TimeoutError, TimeoutError):
        pass
    found = await call(session, "search", {"query": "proofbox", "limit": 1})
    print("after a call that was given up:", found["outcome"])


async def over_stdio(program):
    server = StdioServerParameters(command=program, args=["mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        info = field(hello, "server_info", "serverInfo")
        print("server:", info.name, info.version, "protocol:", field(hello, "protocol_version", "protocolVersion"))
        tools = (await session.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools))
        await ask_and_verify(session)
        await loose_arguments(session)
        await resources(session)
        await take_back(session)


async def over_http(url, token):
    from mcp.client import streamable_http
    from mcp.shared._httpx_utils import create_mcp_http_client

    client = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    transport = streamable_http.streamable_http_client(url, http_client=client)
    async with client, transport as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        found = await call(session, "search", {"query": "proofbox temperature", "limit": 1})
        print("over HTTP:", found["hits"][0]["cite"])
        await resources(session)


async def main():
    await over_stdio(sys.argv[1])
    if len(sys.argv) > 3:
        await over_http(sys.argv[2], sys.argv[3])


asyncio.run(main())
