import { html, raw } from 'hono/html';

/** What the signed-in page shows. */
export interface SignedIn {
  readonly notice: string | null;
  readonly claims: object;
  readonly scope: string;
  readonly userinfo: Answer;
  readonly notes: Answer;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

export function startPage(issuer: string) {
  return page(
    'Notebook',
    html`<p>Notebook shows the notes you keep at Portal, once you allow it.</p>
      <form method="post" action="/sign-in">
        <button class="primary wide" type="submit">Sign in with Portal</button>
      </form>
      <p class="soft after">You will be asked at ${new URL(issuer).host}. Your password stays there.</p>`,
  );
}

export function signedInPage({ notice, claims, scope, userinfo, notes }: SignedIn) {
  return page(
    'Signed in with Portal',
    html`${notice === null ? '' : html`<p class="notice" role="status">${notice}</p>`}
      <p>You allowed: ${scope.split(' ').join(', ')}</p>
      <h2>The ID token says</h2>
      <pre tabindex="0">${JSON.stringify(claims, null, 2)}</pre>
      <h2>UserInfo answers ${userinfo.status}</h2>
      <pre tabindex="0">${indented(userinfo.body)}</pre>
      <h2>The notes API answers ${notes.status}</h2>
      <pre tabindex="0">${indented(notes.body)}</pre>
      <form method="post" action="/notes">
        <label for="text">A new note</label>
        <input id="text" name="text" maxlength="2000" required />
        <button class="secondary wide" type="submit">Add it at Portal</button>
      </form>
      <div class="row">
        <form method="post" action="/refresh">
          <button class="primary" type="submit">Refresh the tokens</button>
        </form>
        <form method="post" action="/sign-out">
          <button class="secondary" type="submit">Sign out here</button>
        </form>
      </div>`,
  );
}

export function resultPage(title: string, message: string) {
  return page(
    title,
    html`<p>${message}</p>
      <p><a href="/">Back to the start</a></p>`,
  );
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
        <title>${title}</title>
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
}

const STYLE = `
:root {
  color-scheme: light dark;
  --page: #eef1f6;
  --card: #ffffff;
  --ink: #1d2320;
  --soft: #55605a;
  --line: #ccd3df;
  --field: #8b8f86;
  --accent: #2f4b8f;
  --accent-ink: #ffffff;
  --alert: #8f2318;
  --alert-page: #fbeeea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12151c;
    --card: #1a1f2a;
    --ink: #ecefe9;
    --soft: #a9b4ac;
    --line: #343c4c;
    --field: #7d8a82;
    --accent: #a9c0ff;
    --accent-ink: #101a33;
    --alert: #ffb4a6;
    --alert-page: #3a201b;
  }
}
* { box-sizing: border-box; }
html { font: 100%/1.5 ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100svh;
  display: flex;
  flex-direction: column;
  align-items: center;
  justify-content: center;
  padding: 1.5rem 1rem;
  background: var(--page);
  color: var(--ink);
  overflow-wrap: anywhere;
}
main {
  width: 100%;
  max-width: 34rem;
  padding: 2rem 1.75rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 0.875rem;
}
.host { margin: 0 0 0.5rem; font-size: 0.875rem; font-weight: 600; letter-spacing: 0.01em; color: var(--accent); }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; font-weight: 650; text-wrap: balance; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1rem; font-weight: 600; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); font-size: 0.9375rem; }
a { color: var(--accent); }
label { display: block; margin: 1rem 0 0.375rem; font-weight: 600; font-size: 0.9375rem; }
input {
  width: 100%;
  min-height: 2.875rem;
  padding: 0.5rem 0.75rem;
  font: inherit;
  color: inherit;
  background: transparent;
  border: 1px solid var(--field);
  border-radius: 0.5rem;
}
button {
  min-height: 2.875rem;
  padding: 0.5rem 1.25rem;
  font: inherit;
  font-weight: 600;
  border-radius: 0.5rem;
  border: 1px solid var(--accent);
  cursor: pointer;
}
.primary { background: var(--accent); color: var(--accent-ink); }
.secondary { background: transparent; color: var(--accent); }
.link { min-height: 0; padding: 0; border: 0; background: none; color: var(--accent); text-decoration: underline; font-weight: 400; }
.wide { width: 100%; margin-top: 1.5rem; }
.alert { margin: 0 0 1rem; padding: 0.75rem 1rem; border-radius: 0.5rem; color: var(--alert); background: var(--alert-page); }
.person { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; justify-content: space-between; align-items: baseline; margin: 0 0 1rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.5rem; }
.person p { margin: 0; }
.notice { margin: 0 0 1rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.5rem; }
pre { margin: 0 0 1rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.5rem; font: 0.8125rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.row { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.5rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (forced-colors: active) { main, .person, button { border-color: currentColor; } }
.after { margin-top: 1rem; }
`;
