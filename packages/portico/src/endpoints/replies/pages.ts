import { randomBytes } from 'node:crypto';
import { pageHeaders } from '../../http/page-headers.ts';
import type { Words } from '../../pages/words.ts';
import type { Server } from '../../server.ts';
import type { Reply } from './responses.ts';
import type { PageData } from './views.ts';

export interface ShownPage<View extends keyof PageData> {
  readonly words: Words;
  readonly view: View;
  readonly status: number;
  readonly data: PageData[View];
  /** Where the page's form leads after all redirects. Null for a page without a form. */
  readonly formLeadsTo: FormTarget;
}

type FormTarget = string | typeof ANYWHERE | null;

/**
 * The form can lead to any URL. After the callback, an application may redirect the browser to
 * another site, to a program on this computer or to a private-use scheme.
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
 * Returns a page that the host cannot replace with a view. Search engines do not list it. `html`
 * receives the nonce for the page's styles.
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
 * Returns the `form-action` directive for the page. Chromium checks every redirect after a form
 * against it, even those after an application's callback (docs/decisions/0003-form-action.md).
 */
function formAction(formLeadsTo: FormTarget): string | undefined {
  if (formLeadsTo === null) return "'none'";
  if (formLeadsTo === ANYWHERE) return undefined;
  const { protocol } = new URL(formLeadsTo);
  return protocol === 'https:' ? "'self' https:" : `'self' https: ${protocol}`;
}

/**
 * Returns a redirect without a cache or a referrer. Use the status 303 after a form, and 302
 * otherwise.
 */
export function redirectReply(location: string, status: 302 | 303): Reply {
  return {
    status,
    body: null,
    headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
  };
}
