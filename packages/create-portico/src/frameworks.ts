// The supported frameworks and their guides, and the dependencies in package.json that identify
// frameworks and libraries.

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

/**
 * The frameworks for which this package can create a new application. The other frameworks have
 * their own generators.
 */
export const NEW_FRAMEWORKS = ['kit', 'express', 'fastify', 'hono', 'koa', 'node'] as const;

export type NewFramework = (typeof NEW_FRAMEWORKS)[number];

/** Frameworks and runtimes that have a guide, but for which this package writes no files. */
export const GUIDE_ONLY = ['adonisjs', 'bun', 'deno'] as const;

export type GuideOnly = (typeof GUIDE_ONLY)[number];

/**
 * The dependencies that identify frameworks. If an application has several of them, the first one
 * in this list decides.
 */
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

/** Returns the path of the guide for a framework. */
export const guideOf = (framework: string): string =>
  framework === 'kit' ? 'docs/getting-started.md' : `docs/mounting/${framework}.md`;

/** The known database libraries, by the names of their packages. */
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

/** The known session libraries for each framework, by the names of their packages. */
export const SESSION_LIBRARIES: Readonly<Partial<Record<Framework, readonly string[]>>> = {
  express: ['passport', 'express-session'],
  nest: ['passport', 'express-session'],
  fastify: ['@fastify/session'],
  hono: ['@hono/session'],
  koa: ['koa-session'],
};
