import type { Parts } from '../../feature.ts';
import type { Handler } from '../../endpoints/endpoint.ts';
import { TOKEN_PATH } from '../../paths.ts';
import type { ClientAuthentication } from '../../clients/authentication.ts';
import { OAuthError } from '../../errors.ts';
import { formParameters, type Parameters } from '../../parameters.ts';
import { jsonReply, withFields, type Reply } from '../../endpoints/replies/responses.ts';
import type { Server } from '../../server.ts';
import type { KeyBinding } from '../../tokens/key-binding.ts';
import type { PushedRequests } from './pushed.ts';
import { pushingClients } from './pushing-clients.ts';

/** The path below `base_path`. */
export const PAR_PATH = '/oauth/par';

/**
 * Handles POST /oauth/par (RFC 9126). Authenticates the client, then checks and stores its
 * authorization request.
 */
export class ParEndpoint {
  readonly #pushed: PushedRequests;
  readonly #parts: Parts;
  readonly #authentication: ClientAuthentication;
  /** DPoP proofs must name this URL. */
  readonly #url: string;

  constructor(pushed: PushedRequests, server: Server, parts: Parts) {
    this.#pushed = pushed;
    this.#parts = parts;
    this.#url = `${server.issuer}${PAR_PATH}`;
    // An assertion may also name the token endpoint's URL as its audience.
    this.#authentication = parts.authenticating(
      pushingClients(server, parts),
      TOKEN_PATH,
      PAR_PATH,
    );
  }

  readonly answer: Handler = async (request): Promise<Reply> => {
    const { binding, checks } = this.#parts;
    const form = await formParameters(request);
    // Check the DPoP proof before the client authentication, as the token endpoint does.
    const proved = binding === null ? null : await binding.prove(request, this.#url);
    const client = await this.#authentication.authenticate(request, form);
    proved?.requireFor(client);
    // `client_id` is required in addition to the client authentication (section 2.1).
    form.require('client_id');
    if (form.has('request_uri'))
      throw new OAuthError('invalid_request', 'A request_uri cannot be pushed.');
    await checks.checkDirect(form, client);
    const sent = checks.kept(form);
    const bound =
      binding === null || proved === null
        ? sent
        : [...sent, ...getKey(form, binding, proved.thumbprint)];
    const { requestUri, expiresIn } = await this.#pushed.keep(request, client, bound);
    const reply = jsonReply({ request_uri: requestUri, expires_in: expiresIn }, 201);
    if (proved === null) return reply;
    // Each used proof is a row in the store, so mark the proof as used last. Otherwise, an attacker
    // could fill the store with rejected requests.
    await proved.claim();
    return withFields(reply, await proved.answerFields());
  };
}

/**
 * Returns the parameter that binds the code to the proof's key (RFC 9449 section 10.1), unless the
 * form contains it. Throws if the form names another key.
 */
function getKey(
  form: Parameters,
  { parameter, offer }: KeyBinding,
  thumbprint: string,
): readonly (readonly [string, string])[] {
  const named = form.get(parameter);
  if (named === undefined) return [[parameter, thumbprint]];
  if (named === thumbprint) return [];
  throw new OAuthError(
    'invalid_request',
    `The ${parameter} does not match the key of the ${offer.scheme} proof.`,
  );
}
