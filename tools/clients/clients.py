"""Clients that others wrote, against `space mcp`: PyPI's mcp in both eras, and fastmcp. Called by tools/agents.

Every message that the server sends is checked with the protocol's published JSON schema of its version, if tools/agents
has it: the server's output passes through `tee`.
"""
import asyncio
import json
import os
import pathlib
import signal
import subprocess
import sys

import jsonschema

SPACE, FOLDER, STATE, SCHEMAS = sys.argv[1:5]
ENVIRONMENT = {**os.environ, "XDG_STATE_HOME": STATE}
LOG = pathlib.Path(STATE) / "messages"


def server():
    """The words that start a server whose output is also kept; the agent is this process."""
    script = f'"$@" | tee -a {LOG}'
    return "/bin/sh", ["-c", script, "sh", SPACE, "mcp", "--dir", FOLDER, "--owner", str(os.getpid())]


async def with_mcp(mode):
    from mcp import Client, StdioServerParameters, stdio_client

    command, words = server()
    parameters = StdioServerParameters(command=command, args=words, env=ENVIRONMENT)
    async with Client(stdio_client(parameters), **({"mode": mode} if mode else {})) as client:
        version = getattr(client, "protocol_version", None) or client.session.protocol_version
        await use(client, lambda result: result.structured_content)
        return version


async def with_fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    command, words = server()
    async with Client(StdioTransport(command=command, args=words, env=ENVIRONMENT)) as client:
        await use(client, lambda result: result.structured_content, is_fast=True)


async def use(client, content, is_fast=False):
    """Calls every tool, and one that is refused."""
    listed = await client.list_tools()
    tools = listed if is_fast else listed.tools
    names = [tool.name for tool in tools]
    assert names == ["task_add", "task_claim", "task_end", "hold", "let_go", "say", "who"], names

    async def call(name, **arguments):
        return content(await client.call_tool(name, arguments))

    added = await call("task_add", tasks=[{"title": "first"}, {"title": "second", "priority": 9}])
    task = await call("task_claim")
    assert task["title"] == "second", task
    held = await call("hold", names=["file:src/**", "port:42000-42010", "gpu"], why="a client's test")
    assert held["held"][0] == "file:src/**" and len(held["held"]) == 3, held
    assert (await call("say", text="hello", to="all"))["sent"]
    assert (await call("who"))["agents"]
    assert (await call("task_end", id=task["id"], how="done"))["ended"] == task["id"]
    assert (await call("let_go"))["held"] == []
    rest = await call("task_claim", wait_s=1)
    assert rest["id"] == added["tasks"][0]["id"], rest
    assert (await call("task_end", id=rest["id"], how="done"))["ended"] == rest["id"]
    assert (await call("task_claim"))["nothing"]
    if is_fast:
        refused = await client.call_tool("task_end", {"id": 1, "how": "perhaps"}, raise_on_error=False)
    else:
        refused = await client.call_tool("task_end", {"id": 1, "how": "perhaps"})
    assert getattr(refused, "is_error", None) or getattr(refused, "isError", None), refused


def check(path, version):
    """Checks the messages of a file with the schema of a version; returns how many they are."""
    schema_file = pathlib.Path(SCHEMAS) / f"{version}.json"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    if not schema_file.exists():
        return f"{len(lines)} messages, and no schema of {version} to check them with"
    schema = json.loads(schema_file.read_text())
    key = "$defs" if "$defs" in schema else "definitions"
    names = schema[key]

    def against(value, *candidates):
        name = next(name for name in candidates if name in names)
        one = {key: names, "$ref": f"#/{key}/{name}"}
        if "$schema" in schema:
            one["$schema"] = schema["$schema"]
        # Without a check of the schema itself, which takes longer than all else.
        jsonschema.validators.validator_for(one)(one).validate(value)

    for message in lines:
        if "error" in message:
            # Until 2025-06-18 the schema has no place for an error of a message whose id can't be read; JSON-RPC has null.
            if "id" in message and message["id"] is None:
                continue
            against(message, "JSONRPCErrorResponse", "JSONRPCError")
            continue
        against(message, "JSONRPCResultResponse", "JSONRPCResponse")
        result = message["result"]
        if "supportedVersions" in result:
            against(result, "DiscoverResult")
        elif "serverInfo" in result:
            against(result, "InitializeResult")
        elif "tools" in result:
            against(result, "ListToolsResult")
        elif "content" in result:
            against(result, "CallToolResult")
    return f"{len(lines)} messages are as the schema of {version} wants them"


def raw(version):
    """A session in which every kind of message and error occurs, in the words of a version."""
    modern = version == "2026-07-28"
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    lines, number = [], 0

    def request(method, **parameters):
        nonlocal number
        number += 1
        if modern:
            parameters["_meta"] = meta
        lines.append(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}))

    def call(name, **arguments):
        request("tools/call", name=name, arguments=arguments)

    if modern:
        request("server/discover")
        lines.append(json.dumps({"jsonrpc": "2.0", "id": "old", "method": "tools/list", "params": {
            "_meta": {**meta, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}}}))
    else:
        request("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "raw", "version": "1"})
        lines.append('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        request("ping")
    request("tools/list")
    call("task_add", tasks=[{"title": "raw", "detail": "\u0000\u202e\x1b[2J", "key": "k"}])
    call("task_claim")
    call("task_end", id=1, how="give_back", note="no")
    call("hold", names=["gpu"])
    call("hold", names=[])
    call("let_go")
    call("say", text="x")
    call("say", to="nobody", text="x")
    call("who")
    call("nothing")
    request("resources/list")
    lines += ["{", "[]", "7", '{"jsonrpc":"2.0","id":null,"method":"ping"}', '{"jsonrpc":"1.0","id":5,"method":"ping"}']
    if version == "2025-03-26":
        lines.append('[{"jsonrpc":"2.0","id":900,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]')
    words = [SPACE, "mcp", "--dir", FOLDER, "--owner", str(os.getpid())]
    done = subprocess.run(words, input="\n".join(lines) + "\n", text=True, capture_output=True, env=ENVIRONMENT)
    assert done.returncode == 0 and done.stderr == "", done
    LOG.write_text("".join(
        json.dumps(message) + "\n"
        for line in done.stdout.splitlines()
        for message in (json.loads(line) if line.startswith("[") else [json.loads(line)])))
    return check(LOG, version)


def main():
    signal.alarm(120)
    for mode in (None, "legacy"):
        LOG.write_text("")
        version = asyncio.run(with_mcp(mode))
        print(f"mcp speaks {version}: {check(LOG, version)}")
    LOG.write_text("")
    asyncio.run(with_fastmcp())
    version = "2026-07-28" if "supportedVersions" in LOG.read_text() else "2025-11-25"
    print(f"fastmcp speaks {version}: {check(LOG, version)}")
    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"):
        print(f"a raw client: {raw(version)}")


main()
