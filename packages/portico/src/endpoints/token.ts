import type { AuthenticateClient } from '../clients/authentication.ts';
import type { RecordUse } from '../clients/last-use.ts';
import { OAuthError } from '../errors.ts';
import type { Grants } from '../grants/grant-types.ts';
import type { LostAnswers } from '../grants/lost-answers.ts';
import { formParameters } from '../parameters.ts';
import type { Pruning } from '../store/pruning.ts';
import { quoted } from '../quoting.ts';
import { jsonReply, withFields } from '../replies/responses.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import type { Handler } from './endpoint.ts';

export interface TokenEndpointOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly grants: Grants;
  /** Null if tokens are not bound: then proofs are ignored. */
  readonly binding: Pick<KeyBinding, 'prove'> | null;
  /** The URL of this endpoint, which proofs must name. */
  readonly url: string;
  readonly lostAnswers: Pick<LostAnswers, 'find'>;
  readonly recordUse: RecordUse;
  readonly pruning: Pick<Pruning, 'tick'>;
}

/** POST /oauth/token (RFC 6749 section 3.2). */
export function createTokenEndpoint(options: TokenEndpointOptions): Handler {
  const { authenticateClient, grants, binding, url, lostAnswers, recordUse, pruning } = options;
  return async (request) => {
    const form = await formParameters(request);
    // Before client authentication: a client that must ask again with a nonce sends the same
    // assertion, which works once.
    const proved = binding === null ? null : await binding.prove(request, url);
    const client = await authenticateClient(request, form);
    proved?.requireFor(client);
    const grantType = form.require('grant_type');
    const grant = grants.get(grantType);
    if (grant === undefined) {
      throw new OAuthError(
        'unsupported_grant_type',
        'The grant_type is not one that this server offers.',
        `the grant_type is ${quoted(grantType)}`,
      );
    }
    // After tokens are issued, nothing may fail any more.
    const fields = proved === null ? null : await proved.answerFields();
    const kept = lostAnswers.find(client, form, proved?.thumbprint ?? null);
    if (kept !== null && proved !== null) await proved.claim();
    const reply = jsonReply(
      await (kept === null ? grant(client, form, proved) : kept(() => grant(client, form, proved))),
    );
    const response = withFields(reply, fields);
    const noted = recordUse(client);
    if (noted !== null) await noted;
    await pruning.tick();
    return response;
  };
}
