import { isOverloaded } from '@portico/sql';
import { throttleLog } from '../../http/throttle-log.ts';
import { ENGLISH_WORDS, page, told, type PageText } from '../../pages/words.ts';
import { AuthorizationPageError, HostTimeoutError, type PageLink } from '../../errors.ts';
import { KeysLostError, SignerError } from '../../keys/signing-key.ts';
import type { Server } from '../../server.ts';
import { pageReply } from './pages.ts';
import { describePendingSteps, findPendingSteps } from './pending-steps.ts';
import { faultReply, refusalReply, unavailableReply, type Reply } from './responses.ts';

export interface FailedRequest {
  /** The name of the endpoint, or `token()` for a route of the host. */
  readonly endpoint: string;
  /** Null if the host did not provide the request. */
  readonly requestId: string | null;
  /** True if the response is a page that a user sees. */
  readonly asPage: boolean;
  /** Determines the language of the page. Null if the response is not a page. */
  readonly request: Request | null;
}

/**
 * Builds the replies to failed requests: an error code for a refusal, 503 for an unreachable store,
 * and 500 for an internal error.
 */
export class Failures {
  readonly #server: Server;
  readonly #showsDetails: boolean;
  readonly #logOverload: () => void;
  /**
   * Logs how to create missing tables. A mounted server starts without its tables, and the
   * database's error does not say what to do.
   */
  readonly #explainFault: () => void;

  /** If `showsDetails` is true, error pages show details that are otherwise only in the log. */
  constructor(server: Server, showsDetails: boolean) {
    this.#server = server;
    this.#showsDetails = showsDetails;
    const { log } = server.host;
    this.#logOverload = throttleLog((times) =>
      log.warning('Too many client secret checks at once; requests answered with 503: {times}', {
        times,
      }),
    );
    // Ignore an error here: the failed request is already in the log.
    this.#explainFault = throttleLog(() => void this.#logPendingSteps().catch(() => {}));
  }

  /** Logs the error, unless it is a refusal. Never rejects. */
  async reply(
    error: unknown,
    { endpoint, requestId, asPage, request }: FailedRequest,
  ): Promise<Reply> {
    if (error instanceof AuthorizationPageError) {
      const { text, detail, link } = error;
      const shown = await this.#errorPage(
        { text, detail, link, ...pageStatus(error) },
        request,
        requestId,
      );
      return { ...shown, refused: error };
    }
    const refusal = refusalReply(error);
    if (refusal !== null && error instanceof Error) return { ...refusal, refused: error };

    const { database, host } = this.#server;
    const unavailable = database.isUnavailable(error);
    const overloaded = !unavailable && isOverloaded(error);
    if (overloaded) this.#logOverload();
    else
      host.log.error('{endpoint} failed: {exception}', { endpoint, requestId, exception: error });
    const mayPass = unavailable || overloaded || PASSING.some((kind) => error instanceof kind);
    if (!mayPass) this.#explainFault();
    const reply = mayPass ? unavailableReply() : faultReply();
    if (!asPage) return reply;
    const { status } = reply;
    const text = mayPass ? page('error.unavailable') : page('error.fault');
    const detail = mayPass || !this.#showsDetails ? null : await this.#describeFault(error);
    return this.#errorPage({ text, detail, status, withoutView: reply }, request, requestId);
  }

  async #logPendingSteps(): Promise<void> {
    const { host, migrations } = this.#server;
    const steps = await findPendingSteps(migrations);
    if (steps !== null)
      host.log.error(
        'Some database migrations are not applied: {steps}; run npx portico db:migrate up',
        { steps },
      );
  }

  /** Returns the missing migrations, or else the error itself. */
  async #describeFault(error: unknown): Promise<string> {
    const steps = await findPendingSteps(this.#server.migrations).catch(() => null);
    return steps === null ? String(error) : describePendingSteps(steps);
  }

  /**
   * Warns about missing migrations on standard error, if error pages show details. Each mount calls
   * this method when the application starts. Never rejects.
   */
  async warnOfPendingSteps(): Promise<void> {
    if (!this.#showsDetails) return;
    // If the store cannot be read, the first request that fails logs the problem.
    const steps = await findPendingSteps(this.#server.migrations).catch(() => null);
    if (steps !== null) process.emitWarning(describePendingSteps(steps), 'PorticoWarning');
  }

  async #errorPage(
    { text, detail = null, link = null, status, withoutView }: ErrorPage,
    request: Request | null,
    requestId: string | null,
  ): Promise<Reply> {
    const { host, config, speaking } = this.#server;
    const retryAfter = withoutView.headers['Retry-After'];
    try {
      // A custom view may not show the link. So the message contains its text.
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
      host.log.error('The view oauth/error cannot be rendered: {exception}', {
        requestId,
        exception,
      });
      return withoutView;
    }
  }
}

/** The client can try again after these errors. */
const PASSING = [KeysLostError, SignerError, HostTimeoutError];

interface ErrorPage {
  readonly text: PageText;
  /** For the log. Error pages show it only if they show details. */
  readonly detail?: string | null;
  readonly link?: PageLink | null;
  readonly status: number;
  /** The reply if the view cannot be rendered. The page gets its `Retry-After` header. */
  readonly withoutView: Reply;
}

function pageStatus({ retryAfter, status }: AuthorizationPageError) {
  if (retryAfter === null) return { status, withoutView: faultReply() };
  const reply = unavailableReply();
  const headers = { ...reply.headers, 'Retry-After': String(retryAfter) };
  return { status: reply.status, withoutView: { ...reply, headers } };
}
