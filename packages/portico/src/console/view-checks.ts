import { ENGLISH_WORDS } from '../pages/words.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import type { ApplicationsView } from '../endpoints/replies/applications-view.ts';
import type { ConsentView } from '../authorization/consent-page.ts';
import type { Unverified } from '../clients/who-asks.ts';
import { randomToken } from '../crypto.ts';
import { AUTHORIZE_PATH, browserPaths } from '../paths.ts';
import { failing, ok, warning, type Finding } from './checks.ts';
import type { Subject } from './subject.ts';

/** A rendered page must contain these random values. */
interface Secrets {
  readonly requestId: string;
  readonly csrfToken: string;
}

/**
 * Renders the pages with sample data. Finds broken views of the host, and forms without required
 * fields.
 */
export async function examineViews({ application, server }: Subject): Promise<Finding> {
  const secrets = { requestId: randomToken(), csrfToken: randomToken() };
  const page = { ...ENGLISH_WORDS, serverName: server.config.name, nonce: randomToken() };
  const consentData = { ...page, ...sampleConsent(server, secrets) };
  const { html: consent, broken } = await renderAll(server, {
    'oauth/consent': consentData,
    'oauth/error': { ...page, title: 'A title', message: 'A text', status: 400 },
    'oauth/applications': { ...page, ...sampleApplications(server, secrets) },
  });
  if (broken !== null) {
    return failing(
      broken,
      "fix these views, or copy Portico's own views again. Then restart the application",
    );
  }
  const problem = problemOfForm(server, consent, secrets);
  if (problem !== null) return problem;
  if (server.admitsUnverified && !(await saysWhoAsks(server, consentData))) {
    return failing(
      'the view oauth/consent does not show the name of an unverified client',
      "show unverified.asks or clientName, as Portico's own view does",
    );
  }
  const others = (await application.views?.problems()) ?? [];
  if (others.length > 0) {
    return warning(
      'some views cannot be compiled: ' +
        others.map(({ file, line, reason }) => `${file}:${line ?? '?'}: ${reason}`).join('; '),
      'fix these views, then restart the application; until then, the built-in pages still work',
    );
  }
  return ok('the views consent, error and applications were rendered with sample data');
}

const PERSON = { name: 'Ada Lovelace', email: 'ada@example.com' };
const SCOPES = [{ name: 'openid', label: 'Confirm who you are', description: null }];
const GROUPS = [{ group: 'identity', title: 'Who you are', scopes: SCOPES }];

function sampleConsent(
  server: AuthorizationServer,
  { requestId, csrfToken }: Secrets,
): Omit<ConsentView, 'serverName'> {
  return {
    clientName: 'An application',
    unverified: null,
    site: null,
    logo: null,
    namedLikeServer: false,
    person: PERSON,
    scopes: SCOPES,
    newScopes: SCOPES,
    grantedScopes: [],
    newGroups: GROUPS,
    grantedGroups: [],
    addableGroups: [],
    hasOptional: false,
    lasts: { renews: true, time: '30 days' },
    applicationsPath: pathOfApplications(server),
    redirectHost: 'client.example',
    requestId,
    csrfToken,
    action: browserPaths(server).authorize,
  };
}

function sampleApplications(
  server: AuthorizationServer,
  { csrfToken }: Secrets,
): Omit<ApplicationsView, 'serverName'> {
  const since = { iso: '2026-01-01T00:00:00.000Z', text: 'January 1, 2026' };
  return {
    person: PERSON,
    applications: [
      {
        clientId: 'id',
        name: 'An application',
        unverified: null,
        site: null,
        logo: null,
        givenBy: 'https://idp.example',
        since,
        lastActive: since,
        answersTo: [{ kind: 'site', text: 'client.example' }],
        scopes: SCOPES,
        groups: GROUPS,
        csrfToken,
      },
    ],
    removed: true,
    removedAll: false,
    action: pathOfApplications(server),
    removeAllPath: `${pathOfApplications(server)}?remove=all`,
    confirming: false,
    csrfToken,
    home: browserPaths(server).home,
  };
}

function pathOfApplications({ basePath }: AuthorizationServer): string {
  return `${basePath}/oauth/applications`;
}

/**
 * Renders these views. Returns the consent page (empty if it is broken), and a text about broken
 * views, or null. Views with the same problem, for example a broken layout, are listed together.
 */
async function renderAll(
  { host }: AuthorizationServer,
  pages: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<{ readonly html: string; readonly broken: string | null }> {
  let html = '';
  const broken = new Map<string, string[]>();
  for (const [view, data] of Object.entries(pages)) {
    try {
      const rendered = await host.render(view, data);
      if (view === 'oauth/consent') html = rendered;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      broken.set(message, [...(broken.get(message) ?? []), view]);
    }
  }
  const named = [...broken].map(
    ([message, views]) => `${views.join(', ')} cannot be rendered: ${message}`,
  );
  return { html, broken: named.length === 0 ? null : named.join('; ') };
}

/** Returns why the form on the consent page does not work, or null. */
function problemOfForm(
  server: AuthorizationServer,
  consent: string,
  { requestId, csrfToken }: Secrets,
): Finding | null {
  const fields = { request_id: requestId, csrf_token: csrfToken, decision: 'decision' };
  const lacking = Object.entries(fields).filter(([, text]) => !consent.includes(text));
  if (lacking.length > 0) {
    const names = lacking.map(([name]) => name).join(', ');
    return failing(
      `the form in the view oauth/consent does not have ${names}, so Portico cannot accept its ` +
        'answers',
      "copy these fields from Portico's own view",
    );
  }
  if (server.basePath !== '' && consent.includes(`action="${AUTHORIZE_PATH}"`)) {
    const { authorize } = browserPaths(server);
    return failing(
      `the form in the view oauth/consent is sent to ${AUTHORIZE_PATH} instead of ${authorize}`,
      "use the view's action variable, as Portico's own view does",
    );
  }
  return null;
}

/** Returns true if the consent page shows the hostname of an unverified client. */
async function saysWhoAsks({ host }: AuthorizationServer, data: object): Promise<boolean> {
  const asks = 'unverified.example';
  const unverified: Unverified = {
    asks,
    isHost: true,
    calledName: null,
    answersTo: { kind: 'computer', text: 'a program on this computer' },
  };
  const html = await host.render('oauth/consent', {
    ...data,
    clientName: `${asks} (not verified)`,
    unverified,
  });
  return html.replaceAll('<wbr>', '').includes(asks);
}
