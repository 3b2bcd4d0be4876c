// What to do after create-portico has added Portico to an existing application.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Answers, UsersDatabase } from './answers.ts';
import { readEnv, type Detected } from './detect.ts';
import { guideOf, type Framework } from './frameworks.ts';

/** Frameworks whose requests do not contain the IP address of the caller. */
const WITHOUT_ADDRESSES: readonly Framework[] = ['next', 'react-router'];

/** What the sign-in page needs so that the browser loads the consent page. */
const SIGN_IN_HINTS: Readonly<Partial<Record<Framework, string>>> = {
  sveltekit:
    'A sign-in form without an action keeps return_to. With a named action, write action="?/login&return_to={encodeURIComponent(returnTo)}". Do not use use:enhance on this form.',
  'react-router':
    'In your sign-in page, redirect with redirectDocument(). After redirect(), users of a <Form> see a 404 page instead of the consent page.',
};

/** Returns the steps, in order. `values` are the settings in the environment file. */
export function nextSteps({
  answers: { framework, database },
  detected,
  hasSession,
  values,
}: {
  readonly answers: Answers;
  readonly detected: Detected;
  readonly hasSession: boolean;
  readonly values: readonly (readonly [string, string])[];
}): readonly string[] {
  return [
    ...usersHints(detected, database),
    ...(hasSession
      ? [
          'Make sure that signedIn and signOut in the new file match how your application stores sessions.',
          "In your sign-in page, when the password is right, redirect to returnPath(return_to). Import returnPath from 'portico'. If the page is not at /login, change loginUrl in the new file.",
        ]
      : [
          'Write your sign-in page at /login. When the password is right, send the Set-Cookie header from beginSession(), and redirect to returnPath(return_to).',
        ]),
    ...[SIGN_IN_HINTS[framework] ?? []].flat(),
    ...(WITHOUT_ADDRESSES.includes(framework)
      ? [
          'Add clientAddress to the host in the new file (docs/host-contract.md). Otherwise, Portico limits all callers together, because this framework does not tell their IP addresses.',
        ]
      : []),
    ...unreadSettings(detected, values),
    `Start your application. The guide is ${guideOf(framework)}.`,
  ];
}

/** Returns hints about the new file that reads the users. */
function usersHints(
  { folder, otherSqlite }: Detected,
  { engine, value }: UsersDatabase,
): readonly string[] {
  if (engine !== 'sqlite') return [];
  if (!existsSync(path.resolve(folder, value)))
    return [
      `The new users file reads a SQLite file, but there is no ${value}. Set USERS_DATABASE, or write your own query there, for example with mongoose.`,
    ];
  return otherSqlite === 'another'
    ? ['In the new users file, write the query with your own SQLite library.']
    : [];
}

/**
 * Returns a hint about settings that are in `.env` but not in `.env.local`. If `.env.local` exists,
 * Portico's console does not read `.env`.
 */
function unreadSettings(
  { folder, envFile, env }: Detected,
  values: readonly (readonly [string, string])[],
): readonly string[] {
  if (envFile === '.env') return [];
  const local = readEnv(path.join(folder, envFile));
  const names = values.map(([name]) => name).filter((name) => name in env && !(name in local));
  if (names.length === 0) return [];
  return [
    `Before you run npx portico yourself, copy ${names.join(', ')} from .env to .env.local. If .env.local exists, npx portico does not read .env.`,
  ];
}
