import { isOverloaded, pendingSteps } from '@portico/sql';
import { throttleLog } from '../http/throttle-log.ts';
import { ENGLISH_WORDS, page, told, type PageText } from '../words/words.ts';
import { AuthorizationPageError, HostTimeoutError, type PageLink } from '../errors.ts';
import { KeysLostError, SignerError } from '../keys/signing-key.ts';
import type { Server } from '../server.ts';
import { pageReply } from './pages.ts';
import { faultReply, refusalReply, unavailableReply, type Reply } from './responses.ts';

/** The failed request. */
export interface FailedRequest {
  /** The endpoint's name; `token()` for a route of the host's own. */
  readonly endpoint: string;
  /** Null if the host did not say which it was. */
  readonly requestId: string | null;
  /** Whether the response is for a person at a browser. */
  readonly asPage: boolean;
  /** Chooses the language of a page; null if there is no page. */
  readonly request: Request | null;
}

/**
 * The replies to errors: refusals with their code, an unreachable store with 503, a fault of ours
 * with 500.
 */
export class Failures {
  readonly #server: Server;
  readonly #showsDetails: boolean;
  readonly #logOverload: () => void;
  /** A mount starts without its tables, and the engine's error does not say how to create them. */
  readonly #explainFault: () => void;

  /** `showsDetails` is whether the error page shows what is otherwise only in the log. */
  constructor(server: Server, showsDetails: boolean) {
    this.#server = server;
    this.#showsDetails = showsDetails;
    const { log } = server.host;
    this.#logOverload = throttleLog((times) =>
      log.warning('Too many secrets to check: requests of applications answered 503: {times}', { times }),
    );
    // The failure is already in the log.
    this.#explainFault = throttleLog(() => void this.#logPendingSteps().catch(() => {}));
  }

  /** Logs errors that are not refusals. Never rejects. */
  async reply(error: unknown, { endpoint, requestId, asPage, request }: FailedRequest): Promise<Reply> {
    if (error instanceof AuthorizationPageError) {
      const { text, detail, link } = error;
      const shown = await this.#errorPage({ text, detail, link, ...pageStatus(error) }, request, requestId);
      return { ...shown, refused: error };
    }
    const refusal = refusalReply(error);
    if (refusal !== null && error instanceof Error) return { ...refusal, refused: error };

    const { database, host } = this.#server;
    const unavailable = database.isUnavailable(error);
    const overloaded = !unavailable && isOverloaded(error);
    if (overloaded) this.#logOverload();
    else host.log.error('{endpoint} failed: {exception}', { endpoint, requestId, exception: error });
    const mayPass = unavailable || overloaded || PASSING.some((kind) => error instanceof kind);
    if (!mayPass) this.#explainFault();
    const reply = mayPass ? unavailableReply() : faultReply();
    if (!asPage) return reply;
    const { status } = reply;
    const text = mayPass ? page('error.unavailable') : page('error.fault');
    return this.#errorPage({ text, status, withoutView: reply }, request, requestId);
  }

  async #logPendingSteps(): Promise<void> {
    const { host, migrations } = this.#server;
    const steps = pendingSteps(await migrations());
    if (steps.length > 0)
      host.log.error('The schema is not applied: {steps}; run npx portico db:migrate up', {
        steps: steps.join(', '),
      });
  }

  async #errorPage(
    { text, detail = null, link = null, status, withoutView }: ErrorPage,
    request: Request | null,
    requestId: string | null,
  ): Promise<Reply> {
    const { host, config, speaking } = this.#server;
    const retryAfter = withoutView.headers['Retry-After'];
    try {
      // A host's own view may not know about a link, so the message says where to go too.
      const words = request === null ? ENGLISH_WORDS : await speaking.of(request);
      const data = {
        serverName: config.name,
        title: told(words, text.title),
        message: told(words, text.message),
        status,
        requestId,
        detail: this.#showsDetails ? detail : null,
        link: link === null ? null : { href: link.href, text: told(words, link.text) },
      };
      const shown = { words, view: 'oauth/error', status, data, formLeadsTo: null } as const;
      const reply = await pageReply(this.#server, shown);
      return retryAfter === undefined
        ? reply
        : { ...reply, headers: { ...reply.headers, 'Retry-After': retryAfter } };
    } catch (exception) {
      host.log.error('The view oauth/error cannot be rendered: {exception}', { requestId, exception });
      return withoutView;
    }
  }
}

/** Faults that may be gone at the next attempt. */
const PASSING = [KeysLostError, SignerError, HostTimeoutError];

interface ErrorPage {
  readonly text: PageText;
  /** For the log, and for a page that shows details. */
  readonly detail?: string | null;
  readonly link?: PageLink | null;
  readonly status: number;
  /** The reply if the view cannot be rendered; it has the page's `Retry-After`. */
  readonly withoutView: Reply;
}

function pageStatus({ retryAfter, status }: AuthorizationPageError) {
  if (retryAfter === null) return { status, withoutView: faultReply() };
  const reply = unavailableReply();
  const headers = { ...reply.headers, 'Retry-After': String(retryAfter) };
  return { status: reply.status, withoutView: { ...reply, headers } };
}
