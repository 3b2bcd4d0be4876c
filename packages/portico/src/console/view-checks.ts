import { ENGLISH_WORDS } from '../words/words.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import type { ApplicationsView } from '../replies/applications-view.ts';
import type { ConsentView } from '../authorization/consent-page.ts';
import type { Unverified } from '../clients/who-asks.ts';
import { randomToken } from '../crypto.ts';
import { AUTHORIZE_PATH, browserPaths } from '../paths.ts';
import { failing, ok, warning, type Finding } from './checks.ts';
import type { Subject } from './subject.ts';

/**
 * Renders the pages with sample data. A view of the host may be broken, or its form may not have
 * all required fields.
 */
export async function examineViews({ application, server }: Subject): Promise<Finding> {
  const [requestId, csrfToken] = [randomToken(), randomToken()];
  const page = { ...ENGLISH_WORDS, serverName: server.config.name, nonce: randomToken() };
  const person = { name: 'Ada Lovelace', email: 'ada@example.com' };
  const scopes = [{ name: 'openid', label: 'Confirm who you are', description: null }];
  const groups = [{ group: 'identity', title: 'Who you are', scopes }];
  const { authorize, home } = browserPaths(server);
  const applications = `${server.basePath}/oauth/applications`;
  const since = { iso: '2026-01-01T00:00:00.000Z', text: 'January 1, 2026' };
  const consentData: Omit<ConsentView, 'serverName'> = {
    clientName: 'An application',
    unverified: null,
    site: null,
    logo: null,
    namedLikeServer: false,
    person,
    scopes,
    newScopes: scopes,
    grantedScopes: [],
    newGroups: groups,
    grantedGroups: [],
    addableGroups: [],
    hasOptional: false,
    lasts: { renews: true, time: '30 days' },
    applicationsPath: applications,
    redirectHost: 'client.example',
    requestId,
    csrfToken,
    action: authorize,
  };
  const applicationsData: Omit<ApplicationsView, 'serverName'> = {
    person,
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
        scopes,
        groups,
        csrfToken,
      },
    ],
    removed: true,
    removedAll: false,
    action: applications,
    removeAllPath: `${applications}?remove=all`,
    confirming: false,
    csrfToken,
    home,
  };
  const pages: Readonly<Record<string, object>> = {
    'oauth/consent': consentData,
    'oauth/error': { title: 'A title', message: 'A text', status: 400 },
    'oauth/applications': applicationsData,
  };
  let consent = '';
  /**
   * The views, by problem. Several views can have the same problem, for example a broken layout.
   */
  const broken = new Map<string, string[]>();
  for (const [view, data] of Object.entries(pages)) {
    try {
      const html = await server.host.render(view, { ...page, ...data });
      if (view === 'oauth/consent') consent = html;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      broken.set(message, [...(broken.get(message) ?? []), view]);
    }
  }
  if (broken.size > 0) {
    return failing(
      [...broken]
        .map(([message, views]) => `${views.join(', ')} cannot be shown: ${message}`)
        .join('; '),
      "fix these views, or copy Portico's own views again; then restart the application",
    );
  }
  const lacking = [
    ...(consent.includes(requestId) ? [] : ['request_id']),
    ...(consent.includes(csrfToken) ? [] : ['csrf_token']),
    ...(consent.includes('decision') ? [] : ['decision']),
  ];
  if (lacking.length > 0) {
    return failing(
      `the form in oauth/consent does not have ${lacking.join(', ')}, so no answer can be accepted`,
      "copy these fields from Portico's own view",
    );
  }
  if (server.admitsUnverified && !(await saysWhoAsks(server, { ...page, ...consentData }))) {
    return failing(
      "oauth/consent does not show the client's name when no operator has registered the client",
      "show unverified.asks or clientName, as Portico's own view does",
    );
  }
  if (server.basePath !== '' && consent.includes(`action="${AUTHORIZE_PATH}"`)) {
    return failing(
      `the form in oauth/consent is sent to ${AUTHORIZE_PATH} instead of ${authorize}`,
      "use the view's action variable, as Portico's own view does",
    );
  }
  const others = (await application.views?.problems()) ?? [];
  if (others.length > 0) {
    return warning(
      'cannot be compiled: ' +
        others.map(({ file, line, reason }) => `${file}:${line ?? '?'}: ${reason}`).join('; '),
      "fix these views, then restart the application; the authorization server's own pages work",
    );
  }
  return ok('consent, error and applications were rendered with sample data');
}

/** Whether the consent page contains the hostname of an unverified client. */
async function saysWhoAsks({ host }: AuthorizationServer, data: object): Promise<boolean> {
  const asks = 'somebody.example';
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
