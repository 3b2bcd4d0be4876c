import { OutOfRangeError } from '@portico/sql';
import type {
  AuditFilter,
  AuditPage,
  AuditPageRequest,
  AuditRecord,
  KeptAudit,
} from '../../auditing/kept-audit.ts';
import type { PersonReference } from '../../person.ts';

/** A search condition with an index in the table. */
export type Axis =
  | { readonly type: string }
  | { readonly clientId: string }
  | { readonly authorization: string }
  | { readonly person: PersonReference };

/** From `from` (inclusive) to `before` (exclusive). */
export interface IdRange {
  readonly from: string;
  readonly before: string;
}

/** The fields that a search compares with its conditions. */
export type RecordKey = Pick<AuditRecord, 'id' | 'type' | 'clientId' | 'authorization' | 'person'>;

/** The table of audit records, newest first. */
export interface AuditTable {
  newest(axis: Axis | null, range: IdRange, limit: number): Promise<readonly AuditRecord[]>;
  keys(axis: Axis, range: IdRange, limit: number): Promise<readonly RecordKey[]>;
  /**
   * Returns the id of the record at position `depth` in the range. The newest record has position
   * 1. Returns null if the range has fewer records.
   */
  reach(axis: Axis, range: IdRange, depth: number): Promise<string | null>;
  read(ids: readonly string[]): Promise<readonly AuditRecord[]>;
  replacePerson(person: PersonReference, pseudonym: string, limit: number): Promise<number>;
  /** Deletes at most `limit` records with ids below `id`, oldest first. Returns their number. */
  removeBefore(id: string, limit: number): Promise<number>;
}

const DEFAULT_LIMIT = 50;
const LARGEST_LIMIT = 1000;
const DEFAULT_BATCH = 500;

/** How many index entries each step reads to fill a page. Often, the first step finds enough. */
const STEPS = [200, 1000, 1000] as const;
/** How many index entries are counted to find the rarest condition. */
const DEPTH = 1000;

export class StoredAudit implements KeptAudit {
  readonly #table: AuditTable;

  constructor(table: AuditTable) {
    this.#table = table;
  }

  async list(
    filter: AuditFilter = {},
    { limit = DEFAULT_LIMIT, after }: AuditPageRequest = {},
  ): Promise<AuditPage> {
    if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT)
      throw new OutOfRangeError(`The limit must be from 1 to ${LARGEST_LIMIT}`);
    const range = getRange(filter, after);
    const axes = getAxes(filter);
    if (!axes.every(isStorable)) return { items: [], next: null };
    if (axes.length > 1) return this.#ofSeveral(axes, range, limit);
    const items = await this.#table.newest(axes[0] ?? null, range, limit + 1);
    const shown = items.slice(0, limit);
    return { items: shown, next: items.length > limit ? (shown.at(-1)?.id ?? null) : null };
  }

  async pseudonymise(
    person: PersonReference,
    pseudonym: string,
    batch = DEFAULT_BATCH,
  ): Promise<number> {
    if (!Number.isSafeInteger(batch) || batch < 1)
      throw new OutOfRangeError('batch must be a whole number of at least 1');
    return isStorable({ person }) ? this.#table.replacePerson(person, pseudonym, batch) : 0;
  }

  /** Deletes at most `limit` events that are older than this time. Returns their number. */
  removeBefore(time: number, limit: number): Promise<number> {
    return this.#table.removeBefore(idAt(time), limit);
  }

  async #ofSeveral(axes: readonly Axis[], range: IdRange, limit: number): Promise<AuditPage> {
    const axis = await this.#rarest(axes, range);
    const found: string[] = [];
    let { before } = range;
    for (const step of STEPS) {
      if (found.length > limit) break;
      const keys = await this.#table.keys(axis, { ...range, before }, step);
      found.push(
        ...keys.filter((key) => axes.every((each) => fits(key, each))).map(({ id }) => id),
      );
      if (keys.length < step) return this.#page(found, limit, null);
      before = keys.at(-1)?.id ?? before;
    }
    return this.#page(found, limit, before);
  }

  /**
   * Returns one page of the events in `found`. If the page contains all of them, `rest` is the next
   * cursor.
   */
  async #page(found: readonly string[], limit: number, rest: string | null): Promise<AuditPage> {
    const shown = found.slice(0, limit);
    const next = found.length > limit ? (shown.at(-1) ?? null) : rest;
    return { items: await this.#table.read(shown), next };
  }

  /**
   * Estimates the condition with the fewest matches: its record at position `DEPTH` is the oldest.
   */
  async #rarest(axes: readonly Axis[], range: IdRange): Promise<Axis> {
    const reached = await Promise.all(
      axes.map(async (axis) => ({ axis, id: (await this.#table.reach(axis, range, DEPTH)) ?? '' })),
    );
    const [first, ...others] = reached;
    if (first === undefined) throw new Error('No event is asked for');
    return others.reduce((best, each) => (each.id < best.id ? each : best), first).axis;
  }
}

function getAxes({ clientId, person, authorization, type }: AuditFilter): readonly Axis[] {
  return [
    ...(authorization === undefined ? [] : [{ authorization }]),
    ...(clientId === undefined ? [] : [{ clientId }]),
    ...(person === undefined ? [] : [{ person }]),
    ...(type === undefined ? [] : [{ type }]),
  ];
}

function fits(key: RecordKey, axis: Axis): boolean {
  if ('type' in axis) return key.type === axis.type;
  if ('clientId' in axis) return key.clientId === axis.clientId;
  if ('authorization' in axis) return key.authorization === axis.authorization;
  return key.person?.provider === axis.person.provider && key.person.id === axis.person.id;
}

/**
 * Returns true if every type of database can store these strings unchanged. No record contains
 * other strings, so a search for them finds nothing.
 */
function isStorable(axis: Axis): boolean {
  const texts = 'person' in axis ? [axis.person.provider, axis.person.id] : Object.values(axis);
  return texts.every((text: string) => text.isWellFormed() && !text.includes('\0'));
}

const AN_ID = /^[0-9a-f]{32}$/;
/** Sorts after every id, because ids are hexadecimal. */
const END = 'g';

function getRange({ since, until }: AuditFilter, after: string | undefined): IdRange {
  if (after !== undefined && !AN_ID.test(after))
    throw new OutOfRangeError('Invalid cursor; use the cursor that the previous page returned');
  const from = since === undefined ? '' : idAt(since);
  const end = until === undefined ? END : idAt(until);
  return { from, before: after !== undefined && after < end ? after : end };
}

/**
 * Returns the first twelve digits of the ids that are created at `time`. Ids from this time or
 * later sort after these digits. Rounds up to whole milliseconds.
 */
function idAt(time: number): string {
  if (!Number.isFinite(time) || time > LATEST)
    throw new OutOfRangeError('This is not a valid time');
  return Math.max(0, Math.ceil(time)).toString(16).padStart(12, '0');
}

/** The latest time in twelve hexadecimal digits, in the year 10889. */
const LATEST = 0xffff_ffff_ffff;
