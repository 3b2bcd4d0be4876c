"""Uses Authlib as its documentation does.

The first line of input is JSON with the client and its server. ../typescript/program.ts describes
the line `authorize`.
"""

import json
import sys

from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.jwk import ECKey

GIVEN = json.loads(sys.stdin.readline())
METADATA_URL = GIVEN["issuer"] + "/.well-known/oauth-authorization-server"


def say(**said) -> None:
    print(json.dumps(said), flush=True)


def pushed(client: OAuth2Session, endpoint: str, url: str) -> str:
    """Pushes the parameters of the URL (RFC 9126). Authlib has no function for this. Returns the new URL."""
    where, query = url.split("?")
    if GIVEN["method"] in ("client_secret_post", "none"):
        # The client authentication adds client_id, and a parameter must not be repeated.
        query = "&".join(each for each in query.split("&") if not each.startswith("client_id="))
    answer = client.post(
        endpoint,
        data=query,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        auth=client.client_auth(client.token_endpoint_auth_method),
    )
    answer.raise_for_status()
    client_id, request_uri = GIVEN["client_id"], answer.json()["request_uri"]
    return f"{where}?client_id={client_id}&request_uri={request_uri}"


def main() -> None:
    keyed = GIVEN["method"] == "private_key_jwt"
    client = OAuth2Session(
        client_id=GIVEN["client_id"],
        client_secret=ECKey.import_key(GIVEN["key"]) if keyed else GIVEN["secret"],
        token_endpoint_auth_method=GIVEN["method"],
        revocation_endpoint_auth_method=GIVEN["method"],
        scope=GIVEN["scope"],
        redirect_uri=GIVEN["redirect_uri"],
        code_challenge_method="S256",
    )
    metadata = client.get(METADATA_URL, withhold_token=True).json()
    token_endpoint = metadata["token_endpoint"]
    if keyed:
        client.register_client_auth_method(PrivateKeyJWT(token_endpoint, alg="ES256"))

    verifier = "a-verifier-that-has-to-have-more-than-42-characters"
    url, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    if GIVEN["pushes"]:
        url = pushed(client, metadata["pushed_authorization_request_endpoint"], url)
    say(authorize=url)
    response = json.loads(sys.stdin.readline())
    first = client.fetch_token(
        token_endpoint, authorization_response=response, state=state, code_verifier=verifier
    )
    refreshed = client.refresh_token(token_endpoint)
    userinfo = client.get(GIVEN["issuer"] + "/oauth/userinfo").json()
    active = None
    if GIVEN["method"] != "none":
        introspected = client.introspect_token(
            metadata["introspection_endpoint"], token=refreshed["access_token"]
        )
        active = introspected.json()["active"]
    revoked = client.revoke_token(metadata["revocation_endpoint"], token=refreshed["refresh_token"])
    say(
        refreshed=refreshed["access_token"] != first["access_token"],
        name=userinfo["name"],
        active=active,
        revoked=revoked.status_code,
        after=client.get(GIVEN["issuer"] + "/oauth/userinfo").status_code,
    )


main()
