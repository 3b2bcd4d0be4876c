import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { prefersPage } from '../../http/accept.ts';
import { pageHeaders } from '../../http/page-headers.ts';
import type { Log } from '../../contracts/log.ts';
import type { Views } from '../contracts.ts';

/** What the response to an error is made of when no listener of `Event.EXCEPTION` gives one: never the details. */
export interface ErrorAnswer {
  readonly request: Request;
  readonly requestId: string;
  /** 400 to 599. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A page where `Accept` prefers one, JSON otherwise. */
export async function errorAnswer(
  { views, log, name }: { readonly views: Views; readonly log: Log; readonly name: string },
  answer: ErrorAnswer,
): Promise<Response> {
  if (!prefersPage(answer.request.headers.get('accept'))) return errorJson(answer);
  const nonce = randomBytes(16).toString('base64');
  const { status, requestId, headers } = answer;
  try {
    const html = await views.render('error', { ...wordsFor(status), name, status, requestId, nonce });
    return new Response(html, { status, headers: { ...pageHeaders(nonce), Vary: 'Accept', ...headers } });
  } catch (exception) {
    log.error('The view error cannot be rendered: {exception}', { requestId, exception });
    return errorJson(answer);
  }
}

/** The same as JSON, which needs no view. */
export function errorJson({ request, status, headers }: ErrorAnswer): Response {
  const body = { error: reasonPhrase(status), method: request.method, path: new URL(request.url).pathname };
  return new Response(JSON.stringify(body), {
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

/** RFC 9110 section 15, as a sentence begins: `Not found`. */
function reasonPhrase(status: number): string {
  const phrase = STATUS_CODES[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error');
  return phrase.slice(0, 1) + phrase.slice(1).toLowerCase();
}

interface Words {
  readonly title: string;
  readonly message: string;
}

const WORDS: Readonly<Record<number, Words>> = {
  404: {
    title: 'There is no such page',
    message: 'The address leads nowhere. It may have been mistyped, or the page may have moved.',
  },
  413: { title: 'That was too much', message: 'What was sent is larger than this site takes.' },
  503: {
    title: 'Please try again in a moment',
    message: 'This site cannot answer now. Wait a little, then do the same again.',
  },
};
const REFUSED: Words = {
  title: 'This was refused',
  message: 'It cannot be done like this. Go back, load the page anew, and try once more.',
};
const FAILED: Words = {
  title: 'Something went wrong here',
  message: 'The fault is ours, and it was written down. If it happens again, tell us the request id below.',
};

function wordsFor(status: number): Words {
  return WORDS[status] ?? (status < 500 ? REFUSED : FAILED);
}
