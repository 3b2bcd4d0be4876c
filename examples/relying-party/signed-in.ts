import { html } from 'hono/html';
import { lives } from './lives.ts';
import { page, type Html } from './pages.ts';
import { picture } from './picture.ts';
import type { Answer, Tokens } from './portal.ts';
import { step, type Step } from './steps.ts';
import { toTryNext } from './to-try-next.ts';

/** The data for the page that a signed-in person sees. */
export interface SignedIn {
  readonly issuer: string;
  readonly notice: string | null;
  readonly tokens: Tokens;
  /** How long a refresh token is valid, in seconds. Null if it is unknown. */
  readonly refreshTokenLifetime: number | null;
  readonly userInfo: Answer;
  readonly notes: Answer;
  /** The time now, in milliseconds since 1970. */
  readonly now: number;
}

/**
 * Shows what just happened, how long the tokens last, how the portal answers now, and what to try
 * next.
 */
export function signedInPage(shown: SignedIn): Html {
  const { issuer, notice, tokens, userInfo, notes } = shown;
  const steps = [...tokens.steps, asked('/oauth/userinfo', userInfo), asked('/api/notes', notes)];
  return page(
    'Signed in with Portal',
    html`${notice === null ? '' : html`<p class="notice" role="status">${notice}</p>`}
      <div class="person">
        <p>Signed in as <strong>${tokens.claims['name'] ?? tokens.claims.sub}</strong></p>
        <form method="post" action="/sign-out">
          <button class="link" type="submit">Sign out here</button>
        </form>
      </div>
      <section aria-labelledby="happened">
        <h2 id="happened">What just happened</h2>
        <div class="flow">
          ${picture(steps)}
          <ol class="steps">
            ${steps.map(stepItem)}
          </ol>
        </div>
      </section>
      <section aria-labelledby="lives">
        <h2 id="lives">How long it lasts</h2>
        ${lives(shown)}
      </section>
      <section aria-labelledby="answers">
        <h2 id="answers">What the portal answers now</h2>
        <p class="soft">
          Each time this page loads, Notebook asks again with the same access token.
        </p>
        ${answers(shown)}
      </section>
      <section aria-labelledby="next">
        <h2 id="next">What to try next</h2>
        ${toTryNext(issuer, tokens.claims['email'])}
      </section>
      <details>
        <summary>The unchanged answers</summary>
        ${box('user-info', 'UserInfo', indented(userInfo.body))}
        ${box('notes', 'The notes API', indented(notes.body))}
        ${box('id-token', 'The claims of the ID token', JSON.stringify(tokens.claims, null, 2))}
      </details>`,
    'broad',
  );
}

/** Returns the step for a request that this page has just sent. */
function asked(path: string, { status }: Answer): Step {
  const says =
    status === 200
      ? 'The portal accepted the access token.'
      : 'The portal did not accept the access token.';
  return step('notebook', 'portal', `GET ${path}`, says, { authorization: 'Bearer', status });
}

function stepItem({ label, says, sent }: Step): Html {
  return html`<li>
    <strong>${label}</strong>
    <p>${says}</p>
    ${
      sent.length === 0
        ? ''
        : html`<dl class="sent">
            ${sent.map(
              ([name, value]) =>
                html`<div>
                  <dt>${name}</dt>
                  <dd>${value}</dd>
                </div>`,
            )}
          </dl>`
    }
  </li>`;
}

// --- what the portal answers
// ----------------------------------------------------------------------------------

function answers({ userInfo, notes }: SignedIn): Html {
  return html`<div class="answers">
    <article>
      <h3>UserInfo answers ${userInfo.status}</h3>
      ${userInfo.status === 200 ? person(userInfo.body) : refused(userInfo.status)}
    </article>
    <article>
      <h3>The notes API answers ${notes.status}</h3>
      ${notes.status === 200 ? noteList(notes.body) : refused(notes.status)}
      <form method="post" action="/notes">
        <label for="text">A new note</label>
        <input id="text" name="text" maxlength="2000" autocomplete="off" required />
        <button class="secondary wide" type="submit">Add it to Portal</button>
      </form>
    </article>
  </div>`;
}

const REFUSED: Readonly<Record<number, string>> = {
  401: 'The token no longer works: the account is suspended, the access was removed, or the token has expired.',
  403: 'The token is valid, but the person does not have the permission for this scope at the moment.',
};

function refused(status: number): Html {
  return html`<p class="refused">${REFUSED[status] ?? 'The portal could not answer.'}</p>`;
}

function person(body: string): Html {
  const told = parsed(body);
  const claims = typeof told === 'object' && told !== null ? Object.entries(told) : [];
  return html`<dl class="claims">
    ${claims.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>`,
    )}
  </dl>`;
}

function noteList(body: string): Html {
  const told = parsed(body) as { readonly data?: readonly { readonly text?: unknown }[] } | null;
  const texts = (told?.data ?? []).map(({ text }) => (typeof text === 'string' ? text : ''));
  if (texts.length === 0) return html`<p class="soft">There are no notes yet. Write one:</p>`;
  return html`<ul class="notes">
    ${texts.map((text) => html`<li>${text}</li>`)}
  </ul>`;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** Shows JSON in a box under a heading. You can scroll the box with the keyboard. */
function box(id: string, heading: string, json: string): Html {
  return html`<h3 id="${id}">${heading}</h3>
    <pre tabindex="0" role="region" aria-labelledby="${id}">${json}</pre>`;
}

/** Indents a text if it is JSON. Returns other texts unchanged. */
function indented(body: string): string {
  const value = parsed(body);
  return value === null ? body : JSON.stringify(value, null, 2);
}
