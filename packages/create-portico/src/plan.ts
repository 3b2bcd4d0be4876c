// Decides everything that a run of create-portico does, before it writes anything.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Answers, UsersDatabase } from './answers.ts';
import type { Detected, PackageManager } from './detect.ts';
import { guideOf, type NewFramework } from './frameworks.ts';
import { forLanguage } from './language.ts';
import { nextSteps } from './next-steps.ts';
import { hostFile } from './templates/host.ts';
import { MOUNTS, type Edit, type WrittenFile } from './templates/mounts.ts';
import { SESSION_FILE } from './templates/session.ts';
import { usersFile } from './templates/users.ts';

/** A command for Portico's console. */
export interface Command {
  readonly args: readonly string[];
  /** Skip the command if a client with this name exists. */
  readonly client?: string;
  /** Skip the command if an account with this email address exists. */
  readonly account?: string;
}

/** Everything that one run of create-portico does. */
export interface Plan {
  readonly folder: string;
  readonly files: readonly WrittenFile[];
  /** The settings to add to the environment file. Existing settings keep their values. */
  readonly env: { readonly file: string; readonly values: readonly (readonly [string, string])[] };
  readonly ignored: readonly string[];
  /** The properties to add to package.json. Existing properties stay unchanged. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly packageManager: PackageManager;
  readonly packages: readonly string[];
  readonly developmentPackages: readonly string[];
  readonly edits: readonly Edit[];
  /** The file with the application's definition, which the console loads. */
  readonly app: string;
  readonly commands: readonly Command[];
  /** The URL to open after starting the application. It is the last line of the output. */
  readonly url: string;
  readonly next: readonly string[];
}

const SCOPES = 'openid,profile,email';
const CLIENT = 'First client';

/** Returns the plan for an existing application. */
export function planForApplication(detected: Detected, answers: Answers): Plan {
  const { framework, database } = answers;
  // If the user chose a different framework than the detected one, ignore the session library,
  // because it belongs to the detected framework.
  const seen = framework === detected.framework ? detected : { ...detected, session: null };
  const { directory, suffix, extension, imported } = layoutOf(seen, answers);
  const own = (name: string) => `${name}${suffix}`;
  const host = `${directory}${own('portico')}${extension}`;
  const mount = MOUNTS[framework]({
    host,
    imported: framework === 'nest' && imported === '' ? '' : imported,
    detected: seen,
  });
  const files = [
    {
      path: host,
      text: hostFile({
        answers,
        detected: seen,
        name: detected.manifest.name ?? path.basename(detected.folder),
        users: `./${own('portico-users')}${imported}`,
        session: `./${own('portico-session')}${imported}`,
      }),
    },
    {
      path: `${directory}${own('portico-users')}${extension}`,
      text: usersFile(database, answers.table, detected),
    },
    ...(seen.session === null
      ? [{ path: `${directory}${own('portico-session')}${extension}`, text: SESSION_FILE }]
      : []),
    ...mount.files,
  ];
  const values = [
    ...addressSettings(answers),
    [database.engine === 'sqlite' ? 'USERS_DATABASE' : 'DATABASE_URL', database.value],
    ...(seen.session === null ? [secret()] : []),
  ] as const;
  return {
    ...common(answers, detected),
    files: files.map((file) => ({ ...file, text: forLanguage(file.text, detected.language) })),
    env: { file: detected.envFile, values },
    manifest: { portico: { app: host } },
    packages: ['portico', ...driversOf(answers)],
    developmentPackages: developmentPackagesOf(seen, answers),
    edits: mount.edits,
    app: host,
    commands: [migrate, client(answers, `${SCOPES},data:read`), setup],
    next: nextSteps({ answers, detected, hasSession: seen.session !== null, values }),
  };
}

/** Returns the plan for a new application. `templates` returns the files for a framework. */
export function planForNewApplication(
  folder: string,
  framework: NewFramework,
  {
    url,
    redirect,
    ...about
  }: {
    readonly url: string;
    readonly redirect: string;
    readonly database: UsersDatabase | undefined;
    readonly packageManager: PackageManager;
  },
  templates: (framework: NewFramework) => readonly WrittenFile[],
): Plan {
  const isKit = framework === 'kit';
  const app = isKit ? 'app.ts' : 'portico.ts';
  const scope = isKit ? 'notes:read' : 'orders:read';
  const start = isKit ? 'npx portico serve' : `node --env-file=.env server.ts`;
  const email = 'me@example.com';
  const accounts: readonly Command[] = [
    { args: ['account:create', email, 'My Name'], client: CLIENT, account: email },
    { args: ['account:grant', email, scope], client: CLIENT },
  ];
  return {
    ...common({ url }, { folder, packageManager: about.packageManager }),
    files: templates(framework),
    env: {
      file: '.env',
      values: [
        ...addressSettings({ url }),
        ...(new URL(url).port === '' ? [] : [['PORT', new URL(url).port] as const]),
        ...databaseSetting(about.database),
        ...(isKit ? [] : [secret(framework === 'hono' ? 'AUTH_SECRET' : 'SESSION_SECRET')]),
      ],
    },
    manifest: {
      name:
        path
          .basename(folder)
          .toLowerCase()
          .replaceAll(/[^a-z0-9-]+/g, '-')
          .replace(/^-+/, '') || 'application',
      private: true,
      type: 'module',
      scripts: { start: isKit ? 'portico serve' : 'node --env-file=.env server.ts' },
      portico: { app },
    },
    packages: ['portico', ...NEW_PACKAGES[framework], ...driversOf(about)],
    developmentPackages: NEW_TYPES[framework] ?? [],
    edits: [],
    app,
    commands: [migrate, ...(isKit ? accounts : []), client({ redirect }, `openid,${scope}`), setup],
    next: [
      `Start it: ${start}`,
      ...(isKit
        ? []
        : [
            'Sign in as ada@example.com with the password portico. Replace users.ts with your own users.',
          ]),
      `The guide is ${guideOf(framework)}.`,
    ],
  };
}

const NEW_PACKAGES: Readonly<Record<NewFramework, readonly string[]>> = {
  kit: ['@portico/kit'],
  express: ['express', 'express-session'],
  fastify: ['fastify', '@fastify/cookie', '@fastify/formbody', '@fastify/session'],
  hono: ['hono', '@hono/node-server', '@hono/session'],
  koa: ['koa', 'koa-session', '@koa/bodyparser', '@koa/router'],
  node: [],
};

const NEW_TYPES: Readonly<Partial<Record<NewFramework, readonly string[]>>> = {
  express: ['@types/express', '@types/express-session'],
};

const migrate: Command = { args: ['db:migrate', 'up'] };
const setup: Command = { args: ['oauth:server:setup'] };

const client = ({ redirect }: { readonly redirect: string }, scopes: string): Command => ({
  args: ['oauth:client:create', CLIENT, `--redirect=${redirect}`, `--scope=${scopes}`],
  client: CLIENT,
});

function common(
  { url }: { readonly url: string },
  { folder, packageManager }: { readonly folder: string; readonly packageManager: PackageManager },
) {
  return {
    folder,
    packageManager,
    ignored: ['storage/', 'logs/', '.env', '.env.local'],
    url: `${url}/.well-known/openid-configuration`,
  };
}

function addressSettings({
  url,
}: {
  readonly url: string;
}): readonly (readonly [string, string])[] {
  const isLocal = new URL(url).protocol === 'http:';
  return [...(isLocal ? [['APP_ENV', 'dev'] as const] : []), ['PUBLIC_URL', url]];
}

const secret = (name = 'SESSION_SECRET'): readonly [string, string] => [
  name,
  randomBytes(32).toString('base64url'),
];

/** Returns the database setting for a new application, in the format that Portico reads. */
function databaseSetting(
  database: UsersDatabase | undefined,
): readonly (readonly [string, string])[] {
  if (database === undefined) return [];
  const { engine, value } = database;
  return [['DATABASE_URL', engine === 'sqlite' ? `sqlite:${value}` : value]];
}

const DRIVERS = { sqlite: [], postgres: ['pg'], mariadb: ['mysql2'] } as const;

function driversOf({
  database,
}: {
  readonly database: UsersDatabase | undefined;
}): readonly string[] {
  return DRIVERS[database?.engine ?? 'sqlite'];
}

function developmentPackagesOf(
  { language, major, nodeTypes }: Detected,
  { framework, database }: Answers,
): readonly string[] {
  const adapter = `@sveltejs/adapter-node${(major ?? 2) < 3 ? '@5' : ''}`;
  return [
    // Older versions of `@types/node` do not include node:sqlite.
    ...(language === 'typescript' && (nodeTypes ?? 0) < 24 ? ['@types/node@24'] : []),
    ...(language === 'typescript' && database.engine === 'postgres' ? ['@types/pg'] : []),
    ...(framework === 'sveltekit' ? [adapter] : []),
  ];
}

/** Returns the folder of the host file, and how file names and import paths end. */
function layoutOf(detected: Detected, { framework }: Answers) {
  const { folder, language, modules, importsTs } = detected;
  const has = (name: string) => existsSync(path.join(folder, name));
  const own = language === 'typescript' ? '.ts' : modules === 'esm' ? '.js' : '.mjs';
  const bundled = { suffix: '', extension: own.replace('.mjs', '.js') };
  if (framework === 'next') {
    const directory = has('src/app') ? 'src/lib/' : 'lib/';
    return { ...bundled, directory, imported: '' };
  }
  if (framework === 'sveltekit')
    return { ...bundled, directory: 'src/lib/server/', imported: bundled.extension };
  if (framework === 'react-router')
    return { ...bundled, directory: 'app/', suffix: '.server', imported: importsTs ? own : '' };
  const compiled = modules === 'esm' ? '.js' : '';
  const imported = language === 'javascript' || importsTs ? own : compiled;
  const inSource = has('src') || framework === 'nest';
  return { suffix: '', extension: own, directory: inSource ? 'src/' : '', imported };
}

/**
 * Whether the console can load the application's source code. The console cannot load `.ts` files
 * if package.json declares CommonJS.
 */
export function canLoadSource({ language, modules, manifest }: Detected): boolean {
  return language === 'javascript' || modules === 'esm' || manifest.type !== 'commonjs';
}
