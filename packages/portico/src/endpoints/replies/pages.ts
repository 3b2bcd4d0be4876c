import { randomBytes } from 'node:crypto';
import { pageHeaders } from '../../http/page-headers.ts';
import type { Words } from '../../pages/words.ts';
import type { Server } from '../../server.ts';
import type { Reply } from './responses.ts';
import type { PageData } from './views.ts';

/** A page to render: the view and its data. */
export interface ShownPage<View extends keyof PageData> {
  /** The texts of the page in the reader's language. */
  readonly words: Words;
  readonly view: View;
  readonly status: number;
  readonly data: PageData[View];
  /**
   * The URL that the page's form leads to after all redirects, or `ANYWHERE`. Null for a page
   * without a form.
   */
  readonly formLeadsTo: FormTarget;
}

type FormTarget = string | typeof ANYWHERE | null;

/**
 * The target of a form that can lead to any URL. After the callback, an application may redirect
 * the browser to another site, to a program on this computer or to a private-use scheme.
 */
export const ANYWHERE = Symbol('anywhere');

export async function pageReply<View extends keyof PageData>(
  { host, speaking }: Server,
  { words, view, status, data, formLeadsTo }: ShownPage<View>,
): Promise<Reply> {
  const nonce = randomBytes(16).toString('base64');
  const body = await host.render(view, { ...words, ...data, nonce });
  return {
    status,
    body,
    headers: { ...pageHeaders(nonce, formAction(formLeadsTo)), ...speaking.headers(words) },
  };
}

/**
 * Returns a page that the host cannot replace with its own view. Search engines do not list the
 * page. `html` receives the nonce for the page's styles.
 */
export function ownPageReply(
  { status, formLeadsTo }: { readonly status: number; readonly formLeadsTo: FormTarget },
  html: (nonce: string) => string,
): Reply {
  const nonce = randomBytes(16).toString('base64');
  const headers = { ...pageHeaders(nonce, formAction(formLeadsTo)), 'X-Robots-Tag': 'noindex' };
  return { status, body: html(nonce), headers };
}

/**
 * Returns the `form-action` directive for the page, or undefined if the page gets no such
 * directive. Chromium checks every redirect after a form against `form-action`, even redirects
 * after an application's callback (docs/decisions/0003-form-action.md).
 */
function formAction(formLeadsTo: FormTarget): string | undefined {
  if (formLeadsTo === null) return "'none'";
  if (formLeadsTo === ANYWHERE) return undefined;
  const { protocol } = new URL(formLeadsTo);
  return protocol === 'https:' ? "'self' https:" : `'self' https: ${protocol}`;
}

/**
 * Returns a redirect that is not cached and that sends no referrer. Use the status 303 after a
 * form, and 302 otherwise.
 */
export function redirectReply(location: string, status: 302 | 303): Reply {
  return {
    status,
    body: null,
    headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
  };
}
