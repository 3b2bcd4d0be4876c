import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Log } from '@portico/sql';
import { type BrandingView, pageHeaders, type Speaking, type Views } from 'portico';
import { jsonText, page, type PageKey, prefersPage, told, type Words } from 'portico/extension';

/**
 * The data for an error response. Used if no listener of `Event.EXCEPTION` returns a response. The
 * data never contains details of the error.
 */
export interface ErrorAnswer {
  readonly request: Request;
  readonly requestId: string;
  /** The HTTP status, from 400 to 599. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The data that the view `error` receives, including texts in the page's language. */
export interface ErrorView extends Words {
  /** The title, which says in a few words what happened. */
  readonly title: string;
  /** An explanation, with advice for the user. */
  readonly message: string;
  /** The application's name, as shown to users. */
  readonly name: string;
  /** The HTTP status, from 400 to 599. */
  readonly status: number;
  /** The id of the request in the log. */
  readonly requestId: string;
  /** The nonce that the content security policy allows for the page's styles. */
  readonly nonce: string;
  /** The logo and colors of the page. Missing if `branding` is not set. */
  readonly branding?: BrandingView;
}

/** The parts of the application that error pages need. */
export interface PageParts {
  readonly views: Views;
  readonly speaking: Speaking;
  readonly log: Log;
  /** The application's name, as shown to users. */
  readonly name: string;
}

/**
 * Returns the error as an HTML page if the `Accept` header prefers HTML. Otherwise, or if the page
 * cannot be rendered, returns JSON.
 */
export async function errorAnswer(
  { views, speaking, log, name }: PageParts,
  answer: ErrorAnswer,
): Promise<Response> {
  if (!prefersPage(answer.request.headers.get('accept'))) return errorJson(answer);
  const nonce = randomBytes(16).toString('base64');
  const { status, requestId, headers } = answer;
  try {
    const words = await speaking.of(answer.request);
    const { title, message } = page(pageFor(status));
    const view: ErrorView = {
      ...words,
      title: told(words, title),
      message: told(words, message),
      name,
      status,
      requestId,
      nonce,
    };
    const html = await views.render('error', { ...view });
    const { Vary: language, ...spoken } = speaking.headers(words);
    const vary = { Vary: language === undefined ? 'Accept' : `Accept, ${language}` };
    return new Response(html, {
      status,
      headers: { ...pageHeaders(nonce), ...spoken, ...vary, ...headers },
    });
  } catch (exception) {
    log.error('The error view cannot be rendered: {exception}', { requestId, exception });
    return errorJson(answer);
  }
}

/** Returns the error as JSON. This also works if a view cannot be rendered. */
export function errorJson({ request, status, headers }: ErrorAnswer): Response {
  const body = {
    error: reasonPhrase(status),
    method: request.method,
    path: new URL(request.url).pathname,
  };
  return new Response(jsonText(body), {
    status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept',
      ...headers,
    },
  });
}

/**
 * Returns the reason phrase for a status (RFC 9110 section 15), such as `Not found`. Only its first
 * letter is capitalized.
 */
function reasonPhrase(status: number): string {
  const phrase = STATUS_CODES[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error');
  return phrase.slice(0, 1) + phrase.slice(1).toLowerCase();
}

const PAGES: Readonly<Record<number, PageKey>> = {
  404: 'error.not_found',
  413: 'error.too_large',
  503: 'error.unavailable',
};

function pageFor(status: number): PageKey {
  return PAGES[status] ?? (status < 500 ? 'error.refused' : 'error.failed');
}
