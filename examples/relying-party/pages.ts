import { html } from 'hono/html';
import type { Answer, Tokens } from './portal.ts';

/** What the signed-in page shows. */
export interface SignedIn {
  readonly notice: string | null;
  readonly tokens: Tokens;
  readonly userInfo: Answer;
  readonly notes: Answer;
}

export function startPage(issuer: string) {
  return page(
    'Notebook',
    html`<p>Notebook shows the notes you keep at Portal, once you allow it.</p>
      ${signInForm('Sign in with Portal')}
      <p class="soft after">You will be asked at ${new URL(issuer).host}. Your password stays there.</p>`,
  );
}

export function signedInPage({ notice, tokens: { claims, scope }, userInfo, notes }: SignedIn) {
  return page(
    'Signed in with Portal',
    html`${notice === null ? '' : html`<p class="notice" role="status">${notice}</p>`}
      <div class="person">
        <p>Signed in as <strong>${claims['name'] ?? claims.sub}</strong></p>
        <form method="post" action="/sign-out">
          <button class="link" type="submit">Sign out here</button>
        </form>
      </div>
      <p>You allowed: ${scope.split(' ').join(', ')}</p>
      ${answered('notes', `The notes API answers ${notes.status}`, indented(notes.body))}
      <form method="post" action="/notes">
        <label for="text">A new note</label>
        <input id="text" name="text" maxlength="2000" autocomplete="off" required />
        <button class="secondary wide" type="submit">Add it at Portal</button>
      </form>
      ${answered('user-info', `UserInfo answers ${userInfo.status}`, indented(userInfo.body))}
      ${answered('id-token', 'The ID token says', JSON.stringify(claims, null, 2))}
      <form method="post" action="/refresh">
        <button class="primary wide" type="submit">Refresh the tokens</button>
      </form>`,
  );
}

/** What came of a step, with the way back. */
export function resultPage(title: string, message: string) {
  return page(
    title,
    html`<p>${message}</p>
      ${signInForm('Try again')}
      <p class="after"><a href="/">Back to the start</a></p>`,
  );
}

function signInForm(label: string) {
  return html`<form method="post" action="/sign-in">
    <button class="primary wide" type="submit">${label}</button>
  </form>`;
}

/** A box of JSON that can be scrolled by keyboard, under its heading. */
function answered(id: string, heading: string, json: string) {
  return html`<h2 id="${id}">${heading}</h2>
    <pre tabindex="0" role="region" aria-labelledby="${id}">${json}</pre>`;
}

/** JSON as a person reads it; anything else as it is. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function page(title: string, content: ReturnType<typeof html>) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title === 'Notebook' ? title : `${title} · Notebook`}</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
}
