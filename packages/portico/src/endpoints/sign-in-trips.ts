import type { HostPage } from '../authorization/interaction.ts';
import type { SignInNotes } from '../authorization/sign-in-notes.ts';
import type {
  RequestToWait,
  SentParameters,
  WaitingRequests,
} from '../authorization/waiting-requests.ts';
import { throttleLog } from '../http/throttle-log.ts';
import { redirectReply } from './replies/pages.ts';
import type { Reply } from './replies/responses.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { noteWish } from '../pages/speaking.ts';
import type { AuthorizeReplies } from './authorize-replies.ts';

/**
 * Sends browsers to pages of the host, for example to sign in. The authorization request waits
 * until the browser comes back with the request's id.
 */
export class SignInTrips {
  readonly #server: Server;
  readonly #waiting: WaitingRequests;
  /** Null if the sign-in page shows no data about the request. */
  readonly #notes: SignInNotes | null;
  readonly #replies: AuthorizeReplies;
  readonly #warnOfNoPerson: () => void;

  constructor(
    server: Server,
    waiting: WaitingRequests,
    notes: SignInNotes | null,
    replies: AuthorizeReplies,
  ) {
    const { host, paths } = server;
    this.#server = server;
    this.#waiting = waiting;
    this.#notes = notes;
    this.#replies = replies;
    this.#warnOfNoPerson = throttleLog((times) =>
      host.log.warning(
        'A person returned from the sign-in page, but signedIn() returned null, or loadAccount() ' +
          'returned no active account ({times}). If this happens to every person, mount ' +
          'portico() after the session middleware. Also check that browsers send the session ' +
          'cookie to {path}, that loadAccount() finds the id that signedIn() returns, and that ' +
          'isActive() returns true, not a promise',
        { times, path: paths.authorize },
      ),
    );
  }

  signIn(request: Request, waits: RequestToWait, client: Client | null): Promise<Reply> {
    const { host } = this.#server;
    return this.send((returnTo) => host.loginUrl(returnTo), request, waits, client);
  }

  async send(
    page: HostPage,
    request: Request,
    waits: RequestToWait,
    client: Client | null,
  ): Promise<Reply> {
    const notes = this.#notes;
    const { requestId, cookies } = await this.#waiting.begin(request, waits);
    const loginUrl = page(this.returnPath(requestId));
    const words = await this.#replies.words(request);
    const noted =
      (await notes?.cookies({ loginUrl, requestId, sent: waits.sent, client, words })) ?? [];
    return {
      ...redirectReply(loginUrl, this.#replies.redirectStatus(client)),
      cookies: [...cookies, ...noted],
    };
  }

  /** Handles a person who comes back from sign-in without a session or an account. */
  async signInAgain(request: Request, requestId: string): Promise<Reply> {
    const { host } = this.#server;
    const notes = this.#notes;
    const cookies = await this.#waiting.removeSurplus(request, requestId);
    // A page on this origin would send the session cookie. So a missing session or account is
    // unexpected.
    if (request.headers.get('sec-fetch-site') === 'same-origin') this.#warnOfNoPerson();
    const loginUrl = host.loginUrl(this.returnPath(requestId));
    const waited = notes === null ? null : await this.#waiting.find(request, requestId);
    noteSent(request, waited?.sent);
    const words = await this.#replies.words(request);
    const noted =
      waited === null
        ? []
        : await notes?.cookies({ loginUrl, requestId, sent: waited.sent, client: null, words });
    return {
      ...redirectReply(loginUrl, this.#replies.redirectStatus(null)),
      cookies: [...cookies, ...(noted ?? [])],
    };
  }

  /** Returns the path that leads back to the authorization request with this id. */
  returnPath(requestId: string): string {
    return `${this.#server.paths.authorize}?request_id=${encodeURIComponent(requestId)}`;
  }
}

/** Uses the languages in `ui_locales` for the pages in this response. */
export function noteSent(request: Request, sent: SentParameters = []): void {
  const wish = sent.find(([name]) => name === 'ui_locales')?.[1];
  if (wish !== undefined) noteWish(request, wish.split(' '));
}
