import { CLIENTS } from './rows/clients.ts';
import { FORMS } from './rows/forms.ts';
import { REGISTRATIONS } from './rows/registrations.ts';
import type { Row } from './rows/row.ts';
import { SEALED } from './rows/sealed.ts';
import { SIGN_INS } from './rows/sign-ins.ts';
import { TOKENS } from './rows/tokens.ts';

/** All comparisons whose time must not reveal anything. */
export const ROWS: readonly Row[] = [
  ...CLIENTS,
  ...SIGN_INS,
  ...TOKENS,
  ...FORMS,
  ...REGISTRATIONS,
  ...SEALED,
];

/**
 * Whether the row is about secrets that another server hashed. Such a row needs a server that
 * accepts them.
 */
export const isImported = ({ name }: Row): boolean => name.startsWith('Imported');
