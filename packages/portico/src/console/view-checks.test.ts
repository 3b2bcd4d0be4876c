import { expect, test } from 'vitest';
import { failing, ok, warning } from './checks.ts';
import type { Subject } from './subject.ts';
import { examineViews } from './view-checks.ts';

type Data = Readonly<Record<string, unknown>>;

/** A consent page with all that its form needs. */
const form = ({ requestId, csrfToken, action, unverified, clientName }: Data) =>
  `<form action="${String(action)}">${String(requestId)} ${String(csrfToken)} decision ` +
  (unverified === null ? '' : String(clientName));

interface Options {
  readonly consent?: (data: Data) => string | Promise<string>;
  readonly error?: (data: Data) => string | Promise<string>;
  readonly applications?: (data: Data) => string | Promise<string>;
  readonly problems?: readonly object[] | null;
  readonly basePath?: string;
  readonly admitsUnverified?: boolean;
}

async function examined({
  consent = form,
  error = () => '',
  applications = () => '',
  problems = null,
  basePath = '',
  admitsUnverified = false,
}: Options = {}) {
  const rendered: [view: string, data: Data][] = [];
  const views = {
    'oauth/consent': consent,
    'oauth/error': error,
    'oauth/applications': applications,
  };
  const render = async (view: keyof typeof views, data: Data) => {
    rendered.push([view, data]);
    return views[view](data);
  };
  const subject = {
    application: problems === null ? {} : { views: { problems: async () => problems } },
    server: {
      host: { render },
      config: { name: 'The portal' },
      basePath,
      mountPath: basePath,
      admitsUnverified,
    },
  } as unknown as Subject;
  return { finding: await examineViews(subject), rendered };
}

const found = async (options?: Options) => (await examined(options)).finding;
const OK = ok('the views consent, error and applications were rendered with sample data');
const broken = (detail: string) =>
  failing(
    detail,
    "fix these views, or copy Portico's own views again. Then restart the application",
  );
const fail = (message: string) => () => {
  throw new Error(message);
};

test('working views are rendered with the data of real pages', async () => {
  const { finding, rendered } = await examined({ basePath: '/auth', problems: [] });
  expect(finding).toEqual(OK);
  expect(rendered.map(([view]) => view)).toEqual([
    'oauth/consent',
    'oauth/error',
    'oauth/applications',
  ]);
  const [[, consent], [, error], [, applications]] = rendered as [
    [string, Data],
    [string, Data],
    [string, Data],
  ];
  for (const page of [consent, error, applications])
    expect(page).toMatchObject({
      serverName: 'The portal',
      nonce: expect.stringMatching(/./) as string,
    });
  expect(consent).toMatchObject({
    clientName: 'An application',
    person: { name: 'Ada Lovelace', email: 'ada@example.com' },
    scopes: [{ name: 'openid', label: 'Confirm who you are', description: null }],
    newGroups: [{ group: 'identity', title: 'Who you are' }],
    grantedScopes: [],
    grantedGroups: [],
    addableGroups: [],
    namedLikeServer: false,
    hasOptional: false,
    lasts: { renews: true, time: '30 days' },
    redirectHost: 'client.example',
    applicationsPath: '/auth/oauth/applications',
    action: '/auth/oauth/authorize',
  });
  expect(error).toMatchObject({ title: 'A title', message: 'A text', status: 400 });
  expect(applications).toMatchObject({
    applications: [
      {
        clientId: 'id',
        name: 'An application',
        givenBy: 'https://idp.example',
        since: { iso: '2026-01-01T00:00:00.000Z', text: 'January 1, 2026' },
        answersTo: [{ kind: 'site', text: 'client.example' }],
        csrfToken: consent['csrfToken'],
      },
    ],
    removed: true,
    removedAll: false,
    confirming: false,
    action: '/auth/oauth/applications',
    removeAllPath: '/auth/oauth/applications?remove=all',
    csrfToken: consent['csrfToken'],
  });
});

test('views that cannot be rendered are reported, those with the same problem together', async () => {
  expect(await found({ error: fail('a') })).toEqual(broken('oauth/error cannot be rendered: a'));
  expect(await found({ error: fail('a'), consent: fail('b'), applications: fail('a') })).toEqual(
    broken(
      'oauth/consent cannot be rendered: b; oauth/error, oauth/applications cannot be rendered: a',
    ),
  );
  expect(await found({ applications: () => Promise.reject('a text') })).toEqual(
    broken('oauth/applications cannot be rendered: a text'),
  );
});

test('a form without a required field is reported', async () => {
  const without =
    (left: string, shown = form) =>
    (data: Data) =>
      shown(data).replaceAll(left === 'decision' ? left : String(data[left]), '');
  const says = (names: string) =>
    failing(
      `the form in the view oauth/consent does not have ${names}, so Portico cannot accept its answers`,
      "copy these fields from Portico's own view",
    );
  expect(await found({ consent: without('requestId') })).toEqual(says('request_id'));
  expect(await found({ consent: without('csrfToken') })).toEqual(says('csrf_token'));
  expect(await found({ consent: without('decision') })).toEqual(says('decision'));
  expect(await found({ consent: without('decision', without('requestId')) })).toEqual(
    says('request_id, decision'),
  );
});

test('a form that ignores base_path is reported', async () => {
  const fixed = (data: Data) => form({ ...data, action: '/oauth/authorize' });
  expect(await found({ consent: fixed })).toEqual(OK);
  expect(await found({ consent: fixed, basePath: '/auth' })).toEqual(
    failing(
      'the form in the view oauth/consent is sent to /oauth/authorize instead of ' +
        '/auth/oauth/authorize',
      "use the view's action variable, as Portico's own view does",
    ),
  );
});

test('a page that hides who asks is reported if clients can be unverified', async () => {
  const hiding = (data: Data) => form({ ...data, clientName: '' });
  const says = failing(
    'the view oauth/consent does not show the name of an unverified client',
    "show unverified.asks or clientName, as Portico's own view does",
  );
  expect(await found({ consent: hiding })).toEqual(OK);
  expect(await found({ consent: hiding, admitsUnverified: true })).toEqual(says);
  expect(await found({ admitsUnverified: true })).toEqual(OK);
  const { rendered } = await examined({ admitsUnverified: true });
  expect(rendered.at(-1)?.[1]).toMatchObject({
    person: { name: 'Ada Lovelace' },
    clientName: 'unverified.example (not verified)',
    unverified: {
      asks: 'unverified.example',
      isHost: true,
      calledName: null,
      answersTo: { kind: 'computer', text: 'a program on this computer' },
    },
  });
  const brokenLines = (data: Data) => form(data).replaceAll('.example', '<wbr>.exa<wbr>mple');
  expect(await found({ consent: brokenLines, admitsUnverified: true })).toEqual(OK);
});

test('other views that cannot be compiled are a warning', async () => {
  const problems = [
    { file: 'a.eta', line: 3, reason: 'it ends' },
    { file: 'b.eta', line: null, reason: 'it is empty' },
  ];
  expect(await found({ problems })).toEqual(
    warning(
      'some views cannot be compiled: a.eta:3: it ends; b.eta:?: it is empty',
      'fix these views, then restart the application; until then, the built-in pages still work',
    ),
  );
});
