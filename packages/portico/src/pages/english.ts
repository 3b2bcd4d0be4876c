import { APPLICATIONS } from './english/applications.ts';
import { CONSENT } from './english/consent.ts';
import { DEVICE } from './english/device.ts';
import { ERROR } from './english/error.ts';
import { LOGOUT } from './english/logout.ts';
import { RESPONSE } from './english/response.ts';
import { SIGN_IN } from './english/sign-in.ts';
import { WHO_ASKS } from './english/who-asks.ts';
import type { Catalog } from './message.ts';

const TABLE = {
  ...SIGN_IN,
  ...WHO_ASKS,
  ...CONSENT,
  ...DEVICE,
  ...LOGOUT,
  ...RESPONSE,
  ...APPLICATIONS,
  ...ERROR,
} as const;

/** The key of a message on Portico's pages, for example `consent.title`. */
export type MessageKey = keyof typeof TABLE;

/** One text for every key. */
export type CompleteCatalog = Readonly<Record<MessageKey, Catalog[string]>>;

/**
 * All English messages. Other languages use the same keys. For a missing text, the page shows the
 * English one.
 */
export const ENGLISH: CompleteCatalog = TABLE;

/** The part of a message key before `.title` or `.message`. A page has both. */
export type PageKey = MessageKey extends infer Key
  ? Key extends `${infer Page}.message`
    ? Page
    : never
  : never;
