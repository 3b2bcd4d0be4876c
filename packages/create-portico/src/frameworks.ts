// The frameworks: how a package.json shows them, and where Portico's files are in them.

/** The frameworks for which this package writes files. */
export const FRAMEWORKS = [
  'next',
  'sveltekit',
  'react-router',
  'nest',
  'fastify',
  'hono',
  'koa',
  'express',
  'node',
] as const;

export type Framework = (typeof FRAMEWORKS)[number];

/** The frameworks that a new application can have. The others have their own generators. */
export const NEW_FRAMEWORKS = ['kit', 'express', 'fastify', 'hono', 'koa', 'node'] as const;

export type NewFramework = (typeof NEW_FRAMEWORKS)[number];

/** Frameworks with a page in the guides, for which this package writes nothing. */
export const GUIDE_ONLY = ['adonisjs', 'bun', 'deno'] as const;

export type GuideOnly = (typeof GUIDE_ONLY)[number];

/** The dependency that shows a framework. The first one that is present decides. */
export const DEPENDENCIES: readonly (readonly [dependency: string, Framework | GuideOnly])[] = [
  ['next', 'next'],
  ['@sveltejs/kit', 'sveltekit'],
  ['@react-router/dev', 'react-router'],
  ['@nestjs/core', 'nest'],
  ['@adonisjs/core', 'adonisjs'],
  ['fastify', 'fastify'],
  ['hono', 'hono'],
  ['koa', 'koa'],
  ['express', 'express'],
];

/** The command that creates a new application, for frameworks with their own generator. */
export const GENERATORS: Readonly<Record<string, string>> = {
  next: 'npx create-next-app@latest',
  sveltekit: 'npx sv create',
  'react-router': 'npx create-react-router@latest',
  nest: 'npx @nestjs/cli new',
  adonisjs: 'npm create adonisjs@latest',
};

/** The page of the guides about a framework. */
export const guideOf = (framework: string): string =>
  framework === 'kit' ? 'docs/getting-started.md' : `docs/mounting/${framework}.md`;

/** The libraries that can read a database, by the dependency that shows them. */
export const DATABASE_LIBRARIES = [
  '@prisma/client',
  'drizzle-orm',
  'knex',
  'better-sqlite3',
  'pg',
  'mysql2',
  'mariadb',
] as const;

export type DatabaseLibrary = (typeof DATABASE_LIBRARIES)[number] | 'node:sqlite';

/** The libraries that keep the session, by the dependency that shows them. */
export const SESSION_LIBRARIES: Readonly<Partial<Record<Framework, readonly string[]>>> = {
  express: ['passport', 'express-session'],
  nest: ['passport', 'express-session'],
  fastify: ['@fastify/session'],
  hono: ['@hono/session'],
  koa: ['koa-session'],
};
