import { type Database, isOverloaded } from '@portico/sql';
import { throttleLog } from '../http/throttle-log.ts';
import type { Speaking } from '../words/speaking.ts';
import { ENGLISH_WORDS, page, told, type PageText } from '../words/words.ts';
import { AuthorizationPageError, HostTimeoutError, type PageLink } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import { KeysLostError, SignerError } from '../keys/signing-key.ts';
import { pageReply } from './pages.ts';
import { faultReply, refusalReply, unavailableReply, type Reply } from './responses.ts';

/**
 * The replies to errors: refusals with their code, an unreachable store with 503, a fault of ours
 * with 500.
 */
export interface Failures {
  /** Logs errors that are not refusals. Never rejects. */
  reply(error: unknown, failed: FailedRequest): Promise<Reply>;
}

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

export interface FailuresOptions {
  readonly host: Pick<CompleteHost, 'log' | 'render'>;
  readonly database: Pick<Database, 'isUnavailable'>;
  /** The names of the missing schema steps: called only after a failure. */
  readonly pendingSteps: () => Promise<readonly string[]>;
  readonly serverName: string;
  readonly speaking: Speaking;
  /** Whether the error page shows details that are otherwise only in the log. */
  readonly showsDetails: boolean;
}

export function createFailures({
  host,
  database,
  pendingSteps,
  serverName,
  speaking,
  showsDetails,
}: FailuresOptions): Failures {
  const logOverload = throttleLog((times) =>
    host.log.warning('Too many secrets to check: requests of applications answered 503: {times}', { times }),
  );
  /** A mount starts without its tables, and the engine's error does not say how to create them. */
  const explainFault = throttleLog(() => {
    const explain = (steps: readonly string[]) => {
      if (steps.length > 0)
        host.log.error('The schema is not applied: {steps}; run npx portico db:migrate up', {
          steps: steps.join(', '),
        });
    };
    // The failure is already in the log.
    void pendingSteps().then(explain, () => {});
  });

  async function errorPage(
    { text, detail = null, link = null, status, withoutView }: ErrorPage,
    request: Request | null,
    requestId: string | null,
  ): Promise<Reply> {
    const retryAfter = withoutView.headers['Retry-After'];
    try {
      const shown = showsDetails ? detail : null;
      // A host's own view may not know about a link, so the message says where to go too.
      const words = request === null ? ENGLISH_WORDS : await speaking.of(request);
      const data = {
        serverName,
        title: told(words, text.title),
        message: told(words, text.message),
        status,
        requestId,
        detail: shown,
        link: link === null ? null : { href: link.href, text: told(words, link.text) },
      };
      const reply = await pageReply({
        host,
        speaking,
        words,
        view: 'oauth/error',
        status,
        data,
        formLeadsTo: null,
      });
      return retryAfter === undefined
        ? reply
        : { ...reply, headers: { ...reply.headers, 'Retry-After': retryAfter } };
    } catch (exception) {
      host.log.error('The view oauth/error cannot be rendered: {exception}', { requestId, exception });
      return withoutView;
    }
  }

  return {
    async reply(error, { endpoint, requestId, asPage, request }) {
      if (error instanceof AuthorizationPageError) {
        const { text, detail, link } = error;
        const { status, withoutView } = pageStatus(error);
        const shown = await errorPage({ text, detail, link, status, withoutView }, request, requestId);
        return { ...shown, refused: error };
      }
      const refusal = refusalReply(error);
      if (refusal !== null && error instanceof Error) return { ...refusal, refused: error };

      const unavailable = database.isUnavailable(error);
      const overloaded = !unavailable && isOverloaded(error);
      if (overloaded) logOverload();
      else host.log.error('{endpoint} failed: {exception}', { endpoint, requestId, exception: error });
      const mayPass = unavailable || overloaded || PASSING.some((kind) => error instanceof kind);
      if (!mayPass) explainFault();
      const reply = mayPass ? unavailableReply() : faultReply();
      if (!asPage) return reply;
      const { status } = reply;
      const text = mayPass ? page('error.unavailable') : page('error.fault');
      return errorPage({ text, status, withoutView: reply }, request, requestId);
    },
  };
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

function pageStatus({
  retryAfter,
  status,
}: AuthorizationPageError): Pick<ErrorPage, 'status' | 'withoutView'> {
  if (retryAfter === null) return { status, withoutView: faultReply() };
  const reply = unavailableReply();
  const headers = { ...reply.headers, 'Retry-After': String(retryAfter) };
  return { status: reply.status, withoutView: { ...reply, headers } };
}
