import type { ClientAuthentication } from '../clients/authentication.ts';
import type { LastUse } from '../clients/last-use.ts';
import { OAuthError } from '../errors.ts';
import { asGrant, type AssertionGrant } from '../grants/assertion-grant.ts';
import type { TokenGrant } from '../grants/grant.ts';
import type { GrantParts } from '../grants/parts.ts';
import type { Grants } from '../grants/grant-types.ts';
import { formParameters, type Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import { TOKEN_PATH } from '../paths.ts';
import { quoted } from '../quoting.ts';
import { jsonReply, withFields, type Reply } from './replies/responses.ts';

interface Identifying {
  readonly authentication: ClientAuthentication;
  /** Null if no grant accepts assertions that identify the client. */
  readonly assertionGrant: AssertionGrant | null;
}

/** Handles POST /oauth/token (RFC 6749 section 3.2). */
export class TokenEndpoint {
  readonly #parts: GrantParts;
  readonly #grants: Grants;
  readonly #identifying: Identifying;
  readonly #lastUse: LastUse;

  constructor(grants: Grants, parts: GrantParts, identifying: Identifying, lastUse: LastUse) {
    this.#grants = grants;
    this.#parts = parts;
    this.#identifying = identifying;
    this.#lastUse = lastUse;
  }

  readonly answer = async (request: Request): Promise<Reply> => {
    const { server, binding, lostAnswers } = this.#parts;
    const sent = await formParameters(request);
    // Check the proof before client authentication. A client that must retry with a nonce sends the
    // same assertion again. The retry would fail if the assertion were already used.
    const proved =
      binding === null ? null : await binding.prove(request, `${server.issuer}${TOKEN_PATH}`);
    const { client, form } = await this.#identify(request, sent);
    proved?.requireFor(client);
    const grant = this.#grant(form.require('grant_type'));
    // Prepare these header fields first. Nothing may fail after the tokens are issued.
    const fields = proved === null ? null : await proved.answerFields();
    const kept = lostAnswers.find(client, form, proved?.thumbprint ?? null);
    if (kept !== null && proved !== null) await proved.claim();
    const answer = () => grant.answer(client, form, proved);
    const reply = jsonReply(await (kept === null ? answer() : kept(answer)));
    const response = withFields(reply, fields);
    const noted = this.#lastUse.record(client);
    if (noted !== null) await noted;
    await server.pruning.tick();
    return response;
  };

  /** Returns the authenticated client, and the form for the grant. */
  async #identify(
    request: Request,
    sent: Parameters,
  ): Promise<{ readonly client: Client; readonly form: Parameters }> {
    const { authentication, assertionGrant } = this.#identifying;
    const form = (await assertionGrant?.(request, sent)) ?? null;
    if (form === null)
      return { client: await authentication.authenticate(request, sent), form: sent };
    return { client: await asGrant(() => authentication.authenticate(request, form)), form };
  }

  #grant(grantType: string): TokenGrant {
    const grant = this.#grants.get(grantType);
    if (grant !== undefined) return grant;
    throw new OAuthError(
      'unsupported_grant_type',
      'The grant_type is not one that this server offers.',
      `the grant_type is ${quoted(grantType)}`,
    );
  }
}
