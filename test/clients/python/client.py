"""A client with the official Python SDK. ../typescript/program.ts describes its input and output."""

import asyncio
import json
import sys
import time
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

RESOURCE, REDIRECT_URI, *DOCUMENT = sys.argv[1:]


def say(**said: str) -> None:
    print(json.dumps(said), flush=True)


async def line() -> str:
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


class Memory:
    """Stores the tokens of the SDK, and its client registration."""

    tokens = None
    client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


async def redirect(url: str) -> None:
    say(authorize=url)


async def callback() -> AuthorizationCodeResult:
    query = parse_qs(urlsplit(await line()).query)
    return AuthorizationCodeResult(**{name: query.get(name, [None])[0] for name in ("code", "state", "iss")})


def an_hour_passes() -> None:
    """Moves the clock of this process forward. The SDK refreshes only if its clock says so, not after a 401."""
    now = time.time
    time.time = lambda: now() + 3600


async def main() -> None:
    provider = OAuthClientProvider(
        server_url=RESOURCE,
        client_metadata=OAuthClientMetadata(client_name="Python", redirect_uris=[REDIRECT_URI]),
        storage=Memory(),
        redirect_handler=redirect,
        callback_handler=callback,
        client_metadata_url=DOCUMENT[0] if DOCUMENT else None,
    )
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
        async with Client(streamable_http_client(RESOURCE, http_client=http)) as client:
            say(connected=str(client.protocol_version))
            while command := await line():
                try:
                    if command == "hour":
                        an_hour_passes()
                        say(answer="")
                    else:
                        result = await client.call_tool(command.removeprefix("call "), {})
                        say(answer=result.model_dump_json(by_alias=True))
                except Exception as error:
                    say(refused=repr(error))


asyncio.run(main())
