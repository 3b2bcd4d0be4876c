import { redirectUriProblem } from '../../../packages/portico/src/clients/redirect-uris.ts';
import type { ClientMetadata } from '../../../packages/portico/src/store/client.ts';
import { hold } from '../target.ts';

const PRIVATE = /"(?:d|p|q|dp|dq|qi|oth|k)":/;

/** Checks what must be true for every client that no operator registered. */
export function checkDescribed(client: ClientMetadata): void {
  const { name, redirectUris, grants, keys, applicationType } = client;
  hold(
    name.trim() === name &&
      name !== '' &&
      name.length <= 100 &&
      !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name),
    'a name that nobody can read was taken',
  );
  hold(name.isWellFormed(), 'half a character was taken for a name');
  hold(new Set(redirectUris).size === redirectUris.length, 'a redirect URI is there twice');
  for (const uri of redirectUris) {
    hold(
      redirectUriProblem(uri, applicationType) === null,
      'a redirect URI was taken that cannot be registered',
    );
    const { protocol, hostname } = new URL(uri);
    const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
    hold(
      protocol === 'https:' ||
        (protocol === 'http:' && isLoopback) ||
        (applicationType === 'native' && protocol.includes('.')),
      'a redirect URI that anybody can read',
    );
  }
  hold(
    grants.includes('authorization_code') === redirectUris.length > 0,
    'redirect URIs without a use, or a use without one',
  );
  hold(new Set(grants).size === grants.length, 'a grant is there twice');
  if (keys === null) return;
  hold((keys.jwks === null) !== (keys.jwksUri === null), 'keys in two places, or nowhere');
  hold(keys.jwks === null || !PRIVATE.test(keys.jwks), 'a private key was kept');
  hold(
    keys.jwksUri === null || new URL(keys.jwksUri).protocol === 'https:',
    'keys are fetched in the clear',
  );
}
