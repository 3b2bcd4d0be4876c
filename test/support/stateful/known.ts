import type { JSONWebKeySet } from 'jose';
import { newKey, type ClientKey } from '../assertions.ts';
import type { Installation, Node } from './installation.ts';
import { found, type Settings } from './world.ts';

/**
 * Everything that the clients, people and operators of an installation know, under the names in the
 * model.
 */
export interface Known {
  readonly installation: Installation;
  readonly settings: Settings;
  readonly clients: Map<string, KnownClient>;
  readonly codes: Map<string, string>;
  readonly tokens: Map<string, KnownTokens>;
  /** The id of each authorization. */
  readonly authorizations: Map<string, KnownAuthorization>;
  /** The consent screens as received. */
  readonly screens: Map<string, Response>;
  /** The public subjects by person. A person who was erased gets a new subject. */
  readonly subjects: Map<string, string>;
  readonly erasures: Map<string, number>;
  readonly keySets: Map<string, JSONWebKeySet>;
}

export interface KnownClient {
  readonly id: string;
  readonly kind: string;
  /** All secrets that existed, with the newest last. Empty for a client without a secret. */
  readonly secrets: string[];
  readonly redirectUri: string;
}

export interface KnownTokens {
  readonly access: string;
  readonly refresh: string;
  readonly client: string;
  /** The authorization. Null for a client's own token. */
  readonly family: string | null;
}

export interface KnownAuthorization {
  readonly id: string;
  readonly client: string;
  /** The owner, as named in `subjects`. */
  readonly subject: string;
}

/** Keys of clients. All runs use the same keys, because their values do not matter. */
export const KEYS: Readonly<Record<'assertions' | 'own' | 'other', ClientKey>> = {
  assertions: newKey('ES256', 'assertions'),
  own: newKey('ES256', 'own'),
  other: newKey('ES256', 'other'),
};

export const REDIRECT_URI = 'https://client.example/callback';
export const LOOPBACK_URI = 'http://127.0.0.1:33418/callback';

export function createKnown(installation: Installation, settings: Settings): Known {
  return {
    installation,
    settings,
    clients: new Map(),
    codes: new Map(),
    tokens: new Map(),
    authorizations: new Map(),
    screens: new Map(),
    subjects: new Map(),
    erasures: new Map(),
    keySets: new Map(),
  };
}

export function get<T>(all: ReadonlyMap<string, T>, name: string): T {
  return found(Object.fromEntries(all), name);
}

export function nodeOf({ installation }: Known, node: number): Node {
  const { nodes } = installation;
  const at = nodes[node % nodes.length];
  if (at === undefined) throw new Error('There is no process');
  return at;
}

/** Returns the person with this public subject, or a text that says that the subject is unknown. */
export function subjectNamed({ subjects }: Known, subject: unknown, expected: string): string {
  const known = subjects.get(expected);
  const isOthers = [...subjects].some(([who, each]) => each === subject && who !== expected);
  if (known === undefined && !isOthers && typeof subject === 'string')
    subjects.set(expected, subject);
  return subjects.get(expected) === subject ? expected : `somebody else than ${expected}`;
}

/** Returns the name of the client with this id. */
export function clientNamed({ clients }: Known, id: unknown): string {
  const one = [...clients].find(([, client]) => client.id === id);
  return one === undefined ? `an unknown client ${String(id)}` : one[0];
}
