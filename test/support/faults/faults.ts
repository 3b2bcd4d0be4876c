import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { openDatabase } from 'portico';
import { PROXY_ADDRESS, type OperatedInstallation } from './installation.ts';
import { FROM, type Load } from './load.ts';

/** A fault: what breaks, what happens in each later round of load, and how you can see it. */
export interface Fault {
  /** The section of docs/troubleshooting.md that describes it. */
  readonly section: string;
  /** The store that the fault needs. */
  readonly store: 'SQLite' | 'PostgreSQL' | 'any';
  inject(installation: OperatedInstallation, load: Load): Promise<void>;
  /** What happens in addition in each round after the fault. */
  round?(load: Load): Promise<void>;
  /** The doctor's parts that are no longer ok. */
  readonly doctor: readonly string[];
  /**
   * The statuses in each later round: for the refresh of the phone, for the sign-in to the shop,
   * and for the API call.
   */
  readonly statuses: readonly [number, number, number];
  /** The check of /health/ready that fails, or null if the process is ready. */
  readonly ready: 'store' | 'key' | null;
  /** The audit events that only this fault causes. */
  readonly audited: readonly string[];
  /** The alerts that fire. */
  readonly alerts: readonly string[];
  /** Returns the context of the log line, in addition to its message. */
  line(installation: OperatedInstallation): Readonly<Record<string, unknown>>;
}

/**
 * How many times per round an attacker guesses, or a client that ignores `invalid_grant` retries.
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
    // Limits every file of the process to one byte, which has the same effect as a full disk.
    inject: async ({ process: { process: serving } }) =>
      void (await promisify(execFile)('prlimit', ['--pid', String(serving.pid), '--fsize=1'])),
    // The doctor runs in a separate process, whose files are not limited.
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
