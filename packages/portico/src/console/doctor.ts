import type { AuthorizationServer } from '../authorization-server.ts';
import type { Client } from '../store/client.ts';
import { examineEndpoints, examineExemptions, examineLoginRoute } from './application-checks.ts';
import { check, isHealthy, ok, skipped, type Check, type Finding } from './checks.ts';
import { examineClientDemands } from './client-demand-checks.ts';
import { examineClientKeys, examinePublishedKeys } from './client-key-checks.ts';
import { examineResource } from './connecting-checks.ts';
import { engineExaminations } from './engine-examinations.ts';
import { livingClients } from './every-client.ts';
import { examineRotation } from './key-checks.ts';
import { examineProfile } from './profile-checks.ts';
import { examinePublicAddress } from './public-address.ts';
import {
  examineClients,
  examineHasher,
  examineKeys,
  examineSchema,
  examineStore,
} from './server-checks.ts';
import type { ExaminedApplication } from '../examination.ts';
import type { Subject } from './subject.ts';
import { examineViews } from './view-checks.ts';

/** A client whose previous secret still works after a rotation. */
export interface OpenRotation {
  /** The client's id. */
  readonly client_id: string;
  /** The client's name. */
  readonly client_name: string;
  /** When the server stops accepting the previous secret, in seconds since 1970. */
  readonly previous_secret_expires_at: number;
}

/** The report that `oauth:server:doctor` prints with `--json`. */
export interface DoctorReport {
  /** True if no check failed. Warnings and skipped checks are not failures. */
  readonly healthy: boolean;
  /** The checks, in the order of the examinations. */
  readonly checks: readonly Check[];
  /** The clients whose previous secret still works after a rotation. */
  readonly open_rotations: readonly OpenRotation[];
}

/** Options for the doctor. */
export interface ExaminationOptions {
  /** Set it to true to also send requests to the server's public address. Defaults to false. */
  readonly online?: boolean;
  /** How many seconds to wait for each response from the public address. Defaults to 5. */
  readonly patience?: number;
}

type Examination = (
  subject: Subject,
  online: boolean,
) => Promise<Finding | readonly Finding[]> | Finding | readonly Finding[];

/**
 * The doctor examines the store, then APPLICATION, SERVER and PUBLISHED. The examinations of
 * features run after APPLICATION or SERVER. Those of registered clients are part of `clients` in
 * SERVER.
 */
const APPLICATION: readonly (readonly [part: string, Examination])[] = [
  ['signing key', examineKeys],
  ['key rotation', examineRotation],
  ['sign-in route', examineLoginRoute],
  ['endpoints', examineEndpoints],
  ['csrf_exempt_routes', examineExemptions],
];

const SERVER: typeof APPLICATION = [
  ['views', examineViews],
  ['password hasher', examineHasher],
  [
    'clients',
    async (subject) => [
      await examineClients(subject),
      ...(await examineClientKeys(subject)),
      ...(await examineClientDemands(subject)),
      ...(await examineClientsOfFeatures(subject)),
    ],
  ],
];

const PUBLISHED: typeof APPLICATION = [
  ['resource', examineResource],
  ['profile', examineProfile],
];

async function examineClientsOfFeatures({
  application,
  server,
}: Subject): Promise<readonly Check[]> {
  const found: Check[] = [];
  for (const each of server.examinations.filter(({ of }) => of === 'registered clients')) {
    const findings = (await each.findings?.(application)) ?? [];
    found.push(...findings.map((finding) => ({ part: each.part, ...finding })));
  }
  return found;
}

/** The public function `examine` loads this file and calls this function. */
export async function examine(
  application: ExaminedApplication,
  server: AuthorizationServer,
  { online = false, patience = 5 }: ExaminationOptions = {},
): Promise<DoctorReport> {
  const subject = { application, server };
  const source = server.basePath === '' ? 'public_url' : 'public_url and base_path';
  const checks: Check[] = [
    { part: 'configuration', ...ok(`the issuer is ${server.issuer}, from ${source}`) },
  ];
  const ofStore = [
    ['schema', examineSchema],
    ...(await engineExaminations(application.database)),
  ] as const;
  const ofFeatures = (group: 'application' | 'clients') =>
    server.examinations
      .filter(({ of = 'application' }) => of === group)
      .map((each): (typeof APPLICATION)[number] => [
        each.part,
        () => each.findings?.(application) ?? [],
      ]);
  const ofClients = ofFeatures('clients');
  const examinations = [
    ['store', examineStore],
    ...ofStore,
    ...APPLICATION,
    ...ofFeatures('application'),
    ...SERVER,
    ...ofClients,
    ...PUBLISHED,
  ] as const;
  const needStore = new Set(['clients', ...[...ofClients, ...ofStore].map(([part]) => part)]);
  for (const [part, examination] of examinations) {
    const storeIsAway = !checks.some((each) => each.part === 'store' && each.outcome === 'ok');
    const found =
      needStore.has(part) && storeIsAway
        ? [{ part, ...skipped('not checked: the database cannot be reached') }]
        : await check(server.host.log, part, async () =>
            [await examination(subject, online)].flat(),
          );
    checks.push(...found);
  }
  if (online) {
    checks.push(...(await examinePublicAddress(subject, { patience })));
    const part = 'published client keys';
    checks.push(...(await check(server.host.log, part, () => examinePublishedKeys(server))));
  }
  return { healthy: isHealthy(checks), checks, open_rotations: await openRotations(server) };
}

/** Returns an empty list if the clients cannot be read. The schema check reports this. */
async function openRotations(server: AuthorizationServer): Promise<readonly OpenRotation[]> {
  const now = server.clock();
  const rotating = await livingClients(
    server,
    ({ previousSecretExpiresAt: until }) => until !== null && until > now,
  ).catch((): readonly Client[] => []);
  return rotating.map(({ id, name, previousSecretExpiresAt: until }) => ({
    client_id: id,
    client_name: name,
    previous_secret_expires_at: Math.floor((until ?? 0) / 1000),
  }));
}
