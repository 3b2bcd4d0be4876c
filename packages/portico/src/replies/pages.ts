import { randomBytes } from 'node:crypto';
import { pageHeaders } from '../http/page-headers.ts';
import type { Words } from '../words/words.ts';
import type { Server } from '../server.ts';
import type { Reply } from './responses.ts';
import type { PageData } from './views.ts';

/** A page, and the data of its view. */
export interface ShownPage<View extends keyof PageData> {
  /** In the language of the reader. */
  readonly words: Words;
  readonly view: View;
  readonly status: number;
  readonly data: PageData[View];
  /** Where the redirects after a form of this page end; null for a page without a form. */
  readonly formLeadsTo: FormTarget;
}

type FormTarget = string | typeof ANYWHERE | null;

/**
 * An application decides what follows its callback: another site, a program on this computer, a
 * private-use scheme.
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
 * A page that no host's view replaces and no search engine shows; `html` receives the nonce of its
 * styles.
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
 * Chromium checks every redirect after a form against `form-action`, including those that an
 * application makes after its own callback. Undefined leaves the directive out
 * (docs/decisions/0003-form-action.md).
 */
function formAction(formLeadsTo: FormTarget): string | undefined {
  if (formLeadsTo === null) return "'none'";
  if (formLeadsTo === ANYWHERE) return undefined;
  const { protocol } = new URL(formLeadsTo);
  return protocol === 'https:' ? "'self' https:" : `'self' https: ${protocol}`;
}

/**
 * A redirect of the browser that leaves no trace in caches and no referrer. 303 after a form, 302
 * otherwise.
 */
export function redirectReply(location: string, status: 302 | 303): Reply {
  return {
    status,
    body: null,
    headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
  };
}
