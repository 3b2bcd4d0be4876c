import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerOf, newKey, signed } from './assertions.ts';
import { startDocumentHost, type DocumentHost } from './document-host.ts';
import { jagHeader, SUBJECT } from './identity-provider.ts';

/** An organization's identity provider on the network, which exchanges ID tokens (RFC 8693). */
export interface ExchangingProvider {
  readonly issuer: string;
  readonly host: DocumentHost;
  /** The setting `trusted_issuers` that trusts it. */
  readonly trusted: Readonly<Record<string, object>>;
  /** The parameters of the exchanges, in order. */
  readonly exchanges: readonly Readonly<Record<string, string>>[];
  /** The id token of a person, for the client of the organization with this id. */
  readonly idToken: string;
  readonly clientId: string;
  /** The environment of a client of the organization, with the ID token of a person. */
  env(client: { readonly id: string; readonly secret: string }): Readonly<Record<string, string>>;
  /** Answers an exchange with this form, without the network. */
  exchange(form: URLSearchParams): Response;
  /** Makes the organization refuse every further exchange. */
  deny(): void;
  close(): Promise<void>;
}

const OWN_CLIENT = 'assistant-at-the-provider';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

export async function startExchangingProvider(
  clientAt: (audience: string) => string,
): Promise<ExchangingProvider> {
  const host = await startDocumentHost();
  const key = newKey('ES256');
  const issuer = `https://localhost:${host.port}`;
  const seconds = () => Math.floor(Date.now() / 1000);
  const idToken = signed(key, headerOf(key), {
    iss: issuer,
    sub: SUBJECT,
    aud: OWN_CLIENT,
    iat: seconds(),
    exp: seconds() + 3600,
  });
  const exchanges: Readonly<Record<string, string>>[] = [];
  let denies = false;

  const assertionFor = ({ audience = '', resource, scope }: Readonly<Record<string, string>>) =>
    signed(key, jagHeader(key), {
      iss: issuer,
      sub: SUBJECT,
      aud: audience,
      client_id: clientAt(audience),
      resource,
      scope,
      jti: randomUUID(),
      iat: seconds(),
      exp: seconds() + 300,
    });

  function exchange(sent: URLSearchParams): Response {
    const form = Object.fromEntries(sent);
    exchanges.push(form);
    const isKnown =
      form['grant_type'] === EXCHANGE &&
      form['requested_token_type'] === ID_JAG &&
      form['subject_token'] === idToken &&
      form['client_id'] === OWN_CLIENT;
    const said =
      denies || !isKnown
        ? { error: denies ? 'access_denied' : 'invalid_request' }
        : { issued_token_type: ID_JAG, access_token: assertionFor(form), token_type: 'N_A' };
    return Response.json(said, { status: 'error' in said ? 400 : 200 });
  }
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request) body += String(part);
    const answered = exchange(new URLSearchParams(body));
    response
      .writeHead(answered.status, { 'Content-Type': 'application/json' })
      .end(await answered.text());
  }

  host.publish('/keys', { keys: [key.jwk] });
  host.answer('/token', (request, response) => void answer(request, response));
  return {
    issuer,
    host,
    trusted: {
      [issuer]: { jwks_uri: `${issuer}/keys`, algorithms: ['ES256'], asserts: ['people'] },
    },
    exchanges,
    exchange,
    idToken,
    clientId: OWN_CLIENT,
    env: ({ id, secret }) => ({
      MCP_CONFORMANCE_CONTEXT: JSON.stringify({
        client_id: id,
        client_secret: secret,
        idp_token_endpoint: `${issuer}/token`,
        idp_client_id: OWN_CLIENT,
        idp_id_token: idToken,
      }),
    }),
    deny: () => {
      denies = true;
    },
    close: () => host.close(),
  };
}
