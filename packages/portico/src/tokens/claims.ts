import { isPromise } from 'node:util/types';
import type { Log } from '@portico/sql';
import { readProfile, type UserInterface } from '../person.ts';
import type { ScopeCatalog } from './scopes.ts';

/**
 * The claims that each scope releases (OpenID Connect Core section 5.4). Other claims are dropped,
 * unless a configured scope lists them.
 */
const CLAIMS_OF_SCOPE: Readonly<Record<string, readonly string[]>> = {
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'profile',
    'picture',
    'website',
    'gender',
    'birthdate',
    'zoneinfo',
    'locale',
    'updated_at',
  ],
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
};

/** Some databases store true and false as numbers or text. */
const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [1, true],
  ['true', true],
  [false, false],
  [0, false],
  ['false', false],
]);

interface TypedClaim {
  /** Returns the value with the right type, or undefined for an invalid value. */
  readonly read: (value: unknown) => unknown;
  /** Why a value is dropped, for the log. */
  readonly wrong: string;
}

const BOOLEAN: TypedClaim = {
  read: (value) => BOOLEANS.get(value),
  wrong: 'it is neither true nor false',
};

const TIME: TypedClaim = {
  read: (value) => {
    const seconds = value instanceof Date ? Math.floor(value.getTime() / 1000) : value;
    return Number.isFinite(seconds) ? seconds : undefined;
  },
  wrong: 'it is neither a Date nor a number of seconds',
};

/** A day, a day without its year, or a year. */
const DAY = /^\d{4}(?:-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))?$/;

const BIRTHDATE: TypedClaim = {
  read: (value) => {
    const day = value instanceof Date ? calendarDay(value) : value;
    return typeof day === 'string' && DAY.test(day) ? day : undefined;
  },
  wrong: 'it is neither a Date nor YYYY-MM-DD, 0000-MM-DD or YYYY',
};

/**
 * Returns the day of a Date as text, or undefined for an invalid Date.
 *
 * `pg` and `mysql2` return a DATE column as the start of a day in the local time zone. Such a Date
 * is this local day. Other drivers and libraries return midnight in UTC, so any other Date is read
 * in UTC. A host whose driver uses a third time zone must return text.
 */
function calendarDay(date: Date): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  // Do not compare the hours with 0. In some time zones, a day can begin at 01:00.
  const start = new Date(date);
  start.setHours(0, 0, 0, 0);
  const day = new Date(date);
  if (start.getTime() === date.getTime())
    day.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate());
  return day.toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** Strict clients read these claims only with this type (OpenID Connect Core section 5.1). */
const TYPED_CLAIMS: ReadonlyMap<string, TypedClaim> = new Map([
  ['email_verified', BOOLEAN],
  ['phone_number_verified', BOOLEAN],
  ['updated_at', TIME],
  ['birthdate', BIRTHDATE],
]);

/**
 * Claims that only the server may set: recipients trust them. Sources: RFC 7519, RFC 7662, RFC
 * 7800, RFC 8693, RFC 9068, OpenID Connect Core and its session specifications.
 */
const PROTOCOL_CLAIMS: ReadonlySet<string> = new Set(
  (
    'iss sub aud exp nbf iat jti nonce auth_time acr amr azp at_hash c_hash s_hash sid ' +
    'sub_jwk sub_id _claim_names _claim_sources ' +
    'verified_claims cnf act may_act events toe txn client_id scope active token_type ' +
    'authorization_details token_introspection ' +
    'error error_description error_uri'
  ).split(' '),
);

const CLAIM_NAME = /^[\x21-\x7E]{1,255}$/;

/** Returns why no scope may release a claim with this name, or null. */
export function claimNameProblem(name: string): string | null {
  if (!CLAIM_NAME.test(name))
    return 'is not a claim name: it must have 1 to 255 printable ASCII characters without spaces';
  if (name in Object.prototype) return 'is not a claim name';
  // Some JSON parsers ignore case in member names.
  return PROTOCOL_CLAIMS.has(name.toLowerCase())
    ? 'is a protocol claim, which only the server can set'
    : null;
}

/**
 * Returns the claims of the scopes, in order. A scope's OpenID Connect claims come before its
 * configured ones.
 */
export function claimNames(scopes: readonly string[], catalog: ScopeCatalog): readonly string[] {
  const names: string[] = [];
  for (const scope of scopes) {
    if (Object.hasOwn(CLAIMS_OF_SCOPE, scope)) names.push(...(CLAIMS_OF_SCOPE[scope] ?? []));
    const own = catalog.get(scope)?.claims;
    if (own !== undefined) names.push(...own.filter((name) => !names.includes(name)));
  }
  return names;
}

/**
 * Returns claims about a person, in addition to the claims from `getProfile()`. The profile's
 * claims cannot be replaced.
 *
 * A claim is dropped unless one of the granted scopes releases it. Scopes release the claims of
 * OpenID Connect Core section 5.4, and the claims that `oauth_server:scopes` lists for them under
 * `claims`. A claim that no scope of the server releases is logged once.
 *
 * @example
 * const claims: ClaimsMapper = (user) => ({ locale: localeOf(user.reference.id) });
 */
export type ClaimsMapper = (
  user: UserInterface,
) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;

/**
 * Collects the claims that the granted scopes release. A claim of the profile takes precedence over
 * the same claim of the host's mapper.
 */
export class Claims {
  readonly #mapper: ClaimsMapper | undefined;
  readonly #catalog: ScopeCatalog;
  readonly #log: Log;
  readonly #releasable: ReadonlySet<string>;
  readonly #warned = new Set<string>();

  constructor(mapper: ClaimsMapper | undefined, catalog: ScopeCatalog, log: Log) {
    this.#mapper = mapper;
    this.#catalog = catalog;
    this.#log = log;
    this.#releasable = new Set(claimNames([...catalog.keys()], catalog));
  }

  async released(
    user: UserInterface,
    scopes: readonly string[],
  ): Promise<Readonly<Record<string, unknown>>> {
    const names = claimNames(scopes, this.#catalog);
    if (names.length === 0) return {};
    const profile = this.#objectOf('getProfile()', readProfile(user));
    const added =
      this.#mapper === undefined
        ? {}
        : this.#objectOf('oauth_server:claims', await this.#mapper(user));
    // TypeScript refuses a getProfile() that is async, but JavaScript does not.
    if (isPromise(profile)) for (const name of names) this.#warnOf(name, PROMISED_PROFILE);
    this.#warnOfDropped(profile);
    this.#warnOfDropped(added);
    const claims: Record<string, unknown> = {};
    for (const name of names) {
      const value = own(profile, name) ?? own(added, name);
      if (value === null) continue;
      const type = TYPED_CLAIMS.get(name);
      const given = type === undefined ? value : type.read(value);
      // Drop a value of the wrong type. Many clients read any other value of a boolean claim as
      // true, even an object.
      const problem = given === undefined ? (type?.wrong ?? '') : jsonProblem(given);
      if (problem === null) claims[name] = given;
      else this.#warnOf(name, problem);
    }
    return claims;
  }

  /** A function in JavaScript may return no object. */
  #objectOf(source: string, returned: unknown): Readonly<Record<string, unknown>> {
    if (typeof returned === 'object' && returned !== null)
      return returned as Readonly<Record<string, unknown>>;
    if (!this.#warned.has(source)) {
      this.#warned.add(source);
      const what =
        returned === null || returned === undefined ? String(returned) : `a ${typeof returned}`;
      this.#log.warning('{source} returned {what} instead of an object, so it provides no claims', {
        source,
        what,
      });
    }
    return {};
  }

  #warnOfDropped(claims: Readonly<Record<string, unknown>>): void {
    for (const claim of Object.keys(claims)) {
      if (!this.#releasable.has(claim)) this.#warnOf(claim, whyDropped(claim));
    }
  }

  /** Logs one warning for each claim, up to a limit. */
  #warnOf(claim: string, reason: string): void {
    if (this.#warned.has(claim) || this.#warned.size >= MOST_WARNINGS) return;
    this.#warned.add(claim);
    this.#log.warning('The claim {claim} is dropped: {reason}', { claim, reason });
  }
}

const MOST_WARNINGS = 100;

const PROMISED_PROFILE =
  'getProfile() returned a promise. Load the values in loadAccount(), and return an object';

const ILL_FORMED = 'its text is not well-formed Unicode';
const NOT_JSON = 'JSON cannot contain its value';

/**
 * Returns why JSON text cannot contain the value, or null.
 *
 * An unpaired surrogate is refused. Some JSON parsers reject it. Others replace it, so that the
 * values of two people could become equal.
 */
function jsonProblem(value: unknown): string | null {
  if (typeof value === 'boolean' || Number.isFinite(value)) return null;
  if (typeof value === 'string') return value.isWellFormed() ? null : ILL_FORMED;
  let isWellFormed = true;
  const check = (key: string, each: unknown) => {
    isWellFormed &&= key.isWellFormed() && (typeof each !== 'string' || each.isWellFormed());
    return each;
  };
  try {
    // JSON.stringify returns undefined for a function. For NaN and an invalid Date, it returns
    // null, which a claim must not be (OpenID Connect Core section 5.3.2).
    const text = JSON.stringify(value, check) as string | undefined;
    if (text === undefined || text === 'null') return NOT_JSON;
  } catch {
    return NOT_JSON;
  }
  return isWellFormed ? null : ILL_FORMED;
}

function whyDropped(claim: string): string {
  const [scope] = Object.entries(CLAIMS_OF_SCOPE).find(([, names]) => names.includes(claim)) ?? [];
  if (scope !== undefined)
    return `the scope ${scope}, which releases it, is not in oauth_server:scopes`;
  return (
    'OpenID Connect defines no scope that releases it, and no scope in oauth_server:scopes has ' +
    'it in its claims'
  );
}

/** Returns null for a claim without a value (OpenID Connect Core section 5.3.2). */
function own(map: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = Object.hasOwn(map, name) ? map[name] : null;
  return value === undefined || value === '' ? null : value;
}
