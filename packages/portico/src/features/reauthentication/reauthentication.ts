import type {
  ConfirmedStep,
  HostPage,
  Interaction,
  InteractionStep,
  InteractionVisit,
} from '../../authorization/interaction.ts';
import { readOwnIdToken } from '../../authorization/id-token-hint.ts';
import { promptValues } from '../../authorization/request-parameters.ts';
import { OAuthError } from '../../errors.ts';
import type { CompleteHost } from '../../host/host.ts';
import type { PersonReference } from '../../person.ts';
import type { Server } from '../../server.ts';
import type { Details } from '../../store/grant.ts';
import type { AuthorizationRequest, ConsentRequest } from '../../store/requests.ts';
import {
  findAuthentication,
  type KnownAuthentication,
} from '../../authorization/authentication.ts';
import { toDetails } from './authentication.ts';

/**
 * Redirects users to a page of the host if a request requires them to authenticate again (OpenID
 * Connect Core section 3.1.2.1). A user who comes back without a recent authentication gets an
 * error, because a second redirect could be a loop.
 */
export class Reauthentication implements Interaction {
  readonly #server: Server;
  readonly #page: NonNullable<CompleteHost['reauthenticateUrl']>;
  readonly #supported: readonly string[];

  /** `supported`: the levels of assurance that the host's sign-in pages can reach. */
  constructor(
    server: Server,
    page: NonNullable<CompleteHost['reauthenticateUrl']>,
    supported: readonly string[],
  ) {
    this.#server = server;
    this.#page = page;
    this.#supported = supported;
  }

  async next(asked: AuthorizationRequest, visit: InteractionVisit): Promise<InteractionStep> {
    const { further = {} } = asked;
    const known = await findAuthentication(this.#server, visit.request);
    const isFresh = this.#isFresh(further, known, visit.receivedAt);
    const acrValues = this.#acrValues(further);
    const isReached = acrValues.length === 0 || acrValues.includes(known?.acr ?? '');
    // `acr_values` is only a preference, so a level that is not reached is never an error (OpenID
    // Connect Core section 5.5.1).
    const mayStay = isReached || visit.isBack || asked.silent === true;
    if (!isFresh && visit.isBack) return { refusal: notFresh(known) };
    if (!isFresh || !mayStay) return { page: this.#pageFor(further) };
    if (!(await this.#isNamed(asked, visit.person))) return { refusal: anotherPerson() };
    return { details: { [RECEIVED_AT]: visit.receivedAt } };
  }

  /**
   * Checks the authentication again when the user submits the consent page. The page may have been
   * open for longer than `max_age`, or the browser may have an older session. Returns the
   * authentication of the session, or the page where the user authenticates again.
   */
  async confirm(
    { further = {}, details }: ConsentRequest,
    request: Request,
  ): Promise<ConfirmedStep> {
    const known = await findAuthentication(this.#server, request);
    const receivedAt = Number(details?.[RECEIVED_AT] ?? Number.POSITIVE_INFINITY);
    if (this.#isFresh(further, known, receivedAt)) return { details: toDetails(known) };
    return { page: this.#pageFor(further) };
  }

  async details(request: Request): Promise<Details | undefined> {
    return toDetails(await findAuthentication(this.#server, request));
  }

  /**
   * Returns true if the request is for this user. If `id_token_hint` names another user, the server
   * must not send a successful response (OpenID Connect Core section 3.1.2.2).
   *
   * The hint must be an ID token of this client. With a forged hint, a client could find out who is
   * signed in. Always true for `prompt=none`: the remembered consent then decides.
   */
  async #isNamed(
    { clientId, further: { id_token_hint: hint } = {}, silent }: AuthorizationRequest,
    person: PersonReference,
  ): Promise<boolean> {
    if (hint === undefined || silent === true) return true;
    const token = await readOwnIdToken(this.#server, hint);
    if (token?.clientId !== clientId) return false;
    return (await this.#server.store.subjects.findSubject(person)) === token.subject;
  }

  #pageFor(further: Further): HostPage {
    return (returnTo) => this.#page(returnTo, { acrValues: this.#acrValues(further) });
  }

  /** Returns the requested levels of assurance that the host can reach. */
  #acrValues({ acr_values: acrValues = '' }: Further): readonly string[] {
    return [...new Set(acrValues.split(' '))].filter((each) => this.#supported.includes(each));
  }

  /** Returns true if the authentication is as recent as the request requires. */
  #isFresh(
    { prompt, max_age: maxAge }: Further,
    known: KnownAuthentication | null,
    receivedAt: number,
  ): boolean {
    const isLogin = promptValues(prompt).has('login');
    if (!isLogin && maxAge === undefined) return true;
    if (known === null) return false;
    const longest = Number(maxAge ?? Number.POSITIVE_INFINITY) * 1000;
    const age = this.#server.clock() - known.at;
    // The user has just signed in for this request.
    if (known.at >= receivedAt) return age <= Math.max(longest, JUST_NOW);
    return !isLogin && longest > 0 && age <= longest;
  }
}

/** The request parameters that features add. */
type Further = Readonly<Record<string, string>>;

/** The key of the request's time in the details of the consent request. */
const RECEIVED_AT = 'request_received_at';

/**
 * A sign-in for the current request is recent enough for this long, in milliseconds, even if
 * `max_age` is shorter.
 */
const JUST_NOW = 60_000;

function anotherPerson(): OAuthError {
  return new OAuthError(
    'login_required',
    'The person is not the one of the id_token_hint.',
    'the id_token_hint was issued for a different person than the one who is signed in',
  );
}

function notFresh(known: KnownAuthentication | null): OAuthError {
  const detail =
    known === null
      ? 'the host does not know when the person authenticated'
      : 'the person returned from the sign-in page, but last authenticated ' +
        `at ${new Date(known.at).toISOString()}`;
  return new OAuthError('login_required', 'The person did not authenticate again.', detail);
}
