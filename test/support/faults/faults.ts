import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { openDatabase } from 'portico';
import { PROXY_ADDRESS, type OperatedInstallation } from './installation.ts';
import { FROM, type Load } from './load.ts';

/** What breaks, what happens in each later round of load, and how it is seen. */
export interface Fault {
  /** The section of docs/troubleshooting.md that names it. */
  readonly section: string;
  /** The store that it needs. */
  readonly store: 'SQLite' | 'PostgreSQL' | 'any';
  inject(installation: OperatedInstallation, load: Load): Promise<void>;
  /** What else happens in each round from then on. */
  round?(load: Load): Promise<void>;
  /** The doctor's parts that are no longer ok. */
  readonly doctor: readonly string[];
  /**
   * The answers of each later round: the refresh of the phone, the sign-in to the shop, the API
   * call.
   */
  readonly statuses: readonly [number, number, number];
  /** The failing check of /health/ready; null if the process is ready. */
  readonly ready: 'store' | 'key' | null;
  /** Audit events that only this fault causes. */
  readonly audited: readonly string[];
  /** The alerts that fire. */
  readonly alerts: readonly string[];
  /** The context of the log line, besides its message. */
  line(installation: OperatedInstallation): Readonly<Record<string, unknown>>;
}

/**
 * How often an attacker guesses in each round, or a client that does not understand `invalid_grant`
 * retries.
 */
const TRIES = 20;

export const FAULTS = {
  'key directory': {
    section: 'signing-keys-are-gone',
    store: 'any',
    inject: async ({ keyDirectory }) => rename(keyDirectory, `${keyDirectory}-elsewhere`),
    doctor: ['signing key', 'public key set', 'readiness'],
    statuses: [503, 503, 200],
    ready: 'key',
    audited: [],
    alerts: ['PorticoSigningKeyMissing', 'PorticoUnavailable'],
    line: () => ({ level: 'error', endpoint: 'oauth_server_authorize' }),
  },
  'full disk': {
    section: 'the-disk-is-full',
    store: 'SQLite',
    // No file of the process can grow beyond a byte, as with a full disk.
    inject: async ({ process: { process: serving } }) =>
      void (await promisify(execFile)('prlimit', ['--pid', String(serving.pid), '--fsize=1'])),
    // It runs in its own process, whose files may grow.
    doctor: ['readiness'],
    statuses: [503, 503, 200],
    ready: 'store',
    audited: [],
    alerts: ['PorticoUnavailable', 'PorticoStoreFails'],
    line: () => ({ level: 'error', endpoint: 'oauth_server_token' }),
  },
  proxy: {
    section: 'everybody-has-the-address-of-the-proxy',
    store: 'any',
    inject: async ({ proxy }) => void (proxy.appends = false),
    async round(load) {
      for (let tried = 0; tried < TRIES; tried += 1) await load.guess();
    },
    doctor: ['proxies'],
    statuses: [200, 200, 200],
    ready: null,
    audited: ['client_authentication_slowed'],
    alerts: ['PorticoThrottled'],
    line: () => ({ error: 'too_many_failures', address: PROXY_ADDRESS }),
  },
  loop: {
    section: 'a-client-repeats-a-request-that-is-refused',
    store: 'any',
    inject: async (_, load) => void (await load.refresh(load.deadToken)),
    async round(load) {
      for (let tried = 0; tried < TRIES; tried += 1) await load.refresh(load.deadToken);
    },
    doctor: [],
    statuses: [200, 200, 200],
    ready: null,
    audited: [],
    alerts: ['PorticoRefusals'],
    line: ({ clients }) => ({
      error: 'invalid_grant',
      clientId: clients.phone.id,
      address: FROM.phone,
    }),
  },
  replay: {
    section: 'a-code-or-refresh-token-was-used-twice',
    store: 'any',
    inject: async (_, load) => void (await load.refresh(load.spent[0] ?? '')),
    doctor: [],
    statuses: [400, 200, 401],
    ready: null,
    audited: ['refresh_token_replayed', 'family_revoked'],
    alerts: ['PorticoReplay'],
    line: ({ clients }) => ({
      error: 'invalid_grant',
      clientId: clients.phone.id,
      address: FROM.phone,
    }),
  },
  'read-only': {
    section: 'the-database-takes-no-writes',
    store: 'PostgreSQL',
    async inject({ databaseUrl }) {
      const database = openDatabase(databaseUrl, { directory: '/' });
      try {
        const name = new URL(databaseUrl).pathname.slice(1);
        await database.execute(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
        await database.execute(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ? AND pid <> pg_backend_pid()',
          [name],
        );
      } finally {
        await database.close();
      }
    },
    doctor: ['store', 'replication', 'readiness'],
    statuses: [503, 503, 200],
    ready: 'store',
    audited: [],
    alerts: ['PorticoUnavailable', 'PorticoStoreFails'],
    line: () => ({ level: 'error' }),
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;
