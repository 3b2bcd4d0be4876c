import type { ClientAuthentication } from '../../packages/portico/src/clients/authentication.ts';
import type { LastUse } from '../../packages/portico/src/clients/last-use.ts';
import type { AssertionGrant } from '../../packages/portico/src/grants/assertion-grant.ts';
import type { TokenGrant, TokenResponse } from '../../packages/portico/src/grants/grant.ts';
import type { GrantParts } from '../../packages/portico/src/grants/parts.ts';
import type { Client } from '../../packages/portico/src/store/client.ts';
import type { KeyBinding } from '../../packages/portico/src/tokens/key-binding.ts';
import { TokenEndpoint } from '../../packages/portico/src/endpoints/token.ts';

export const URL_OF_IT = 'https://portal.example/oauth/token';
const CLIENT = { id: 'notebook' } as Client;
export const ANSWER = {
  access_token: 'secret',
  token_type: 'Bearer',
  expires_in: 60,
  scope: 'notes:read',
} as const;

/** The circumstances of a request. */
export interface Started {
  /**
   * Whether an earlier attempt of the same request got no response, and whether that attempt used
   * up its code or token.
   */
  readonly kept?: 'spent' | 'not spent';
  /** Whether the server records the use of a client. The endpoint must wait for the record. */
  readonly notes?: boolean;
  /** Reads the assertion of a grant. Default: none. */
  readonly assertionGrant?: AssertionGrant;
}

/**
 * Starts the token endpoint with one grant. Records the outcome of each part of a request, in
 * order. `bindingOf` defines how tokens are bound, and can add steps.
 */
export function startTokenEndpoint(
  { kept, notes = false, assertionGrant }: Started,
  bindingOf: (steps: unknown[]) => KeyBinding | null = () => null,
) {
  const steps: unknown[] = [];
  const state = { problem: null as Error | null };
  const grant: TokenGrant = {
    async answer(client, form, proved) {
      steps.push(['granted', client.id, form.get('code') ?? null, proved?.thumbprint ?? null]);
      await proved?.claim();
      await proved?.claim();
      return ANSWER;
    },
  };
  const again = { ...ANSWER, access_token: 'kept' };
  const parts = {
    server: {
      issuer: 'https://portal.example',
      pruning: {
        async tick() {
          await Promise.resolve();
          steps.push('pruned');
        },
      },
    },
    binding: bindingOf(steps),
    lostAnswers: {
      find(...[client, form, thumbprint]: Parameters<GrantParts['lostAnswers']['find']>) {
        steps.push(['looked for', client.id, form.get('code') ?? null, thumbprint]);
        if (kept === undefined) return null;
        return (otherwise: () => Promise<TokenResponse>) =>
          kept === 'spent' ? Promise.resolve(again) : otherwise();
      },
    },
  } as unknown as GrantParts;
  const endpoint = new TokenEndpoint(
    new Map([['authorization_code', grant]]),
    parts,
    {
      authentication: {
        async authenticate() {
          steps.push('authenticated');
          if (state.problem !== null) throw state.problem;
          return CLIENT;
        },
      } as unknown as ClientAuthentication,
      assertionGrant: assertionGrant ?? null,
    },
    {
      record(client: Client) {
        steps.push(['noted', client.id]);
        if (!notes) return null;
        return new Promise<void>((resolve) => {
          setImmediate(() => {
            steps.push('written down');
            resolve();
          });
        });
      },
    } as unknown as LastUse,
  );
  return {
    steps,
    state,
    ask: (
      form: Readonly<Record<string, string>> = { grant_type: 'authorization_code', code: 'c' },
      headers: Readonly<Record<string, string>> = {},
    ) =>
      endpoint.answer(
        new Request(URL_OF_IT, { method: 'POST', headers, body: new URLSearchParams(form) }),
      ),
  };
}

export const bodyOf = ({ body }: { readonly body: string | Uint8Array | null }): unknown =>
  JSON.parse(String(body));

/**
 * The steps of a request up to its grant. `thumbprint` is the key that the request proves, or null.
 */
export const offered = (thumbprint: string | null) => [
  ['looked for', 'notebook', 'c', thumbprint],
  ['granted', 'notebook', 'c', thumbprint],
];

/** The last steps of a request that succeeds. */
export const ending = [['noted', 'notebook'], 'pruned'];
