import { APPLICATIONS } from './english/applications.ts';
import { CONSENT } from './english/consent.ts';
import { ERROR } from './english/error.ts';
import { RESPONSE } from './english/response.ts';
import { SIGN_IN } from './english/sign-in.ts';
import { WHO_ASKS } from './english/who-asks.ts';
import type { Catalog } from './message.ts';

const TABLE = { ...SIGN_IN, ...WHO_ASKS, ...CONSENT, ...RESPONSE, ...APPLICATIONS, ...ERROR } as const;

/** The key of a message of Portico's pages, such as `consent.title`. */
export type MessageKey = keyof typeof TABLE;

/** A complete language: a text for each key. */
export type CompleteCatalog = Readonly<Record<MessageKey, Catalog[string]>>;

/** Every English message by key. Other languages are compared with it, and fall back to it. */
export const ENGLISH: CompleteCatalog = TABLE;

/** The keys of messages that form a page: what comes before `.title` and `.message`. */
export type PageKey = MessageKey extends infer Key
  ? Key extends `${infer Page}.message`
    ? Page
    : never
  : never;
