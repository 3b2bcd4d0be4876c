import { html } from 'hono/html';

export function startPage(issuer: string) {
  return page(
    'Notebook',
    html`<p>Notebook shows your notes from Portal, if you allow it.</p>
      ${signInForm('Sign in with Portal')}
      <p class="soft after">
        You will sign in at ${new URL(issuer).host}. Notebook does not see your password.
      </p>`,
  );
}

/** Returns a page about the result of a step, with a link back. */
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

/** HTML in which all inserted values are escaped. */
export type Html = ReturnType<typeof html>;

/** Returns a page of this application. Use `broad` for a page with a lot of content. */
export function page(title: string, content: Html, width: 'narrow' | 'broad' = 'narrow'): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title === 'Notebook' ? title : `${title} · Notebook`}</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <main class="${width}">
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
}
