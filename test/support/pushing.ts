import {
  authorizationUrl,
  type ReachablePortal,
  type RunningPortal,
  type TestClient,
} from './portal.ts';

/** Changes to a request that a client pushes (RFC 9126). */

type Changes = Readonly<Record<string, string | undefined>>;

/**
 * Pushes a request that is valid except for these changes. A client with a secret authenticates
 * with HTTP Basic.
 */
export function push(
  portal: ReachablePortal,
  client: TestClient,
  changes: Changes = {},
): Promise<Response> {
  const headers: Record<string, string> =
    client.secret === ''
      ? {}
      : {
          Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        };
  const body = new URL(authorizationUrl(portal, client, changes)).searchParams;
  return fetch(`${portal.url}/oauth/par`, { method: 'POST', headers, body });
}

/** Returns the URL for a browser, with the pushed request. */
export function pushedUrl(
  portal: RunningPortal,
  client: Pick<TestClient, 'id'>,
  requestUri: string,
  changes: Readonly<Record<string, string>> = {},
): string {
  const url = new URL('/oauth/authorize', portal.url);
  const parameters = { client_id: client.id, request_uri: requestUri, ...changes };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

export async function requestUriOf(response: Response): Promise<string> {
  const body = (await response.json()) as { readonly request_uri?: string };
  if (response.status !== 201 || body.request_uri === undefined) {
    throw new Error(`Not pushed: ${response.status} ${JSON.stringify(body)}`);
  }
  return body.request_uri;
}

/** Pushes a request, and returns the URL for a browser. */
export async function pushedNow(
  portal: RunningPortal,
  client: TestClient,
  changes: Changes = {},
): Promise<string> {
  return pushedUrl(portal, client, await requestUriOf(await push(portal, client, changes)));
}
