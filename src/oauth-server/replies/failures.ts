import { isOverloaded } from '../../contracts/errors.ts';
import { occasionally } from '../../http/occasionally.ts';
import type { Database } from '../../sql/contract.ts';
import { AuthorizationPageError, type PageLink } from '../errors.ts';
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
}

export interface FailuresOptions {
  readonly host: Pick<CompleteHost, 'log' | 'render'>;
  readonly database: Pick<Database, 'isUnavailable'>;
  readonly serverName: string;
  /** Whether the error page shows details that are meant for the log. */
  readonly showsDetails: boolean;
}

export function createFailures({ host, database, serverName, showsDetails }: FailuresOptions): Failures {
  const logOverload = occasionally((times) =>
    host.log.warning('Too many secrets to check: requests of applications answered 503: {times}', { times }),
  );

  async function errorPage(
    { title, message, detail = null, link = null, status, withoutView }: ErrorPage,
    requestId: string | null,
  ): Promise<Reply> {
    const retryAfter = withoutView.headers['Retry-After'];
    try {
      const shown = showsDetails ? detail : null;
      // A host's own view may know nothing of a link: the message says where to go, too.
      const data = { serverName, title, message, status, requestId, detail: shown, link };
      const page = await pageReply({ host, view: 'oauth/error', status, data, formLeadsTo: null });
      return retryAfter === undefined
        ? page
        : { ...page, headers: { ...page.headers, 'Retry-After': retryAfter } };
    } catch (exception) {
      host.log.error('The view oauth/error cannot be rendered: {exception}', { requestId, exception });
      return withoutView;
    }
  }

  return {
    async reply(error, { endpoint, requestId, asPage }) {
      if (error instanceof AuthorizationPageError) {
        const { title, message, detail, link } = error;
        const page = await errorPage({ title, message, detail, link, ...pageStatus(error) }, requestId);
        return { ...page, refused: error };
      }
      const refusal = refusalReply(error);
      if (refusal !== null && error instanceof Error) return { ...refusal, refused: error };

      const unavailable = database.isUnavailable(error);
      const overloaded = !unavailable && isOverloaded(error);
      if (overloaded) logOverload();
      else host.log.error('{endpoint} failed: {exception}', { endpoint, requestId, exception: error });
      const mayPass =
        unavailable || overloaded || error instanceof KeysLostError || error instanceof SignerError;
      const reply = mayPass ? unavailableReply() : faultReply();
      if (!asPage) return reply;
      const { status } = reply;
      return errorPage({ ...(mayPass ? UNAVAILABLE : FAULT), status, withoutView: reply }, requestId);
    },
  };
}

interface ErrorPage {
  readonly title: string;
  readonly message: string;
  /** For the log, and for a page that shows details. */
  readonly detail?: string | null;
  readonly link?: PageLink | null;
  readonly status: number;
  /** The reply when the view cannot be rendered; the page has its `Retry-After`. */
  readonly withoutView: Reply;
}

const UNAVAILABLE = {
  title: 'Please try again in a moment',
  message: 'This site cannot answer now. Wait a little, then do the same again.',
} as const;
const FAULT = {
  title: 'Something went wrong here',
  message: 'The fault is ours, and it was written down. Go back to the application and start again.',
} as const;

function pageStatus({
  retryAfter,
  status,
}: AuthorizationPageError): Pick<ErrorPage, 'status' | 'withoutView'> {
  if (retryAfter === null) return { status, withoutView: faultReply() };
  const reply = unavailableReply();
  const headers = { ...reply.headers, 'Retry-After': String(retryAfter) };
  return { status: reply.status, withoutView: { ...reply, headers } };
}
