"""One task by way of MCP, driven by the official Python client: `stdio COMMAND…` or `http URL TOKEN`.

Prints one JSON object with what it saw; the Rust test that starts it compares. A failed step ends it with a traceback.
"""

import asyncio
import json
import re
import sys

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def drive(client: Client) -> dict:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    seen = {"tools": sorted(tools)}
    click = tools["shop.click"]
    seen["click_is_read_only"] = click.annotations.read_only_hint
    seen["click_arguments"] = sorted(click.input_schema["properties"])

    async def call(name: str, **arguments):
        return await client.call_tool(name, arguments)

    page = await call("shop.navigate", url="http://shop.localhost/")
    assert not page.is_error, page
    seen["title"] = page.structured_content["title"]

    snapshot = await call("shop.snapshot")
    text = snapshot.content[0].text
    ref = re.search(r'button "Go" \[ref=(e\d+)\]', text)
    assert ref, text
    seen["ref"] = ref.group(1)

    for target in ({"ref": ref.group(1)}, {"selector": "#go"}, {"x": 30, "y": 30}):
        clicked = await call("shop.click", **target)
        assert not clicked.is_error, clicked
    value = await call("shop.evaluate", script="window.clicks")
    seen["clicks"] = value.structured_content["value"]

    typed = await call("shop.type", selector="#name", text="Robin {{secret:pw}}")
    assert not typed.is_error, typed
    read = await call("shop.extract", selector="#echo")
    seen["echo"] = read.structured_content["text"]

    refused = await call("shop.navigate", url="http://outside.localhost/path?token=1")
    seen["refused"] = {"is_error": refused.is_error, "text": refused.content[0].text}
    unknown = await call("shop.click", selector="#nothing", timeout_ms=300)
    seen["not_found"] = {"is_error": unknown.is_error, "text": unknown.content[0].text}
    wrong = await call("shop.click", selectr="#go")
    seen["wrong"] = {"is_error": wrong.is_error, "text": wrong.content[0].text}
    return seen


async def main() -> None:
    match sys.argv[1:]:
        case ["stdio", command, *arguments]:
            server = StdioServerParameters(command=command, args=arguments, env={"SECRET_PW": "k9-Vellum-ash-42"})
            async with Client(server) as client:
                seen = await drive(client)
        case ["http", url, token]:
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                async with Client(streamable_http_client(url, http_client=http)) as client:
                    seen = await drive(client)
        case _:
            raise SystemExit("usage: mcp_client.py stdio COMMAND… | http URL TOKEN")
    print(json.dumps(seen))


asyncio.run(main())
