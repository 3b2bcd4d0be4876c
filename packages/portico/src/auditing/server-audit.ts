import type { Log } from '@portico/sql';
import { createAudit, type Audit } from './audit.ts';
import type { AuditStore } from './keeping.ts';
import type { AuditTable, KeptAudit } from './kept-audit.ts';
import { runFrom, type RunFrom } from './origin.ts';
import { createSignInAudit, type SignInAudit } from './sign-ins.ts';

/** Accepts audit events, and lists the stored ones. */
export type ServerAudit = Audit & KeptAudit & { readonly signIns: SignInAudit | null };

export interface ServerAuditOptions {
  /** Whether to store events. */
  readonly keeps: boolean;
  /** Where to stream events, or null. */
  readonly stream: string | null;
  /** After how many days stored events are removed. Null for never. */
  readonly retentionDays: number | null;
  /** Loaded on first use. */
  readonly table: () => Promise<AuditStore & AuditTable>;
  readonly host: { readonly audit: Audit; readonly log: Log };
  /** The client address of a request, from the host. */
  readonly addressOf: (request: Request) => string | null;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

export interface AuditParts {
  readonly audit: ServerAudit;
  /** Wraps the code that answers a request, if events are recorded. Otherwise null. */
  readonly runFrom: RunFrom | null;
  /** Removes at most `limit` events that are too old. Null if events are never removed. */
  readonly removeOld: ((limit: number) => Promise<number>) | null;
}

const A_DAY = 86_400_000;

/** Sets up what happens to audit events. If nothing is recorded, the code for it is not loaded. */
export function createServerAudit(options: ServerAuditOptions): AuditParts {
  const { keeps, stream, retentionDays, table, host, clock } = options;
  const isRecording = keeps || stream !== null;
  const recording = once(() => startRecording(options));
  const record: Audit = async (event) => (await recording())(event);
  const kept = once(async () => (await import('./kept-audit.ts')).createKeptAudit(await table()));
  const reading: KeptAudit = {
    list: async (filter, page) => (await kept()).list(filter, page),
    pseudonymise: async (person, pseudonym, batch) => (await kept()).pseudonymise(person, pseudonym, batch),
  };
  return {
    audit: Object.assign(createAudit(host, isRecording ? record : null), reading, {
      signIns: isRecording
        ? createSignInAudit({ record: createAudit({ audit: record, log: host.log }), clock })
        : null,
    }),
    runFrom: isRecording ? runFrom : null,
    removeOld:
      retentionDays === null
        ? null
        : async (limit) => {
            const { idAt } = await import('./kept-audit.ts');
            return (await table()).removeBefore(idAt(clock() - retentionDays * A_DAY), limit);
          },
  };
}

async function startRecording({ keeps, stream, table, host, addressOf, clock }: ServerAuditOptions) {
  const { createRecording } = await import('./recording.ts');
  const { log } = host;
  return createRecording({
    keep: keeps ? (await import('./keeping.ts')).createKeeping({ store: await table(), log }) : null,
    stream: stream === null ? null : (await import('./stream.ts')).createLineStream(stream),
    addressOf,
    clock,
    log,
  });
}

/** After a failed start, the next call starts it again. */
function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  return () => {
    if (started === null) {
      started = start();
      started.catch(() => (started = null));
    }
    return started;
  };
}
