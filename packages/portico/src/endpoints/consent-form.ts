import type { Visitor } from '../host/accounts.ts';
import type { ConsentAnswers } from '../authorization/consent-answers.ts';
import { notAccepted } from '../authorization/consent-errors.ts';
import type { HostPage } from '../authorization/interaction.ts';
import { sameParameters } from '../authorization/request.ts';
import type { SavedRequests } from '../authorization/saved-requests.ts';
import type { RequestToWait, WaitingRequests } from '../authorization/waiting-requests.ts';
import { AuthorizationPageError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { redirectReply } from './replies/pages.ts';
import type { Reply } from './replies/responses.ts';
import type { Server } from '../server.ts';
import type { ConsentRequest } from '../store/requests.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import { page } from '../pages/words.ts';
import type { AuthorizeReplies } from './authorize-replies.ts';
import type { SignInTrips } from './sign-in-trips.ts';

/** The buttons on the consent page. `switch` is the button "Not you?". */
const DECISIONS: ReadonlySet<string> = new Set(['allow', 'deny', 'switch']);

export class ConsentForm {
  readonly #server: Server;
  readonly #binding: KeyBinding | null;
  readonly #saved: SavedRequests;
  readonly #answers: ConsentAnswers;
  readonly #waiting: WaitingRequests;
  readonly #trips: SignInTrips;
  readonly #replies: AuthorizeReplies;

  constructor(
    server: Server,
    binding: KeyBinding | null,
    saved: SavedRequests,
    answers: ConsentAnswers,
    waiting: WaitingRequests,
    trips: SignInTrips,
    replies: AuthorizeReplies,
  ) {
    this.#server = server;
    this.#binding = binding;
    this.#saved = saved;
    this.#answers = answers;
    this.#waiting = waiting;
    this.#trips = trips;
    this.#replies = replies;
  }

  async answer(request: Request, form: Parameters): Promise<Reply> {
    const requestId = form.get('request_id');
    const csrfToken = form.get('csrf_token');
    const decision = form.get('decision') ?? '';
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null) throw notSignedIn();
    if (requestId === undefined || csrfToken === undefined || !DECISIONS.has(decision)) {
      throw notAccepted(
        'the form has no request_id or csrf_token, or its decision is missing or unknown',
      );
    }
    await this.#saved.requireCsrfToken(requestId, visitor, csrfToken);
    if (decision === 'switch') return this.#switchPerson(requestId, visitor);
    // Do not ask again. The consent page has already shown where each answer leads.
    const isChecked = (name: string) => form.get(`scope.${name}`) !== undefined;
    const isAllowed = decision === 'allow';
    const completed = await this.#answers.complete(requestId, visitor, isAllowed, isChecked);
    if ('page' in completed) return this.#sendAgain(completed.page, completed.pending, request);
    return this.#replies.send(request, completed.response, 303);
  }

  /**
   * Ends the consent request and sends the user to a page of the host. The browser stores the
   * request under a new id, so that it starts again afterwards.
   */
  async #sendAgain(page: HostPage, pending: ConsentRequest, request: Request): Promise<Reply> {
    const received = { receivedAt: this.#server.clock(), isBack: true };
    const waits = { ...this.#sameRequest(pending), received };
    const reply = await this.#trips.send(page, request, waits, null);
    await this.#saved.end(pending);
    return { ...reply, status: 303 };
  }

  /**
   * Ends the consent request and the user's session. The browser stores the request, and the next
   * person who signs in sees the consent page for it (AS-8.6).
   */
  async #switchPerson(requestId: string, visitor: Visitor): Promise<Reply> {
    const { host } = this.#server;
    const pending = await this.#saved.requirePending(requestId, visitor);
    const begun = await this.#waiting.begin(visitor.request, this.#sameRequest(pending));
    const returnTo = this.#trips.returnPath(begun.requestId);
    await this.#saved.end(pending);
    const next = await host.signOut(visitor.request, returnTo);
    const reply =
      next === null
        ? await this.#replies.signOutFirst(visitor.request, returnTo)
        : redirectReply(next, 303);
    return { ...reply, cookies: begun.cookies };
  }

  /** Returns the authorization request, to store and check it again. */
  #sameRequest(pending: ConsentRequest): RequestToWait {
    return {
      sent: sameParameters(pending, this.#binding?.parameter ?? null),
      direct: pending.direct === true,
    };
  }
}

function notSignedIn(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.not_signed_in'),
    'no person is signed in to the browser session that sent this answer',
  );
}
