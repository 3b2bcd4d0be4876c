import type { GrantHandler } from '../../packages/portico/src/grants/grant.ts';
import type { Client } from '../../packages/portico/src/store/client.ts';
import type { KeyBinding } from '../../packages/portico/src/tokens/key-binding.ts';
import {
  createTokenEndpoint,
  type TokenEndpointOptions,
} from '../../packages/portico/src/endpoints/token.ts';

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
   * Whether the same request had no answer before; and whether its code or token was spent then.
   */
  readonly kept?: 'spent' | 'not spent';
  /** Whether the use of a client is recorded, and has to be awaited. */
  readonly notes?: boolean;
}

/**
 * The token endpoint with one grant, and the outcome of each part of a request, in order.
 * `bindingOf` says how tokens are bound, and may add its own steps.
 */
export function startTokenEndpoint(
  { kept, notes = false }: Started,
  bindingOf: (steps: unknown[]) => KeyBinding | null = () => null,
) {
  const steps: unknown[] = [];
  const state = { problem: null as Error | null };
  const grant: GrantHandler = async (client, form, proved) => {
    steps.push(['granted', client.id, form.get('code') ?? null, proved?.thumbprint ?? null]);
    await proved?.claim();
    await proved?.claim();
    return ANSWER;
  };
  const again = { ...ANSWER, access_token: 'kept' };
  const options: TokenEndpointOptions = {
    async authenticateClient() {
      steps.push('authenticated');
      if (state.problem !== null) throw state.problem;
      return CLIENT;
    },
    grants: new Map([['authorization_code', grant]]),
    binding: bindingOf(steps),
    url: URL_OF_IT,
    lostAnswers: {
      find(client, form, thumbprint) {
        steps.push(['looked for', client.id, form.get('code') ?? null, thumbprint]);
        if (kept === undefined) return null;
        return (otherwise) => (kept === 'spent' ? Promise.resolve(again) : otherwise());
      },
    },
    recordUse(client) {
      steps.push(['noted', client.id]);
      if (!notes) return null;
      return new Promise((resolve) => {
        setImmediate(() => {
          steps.push('written down');
          resolve();
        });
      });
    },
    pruning: {
      async tick() {
        await Promise.resolve();
        steps.push('pruned');
      },
    },
  };
  const endpoint = createTokenEndpoint(options);
  return {
    steps,
    state,
    ask: (
      form: Readonly<Record<string, string>> = { grant_type: 'authorization_code', code: 'c' },
      headers: Readonly<Record<string, string>> = {},
    ) => endpoint(new Request(URL_OF_IT, { method: 'POST', headers, body: new URLSearchParams(form) })),
  };
}

export const bodyOf = ({ body }: { readonly body: string | Uint8Array | null }): unknown =>
  JSON.parse(String(body));

/**
 * The steps of a request that proves the key of this thumbprint, or none (null), up to its grant.
 */
export const offered = (thumbprint: string | null) => [
  ['looked for', 'notebook', 'c', thumbprint],
  ['granted', 'notebook', 'c', thumbprint],
];

/** The last steps of an answered request. */
export const ending = [['noted', 'notebook'], 'pruned'];
