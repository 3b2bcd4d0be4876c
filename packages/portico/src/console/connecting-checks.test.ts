import { describe, expect, test } from 'vitest';
import type { FetchDocument } from '../examination.ts';
import { failing, ok } from './checks.ts';
import {
  examinePublicResource,
  examineResource,
  howClientsCome,
  howToHaveClients,
} from './connecting-checks.ts';
import type { Subject } from './subject.ts';

const ORIGIN = 'https://portal.example';
const NOW = 1_800_000_000_000;
type Server = Subject['server'];

describe('the ways in which clients register without an operator', () => {
  const open = { says: 'clients register themselves' };
  const documents = { says: 'clients may be documents' };
  const optional = { says: 'a token is optional', tokens: { command: null } };
  const byToken = { says: 'clients need a token', tokens: { command: 'npx portico oauth:t' } };
  const usable = { usesLeft: 1, expiresAt: NOW + 1 };

  const come = (arrivals: readonly object[], tokens: readonly object[] = []) =>
    howClientsCome({
      arrivals,
      initialAccessTokens: { list: async () => tokens },
      clock: () => NOW,
    } as unknown as Server);

  test.each([
    [[], [], null],
    [[], [usable], null],
    [[open], [], open.says],
    [[byToken, documents], [], documents.says],
    [[byToken, optional], [], optional.says],
    [[byToken], [], null],
    [
      [byToken],
      [
        { ...usable, usesLeft: 0 },
        { ...usable, expiresAt: NOW },
      ],
      null,
    ],
    [[byToken], [usable], byToken.says],
  ])('of %j with the tokens %j: %j', async (arrivals, tokens, says) => {
    expect(await come(arrivals, tokens)).toBe(says);
  });

  test('and what an operator can do', () => {
    const create = "run npx portico oauth:client:create '<name>' --redirect=<uri> --scope=<scope>";
    const told = (arrivals: readonly object[]) =>
      howToHaveClients({ arrivals } as unknown as Server);
    expect(told([])).toBe(create);
    expect(told([open, optional])).toBe(create);
    expect(told([open, byToken])).toBe(`${create}, or npx portico oauth:t`);
  });
});

/** An application whose APIs are `audience` and `resources`, and which answers with `answers`. */
function subjectWith(
  answers: Readonly<Record<string, readonly [status: number, document: unknown]>> | null,
  {
    audience = `${ORIGIN}/api`,
    resources = [],
    resourceMetadataUrl = null,
  }: {
    readonly audience?: string;
    readonly resources?: readonly string[];
    readonly resourceMetadataUrl?: string | null;
  } = {},
) {
  const fetched: string[] = [];
  const fetch = async ({ url }: Request) => {
    fetched.push(url);
    const [status, document] = answers?.[new URL(url).pathname] ?? [404, {}];
    return Response.json(document, { status });
  };
  const subject = {
    application: answers === null ? {} : { fetch },
    server: {
      config: { audience },
      resources: resources.map((resource) => ({ resource })),
      resourceMetadataUrl,
      origin: ORIGIN,
      issuer: ORIGIN,
    },
  } as unknown as Subject;
  return { subject, fetched };
}

const PATH = '/.well-known/oauth-protected-resource';
const DOCUMENT = {
  resource: `${ORIGIN}/api`,
  authorization_servers: ['https://other.example', ORIGIN],
  scopes_supported: ['a', 'b'],
};

describe('the metadata of an API', () => {
  test('is compared with the API, and its scopes are listed', async () => {
    const { subject, fetched } = subjectWith({ [`${PATH}/api`]: [200, DOCUMENT] });
    expect(await examineResource(subject)).toEqual([
      ok(`${ORIGIN}${PATH}/api returns the metadata of ${ORIGIN}/api (scopes: a b)`),
    ]);
    expect(fetched).toEqual([`${ORIGIN}${PATH}/api`]);
    const { scopes_supported: _, ...without } = DOCUMENT;
    const bare = subjectWith({ [`${PATH}/api`]: [200, without] });
    expect(await examineResource(bare.subject)).toEqual([
      ok(`${ORIGIN}${PATH}/api returns the metadata of ${ORIGIN}/api (scopes: )`),
    ]);
  });

  test('is examined once for each API at the origin of the server', async () => {
    const other = { ...DOCUMENT, resource: `${ORIGIN}/` };
    const { subject, fetched } = subjectWith(
      { [`${PATH}/api`]: [200, DOCUMENT], [PATH]: [200, other] },
      {
        resources: [`${ORIGIN}/api`, `${ORIGIN}/`, 'https://other.example/', 'urn:an-api'],
      },
    );
    const found = await examineResource(subject);
    expect(found.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    expect(fetched).toEqual([`${ORIGIN}${PATH}/api`, `${ORIGIN}${PATH}`]);
  });

  test('is not examined without a function that answers requests', async () => {
    const { subject } = subjectWith(null);
    expect(await examineResource(subject)).toEqual([]);
  });

  test('may be missing unless the server publishes it', async () => {
    const missing = (options: object) => examineResource(subjectWith({}, options).subject);
    expect(await missing({})).toEqual([]);
    for (const options of [
      { resourceMetadataUrl: `${ORIGIN}${PATH}/api` },
      { resources: [`${ORIGIN}/api`] },
    ])
      expect(await missing(options)).toEqual([
        failing(
          `${ORIGIN}${PATH}/api returns 404 instead of the metadata of ${ORIGIN}/api, which ` +
            'clients use to find this server',
          'find out which route or hook of the application sends this response',
        ),
      ]);
  });

  test.each<[status: number, document: object]>([
    [200, { ...DOCUMENT, resource: `${ORIGIN}/other` }],
    [200, { ...DOCUMENT, authorization_servers: ['https://other.example'] }],
    [200, { resource: DOCUMENT.resource }],
    [500, DOCUMENT],
    [201, DOCUMENT],
  ])('is wrong: %i %j', async (status, document) => {
    const { subject } = subjectWith({ [`${PATH}/api`]: [status, document] });
    expect(await examineResource(subject)).toMatchObject([
      {
        outcome: 'failing',
        detail: expect.stringContaining(`${PATH}/api returns ${status} instead of`) as string,
      },
    ]);
  });
});

describe('the metadata of an API at the public address', () => {
  const fault = failing('it cannot be fetched', 'start it');
  const answering =
    (document: object | null): FetchDocument =>
    async () =>
      document === null ? { fault } : { status: 200, document, headers: {}, from: null };
  const mounting = expect.stringMatching(
    /^mount every endpoint of the application\. .*mcpServerOf\(application\)\)\. .*proxy forward/,
  ) as string;
  const served = { [`${PATH}/api`]: [200, {}] } as const;

  test.each([
    ['that describes it', DOCUMENT, { outcome: 'ok', remedy: null }, 'returns'],
    [
      'of another API',
      { ...DOCUMENT, resource: 'x' },
      { outcome: 'failing', remedy: mounting },
      'does not return',
    ],
  ])('is compared: a document %s', async (_, document, found, says) => {
    const { subject } = subjectWith({ ...served });
    expect(await examinePublicResource(subject, answering(document))).toEqual([
      { ...found, detail: `${ORIGIN}${PATH}/api ${says} the metadata of ${ORIGIN}/api` },
    ]);
  });

  test('cannot be fetched', async () => {
    const { subject } = subjectWith({ ...served });
    expect(await examinePublicResource(subject, answering(null))).toEqual([
      { outcome: 'failing', detail: fault.detail, remedy: mounting },
    ]);
  });

  test.each([
    ['does not answer requests', null, {}],
    ['does not serve it', {}, {}],
    ['fails to serve it', { [`${PATH}/api`]: [500, {}] }, {}],
    ['has only an API elsewhere', { [PATH]: [200, {}] }, { audience: 'https://other.example/' }],
  ] as const)('is not fetched if this process %s', async (_, answers, options) => {
    const { subject } = subjectWith(answers, options);
    expect(await examinePublicResource(subject, answering(DOCUMENT))).toEqual([]);
  });
});
