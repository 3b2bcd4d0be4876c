import { type Database, isOverloaded } from '@portico/sql';
import { throttleLog } from '../http/throttle-log.ts';
import type { Speaking } from '../words/speaking.ts';
import { ENGLISH_WORDS, page, told, type PageText } from '../words/words.ts';
import { AuthorizationPageError, HostTimeoutError, type PageLink } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import { KeysLostError, SignerError } from '../keys/signing-key.ts';
import { pageReply } from './pages.ts';
import { faultReply, refusalReply, unavailableReply, type Reply } from './responses.ts';

/** The replies to whatever goes wrong: refusals with their error, an unreachable store with 503, a fault of ours with 500. */
export interface Failures {
  /** Logs what is no refusal. Never rejects. */
  reply(error: unknown, failed: FailedRequest): Promise<Reply>;
}

/** Which request it was that failed. */
export interface FailedRequest {
  /** The endpoint's name; `token()` for a route of the host's own. */
  readonly endpoint: string;
  /** Null when the host did not say which it was. */
  readonly requestId: string | null;
  /** Whether the response is for a person at a browser. */
  readonly asPage: boolean;
  /** Says in which language a page is; null where there is no page. */
  readonly request: Request | null;
}

export interface FailuresOptions {
  readonly host: Pick<CompleteHost, 'log' | 'render'>;
  readonly database: Pick<Database, 'isUnavailable'>;
  /** The names of the steps of the schema that are still to be applied: asked when something has failed, and at no other time. */
  readonly pendingSteps: () => Promise<readonly string[]>;
  readonly serverName: string;
  readonly speaking: Speaking;
  /** Whether the error page shows details that are meant for the log. */
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
  /** A mount starts without its tables, and the error of an engine does not say what makes them. */
  const explainFault = throttleLog(() => {
    const explain = (steps: readonly string[]) => {
      if (steps.length > 0)
        host.log.error('The schema is not applied: {steps}; run npx portico db:migrate up', {
          steps: steps.join(', '),
        });
    };
    // What failed is in the log already.
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
      // A host's own view may know nothing of a link: the message says where to go, too.
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

/** Faults that may be over by the next attempt. */
const PASSING = [KeysLostError, SignerError, HostTimeoutError];

interface ErrorPage {
  readonly text: PageText;
  /** For the log, and for a page that shows details. */
  readonly detail?: string | null;
  readonly link?: PageLink | null;
  readonly status: number;
  /** The reply when the view cannot be rendered; the page has its `Retry-After`. */
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
