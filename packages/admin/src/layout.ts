import type { BrandingView } from 'portico';
import { shownPerson, getTokens, type Visitor } from 'portico/extension';
import type { AdministrationPageName } from './table.ts';
import type { AdministrationParts } from './page.ts';
import type { PageLinks } from './links.ts';
import { markup, Html, type HtmlContent } from './html.ts';
import { STYLES } from './styles.ts';

export interface Framed {
  readonly title: string;
  readonly body: Html;
  /** The CSP nonce of the page's styles. */
  readonly nonce: string;
  readonly links: PageLinks;
  readonly current: AdministrationPageName;
  readonly visitor: Visitor;
  readonly parts: AdministrationParts;
}

/**
 * Returns the complete page: the name of the signed-in user, links to the other pages, and the
 * content.
 */
export function layout(framed: Framed): string {
  const { title, body, nonce, visitor, parts } = framed;
  const { branding, server } = parts;
  const { name: serverName } = server.config;
  const { name, email } = shownPerson(visitor.user);
  return markup`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta name="robots" content="noindex">
    <title>${title} · ${serverName}</title>
    <style nonce="${nonce}">${STYLES}${new Html(branding?.styles ?? '')}</style>
  </head>
  <body>
    <a class="skip" href="#page">Skip to the page</a>
    <header>
      <p class="host">${brand(branding, serverName)}</p>
      <p class="soft">Signed in as <strong><bdi>${name ?? email ?? 'this account'}</bdi></strong></p>
      <nav aria-label="Administration"><ul role="list">${navigation(framed)}</ul></nav>
    </header>
    <main id="page" tabindex="-1">
      <h1>${title}</h1>
      ${body}
    </main>
    <footer class="soft"><a href="${parts.home}">Back to ${serverName}</a></footer>
  </body>
</html>
`.html;
}

/**
 * Returns the logo and the server's name. If the logo already shows the name, uses the name only as
 * the image's alternative text.
 */
function brand(branding: BrandingView | null, name: string): HtmlContent {
  const logo = branding?.logo ?? null;
  if (logo === null) return markup`${name}: administration`;
  const dark =
    logo.dark === null
      ? null
      : markup`<source srcset="${logo.dark}" media="(prefers-color-scheme: dark)">`;
  const alternative = logo.showsName ? name : '';
  const text = logo.showsName
    ? markup`<span>administration</span>`
    : markup`<span>${name}: administration</span>`;
  return markup`<picture>${dark}<img class="brand" src="${logo.src}" alt="${alternative}"></picture>${text}`;
}

type Entry = readonly [text: string, href: string, ...pages: readonly AdministrationPageName[]];

function navigation({ links, current, parts }: Framed): HtmlContent {
  const entries: readonly Entry[] = [
    ['Overview', links.overview, 'oauth_server_admin'],
    ['Applications', links.clients, 'oauth_server_admin_clients', 'oauth_server_admin_client'],
    ['Who holds access', links.access, 'oauth_server_admin_access', 'oauth_server_admin_person'],
    ['Open rotations', links.rotations, 'oauth_server_admin_rotations'],
    ['Signing keys', links.keys, 'oauth_server_admin_keys'],
    ...(getTokens(parts.server.arrivals) === null
      ? []
      : [['Registration', links.registration, 'oauth_server_admin_registration'] as const]),
    ['Audit', links.audit, 'oauth_server_admin_audit'],
    ['Doctor', links.doctor, 'oauth_server_admin_doctor'],
  ];
  return entries.map(([text, href, ...pages]) => {
    const here = pages.includes(current) ? markup` aria-current="page"` : null;
    return markup`<li><a href="${href}"${here}>${text}</a></li>`;
  });
}
