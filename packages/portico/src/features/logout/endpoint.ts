import type { Visitor } from '../../host/accounts.ts';
import { notAccepted } from '../../authorization/consent-errors.ts';
import { shownPerson } from '../../authorization/page-data.ts';
import { redirectWith } from '../../clients/redirect-uris.ts';
import { tokenHash } from '../../crypto.ts';
import { OAuthError } from '../../errors.ts';
import type { Parts } from '../../feature.ts';
import { formToken, isFormToken } from '../../host/form-token.ts';
import type { CompleteHost } from '../../host/host.ts';
import { formParameters, unrepeated, type Parameters } from '../../parameters.ts';
import { messageReply } from '../../endpoints/replies/message-page.ts';
import { ANYWHERE, pageReply, redirectReply } from '../../endpoints/replies/pages.ts';
import type { Reply } from '../../endpoints/replies/responses.ts';
import type { Server } from '../../server.ts';
import type { PageKey } from '../../pages/english.ts';
import { noteWish } from '../../pages/speaking.ts';
import { page } from '../../pages/words.ts';
import {
  LogoutRequests,
  notValid,
  tooOld,
  type KeptRequest,
  type LogoutRequest,
} from './request.ts';
import type { LogoutView } from './view.ts';

/** The `end_session_endpoint`, below `base_path`. */
export const LOGOUT_PATH = '/oauth/logout';

/** The purpose of the encryption. Text with another purpose is rejected. */
const PURPOSE = 'logout';

type EndsSession = NonNullable<CompleteHost['endSession']>;

/** Signs users out at a client's request (OpenID Connect RP-Initiated Logout 1.0). */
export class LogoutEndpoint {
  readonly #server: Server;
  readonly #parts: Parts;
  readonly #requests: LogoutRequests;
  readonly #endSession: EndsSession;
  /** The path as browsers request it. */
  readonly #path: string;

  constructor(server: Server, parts: Parts, endSession: EndsSession) {
    this.#server = server;
    this.#parts = parts;
    this.#requests = new LogoutRequests(server, parts);
    this.#endSession = endSession;
    this.#path = `${server.basePath}${LOGOUT_PATH}`;
  }

  /**
   * Handles GET. The URL contains a new request from a client, or an encrypted request from this
   * server.
   */
  async show(request: Request): Promise<Reply> {
    const parameters = await readValid(() => unrepeated(new URL(request.url).searchParams));
    const sealed = parameters.get('request');
    const asked =
      sealed === undefined
        ? await this.#requests.read(request, parameters)
        : await this.#open(request, sealed);
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null) return this.#withoutPerson(request, asked);
    if (isOpened(request) && !asked.isDone && (await this.#requests.proves(asked, visitor)))
      return this.#signOut(visitor, asked, { isTheirs: true, confirmed: false });
    return this.#ask(visitor, asked);
  }

  /**
   * Handles POST. The form contains a client's request or the user's answer.
   *
   * Browsers do not send the session cookie with a form from another site. So the response to a
   * client's request is always a redirect to a GET request. An answer without a session cookie gets
   * the same redirect.
   */
  async answer(request: Request): Promise<Reply> {
    const form = await readValid(() => formParameters(request));
    const decision = form.get('decision');
    if (decision === undefined) {
      noteWish(request, (form.get('ui_locales') ?? '').split(' '));
      const asked = await this.#requests.read(request, form);
      return redirectReply(await this.#returnPath(request, asked), 303);
    }
    const sealed = form.get('request') ?? '';
    const asked = await this.#open(request, sealed);
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null) return redirectReply(await this.#returnPath(request, asked), 303);
    requireToken(form, visitor, sealed);
    if (decision !== 'logout') return this.#message(request, 'logout.stayed');
    const isTheirs = await this.#requests.proves(asked, visitor);
    return this.#signOut(visitor, asked, { isTheirs, confirmed: true });
  }

  /**
   * Ends the session. The browser returns only to a client that an operator registered, or whose ID
   * token proves that the user allowed it access. Otherwise, anyone could register a client and use
   * this server to redirect browsers to any site.
   */
  async #signOut(
    { request, user }: Visitor,
    asked: LogoutRequest,
    { isTheirs, confirmed }: { readonly isTheirs: boolean; readonly confirmed: boolean },
  ): Promise<Reply> {
    const status = confirmed ? 303 : 302;
    const redirectUri = asked.isVerified || isTheirs ? asked.redirectUri : null;
    const done = { ...asked, redirectUri, isDone: true };
    // Any site can link to the host's sign-out page. So redirect from there only to clients that an
    // operator registered.
    const back = asked.isVerified ? done : { ...done, redirectUri: null };
    const next = await this.#endSession(request, await this.#returnPath(request, back));
    if (next !== null) return redirectReply(next, status);
    const { clientId } = asked;
    await this.#server.audit({ type: 'signed_out', clientId, person: user.reference, confirmed });
    return this.#finish(request, done, status);
  }

  /** Handles a request from a browser without a signed-in user. */
  #withoutPerson(request: Request, asked: LogoutRequest): Promise<Reply> {
    const mayLeave = asked.isDone || (asked.isVerified && asked.subject !== null);
    return this.#finish(request, mayLeave ? asked : { ...asked, redirectUri: null }, 302);
  }

  async #finish(request: Request, asked: LogoutRequest, status: 302 | 303): Promise<Reply> {
    const { redirectUri, state } = asked;
    if (redirectUri === null) return this.#message(request, 'logout.done');
    return redirectReply(
      state === null ? redirectUri : redirectWith(redirectUri, { state }),
      status,
    );
  }

  async #ask(visitor: Visitor, asked: LogoutRequest): Promise<Reply> {
    const { config, speaking, issuer } = this.#server;
    const { request, user } = visitor;
    const sealed = await this.#seal({ ...asked, isDone: false });
    const data: LogoutView = {
      serverName: config.name,
      clientName: asked.clientName,
      person: shownPerson(user),
      action: speaking.withWish(request, this.#path),
      request: sealed,
      csrfToken: formToken(visitor, ...formFor(visitor, sealed)),
    };
    return pageReply(this.#server, {
      words: await speaking.of(request),
      view: 'oauth/logout',
      status: 200,
      data,
      // The client's page may redirect the browser to any address.
      formLeadsTo: asked.redirectUri === null ? issuer : ANYWHERE,
    });
  }

  #message(request: Request, key: PageKey): Promise<Reply> {
    const { config, paths } = this.#server;
    const text = { key: 'applications.back', values: { server: config.name } } as const;
    const link = { href: paths.home, text };
    return messageReply(this.#server, request, {
      text: page(key),
      status: 200,
      link,
      requestId: null,
    });
  }

  /** The browser continues the request at this path. */
  async #returnPath(request: Request, asked: LogoutRequest): Promise<string> {
    const query = new URLSearchParams({ request: await this.#seal(asked) });
    return this.#server.speaking.withWish(request, `${this.#path}?${query}`);
  }

  #seal(asked: LogoutRequest): Promise<string> {
    const { clientName: _, isVerified: __, ...kept } = asked;
    return this.#parts.server().sealing.seal(PURPOSE, JSON.stringify(kept satisfies KeptRequest));
  }

  async #open(request: Request, sealed: string): Promise<LogoutRequest> {
    const opened = await this.#parts.server().sealing.open(PURPOSE, sealed);
    if (opened === null) throw tooOld();
    return this.#requests.reopen(request, JSON.parse(opened) as KeptRequest);
  }
}

/** A user sees the response, so a repeated parameter is an error with a page. */
async function readValid(read: () => Parameters | Promise<Parameters>): Promise<Parameters> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof OAuthError) throw notValid(error.detail ?? error.message);
    throw error;
  }
}

/**
 * Returns true if the browser opens a page that the user sees. An image on another site or a
 * preloaded page must not sign users out.
 */
function isOpened({ headers }: Request): boolean {
  const isAhead = headers.has('sec-purpose') || headers.has('purpose');
  return !isAhead && (headers.get('sec-fetch-dest') ?? 'document') === 'document';
}

function requireToken(form: Parameters, visitor: Visitor, sealed: string): void {
  if (!isFormToken(form.get('csrf_token'), visitor, ...formFor(visitor, sealed)))
    throw notAccepted('the csrf_token is not valid for this form, person and browser session');
}

/** Returns the values that the CSRF token of the form is bound to. */
function formFor({ user }: Visitor, sealed: string): readonly string[] {
  const { provider, id } = user.reference;
  return ['oauth/logout', tokenHash(sealed), provider, id];
}
