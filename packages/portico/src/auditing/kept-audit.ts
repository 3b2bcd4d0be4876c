import { OutOfRangeError } from '@portico/sql';
import type { PersonReference } from '../contracts/person.ts';
import type { AuditEvent } from './audit.ts';
import type { AuditRecord } from './record.ts';

/** Which kept events are asked for; those that have all of it. */
export interface AuditFilter {
  /** From this time on, milliseconds since 1970. */
  readonly since?: number;
  /** Before this time, milliseconds since 1970. */
  readonly until?: number;
  /** Compared byte by byte, as everything here. */
  readonly clientId?: string;
  /** Those about this person, not those that they did. */
  readonly person?: PersonReference;
  /** Those about the authorization of this id, as `Access.list` names it. */
  readonly authorization?: string;
  /** Such as `refresh_token_replayed`. */
  readonly type?: AuditEvent['type'];
}

/** Which part of a list is asked for. */
export interface AuditPageRequest {
  /** 1 to 1000; 50 unless given. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

/** A part of a list, newest first. */
export interface AuditPage {
  /**
   * There may be fewer than were asked for, also none, although more follow: of two things that are each said of many events, and of few
   * together, a page looks through some thousands and no more.
   */
  readonly items: readonly AuditRecord[];
  /** Where the next page begins; null after the last. */
  readonly next: string | null;
}

/** The kept audit (`oauth_server:audit:keep`). It is read also when nothing is added to it any more. */
export interface KeptAudit {
  /** The kept events, newest first. Throws a RangeError for a limit, a time or an `after` that is none. */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;
  /**
   * Puts a pseudonym in the place of a person's id in at most `batch` events about them, and in as many that they did as an
   * administrator, and takes the network address and the id of the request away; how many it changed. To be called until that is 0. What is written meanwhile,
   * as by a request that is being answered, takes another call.
   */
  pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number>;
}

/** One thing that events are asked for by, which has an index. */
export type Axis =
  | { readonly type: string }
  | { readonly clientId: string }
  | { readonly authorization: string }
  | { readonly person: PersonReference };

/** Ids from one on, and before another. */
export interface IdRange {
  readonly from: string;
  readonly before: string;
}

/** What a record is found by. */
export type RecordKey = Pick<AuditRecord, 'id' | 'type' | 'clientId' | 'authorization' | 'person'>;

/** The table of records. Whatever it lists is newest first. */
export interface AuditTable {
  newest(axis: Axis | null, range: IdRange, limit: number): Promise<readonly AuditRecord[]>;
  keys(axis: Axis, range: IdRange, limit: number): Promise<readonly RecordKey[]>;
  /** The id of the record so many deep in the range, the newest being 1 deep; null where there are fewer. */
  reach(axis: Axis, range: IdRange, depth: number): Promise<string | null>;
  read(ids: readonly string[]): Promise<readonly AuditRecord[]>;
  replacePerson(person: PersonReference, pseudonym: string, limit: number): Promise<number>;
  /** Removes at most `limit` of those before this id, oldest first; how many. */
  removeBefore(id: string, limit: number): Promise<number>;
}

export const DEFAULT_LIMIT = 50;
export const LARGEST_LIMIT = 1000;
const DEFAULT_BATCH = 500;

/** How many records of an index are looked at for a page, and how many of them first: often those are enough. */
const STEPS = [200, 1000, 1000] as const;
/** How deep it is looked which of several is the rarest. */
const DEPTH = 1000;

export function createKeptAudit(table: AuditTable): KeptAudit {
  async function ofSeveral(axes: readonly Axis[], range: IdRange, limit: number): Promise<AuditPage> {
    const axis = await rarest(axes, range);
    const found: string[] = [];
    let { before } = range;
    for (const step of STEPS) {
      if (found.length > limit) break;
      const keys = await table.keys(axis, { ...range, before }, step);
      found.push(...keys.filter((key) => axes.every((each) => fits(key, each))).map(({ id }) => id));
      if (keys.length < step) return page(found, limit, null);
      before = keys.at(-1)?.id ?? before;
    }
    return page(found, limit, before);
  }

  /** `rest` is where to look next when all of these are shown. */
  async function page(found: readonly string[], limit: number, rest: string | null): Promise<AuditPage> {
    const shown = found.slice(0, limit);
    const next = found.length > limit ? (shown.at(-1) ?? null) : rest;
    return { items: await table.read(shown), next };
  }

  /** The one of these that fewest of the latest events have: the one that reaches furthest back in so many steps. */
  async function rarest(axes: readonly Axis[], range: IdRange): Promise<Axis> {
    const reached = await Promise.all(
      axes.map(async (axis) => ({ axis, id: (await table.reach(axis, range, DEPTH)) ?? '' })),
    );
    const [first, ...others] = reached;
    if (first === undefined) throw new Error('Nothing is asked for');
    return others.reduce((best, each) => (each.id < best.id ? each : best), first).axis;
  }

  return {
    async list(filter = {}, { limit = DEFAULT_LIMIT, after } = {}) {
      if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT)
        throw new OutOfRangeError(`The limit must be 1 to ${LARGEST_LIMIT}`);
      const range = rangeOf(filter, after);
      const axes = axesOf(filter);
      if (!axes.every(isStorable)) return { items: [], next: null };
      if (axes.length > 1) return ofSeveral(axes, range, limit);
      const items = await table.newest(axes[0] ?? null, range, limit + 1);
      const shown = items.slice(0, limit);
      return { items: shown, next: items.length > limit ? (shown.at(-1)?.id ?? null) : null };
    },
    pseudonymise: (person, pseudonym, batch = DEFAULT_BATCH) =>
      isStorable({ person }) ? table.replacePerson(person, pseudonym, batch) : Promise.resolve(0),
  };
}

function axesOf({ clientId, person, authorization, type }: AuditFilter): readonly Axis[] {
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

/** No engine keeps any other text as it is, so nobody has it. */
function isStorable(axis: Axis): boolean {
  const texts = 'person' in axis ? [axis.person.provider, axis.person.id] : Object.values(axis);
  return texts.every((text: string) => text.isWellFormed() && !text.includes('\0'));
}

const AN_ID = /^[0-9a-f]{32}$/;
/** Behind every id: they are hexadecimal. */
const END = 'g';

function rangeOf({ since, until }: AuditFilter, after: string | undefined): IdRange {
  if (after !== undefined && !AN_ID.test(after))
    throw new OutOfRangeError('This is not where a page begins: take what the page before has as next');
  const from = since === undefined ? '' : idAt(since);
  const end = until === undefined ? END : idAt(until);
  return { from, before: after !== undefined && after < end ? after : end };
}

/** What the ids from this time on begin with, or are greater than; those of before are less. Between two milliseconds that is the next one. */
export function idAt(time: number): string {
  if (!Number.isFinite(time) || time > LATEST) throw new OutOfRangeError('This is no time');
  return Math.max(0, Math.ceil(time)).toString(16).padStart(12, '0');
}

/** What twelve hexadecimal digits can say: the year 10889. */
const LATEST = 0xffff_ffff_ffff;
