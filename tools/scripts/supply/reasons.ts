// Why each dependency is there, and what could replace it. `npm run dependencies:page` writes a
// page from it.

export interface Reason {
  readonly why: string;
  readonly instead: string;
}

/** The packages that are installed with Portico. */
export const RUNTIME: Readonly<Record<string, Reason>> = {
  '@hono/node-server': {
    why: 'turns requests of `node:http` into those of the Fetch standard and back, with streams and aborts, for the server of the kit',
    instead:
      '`portico/node`, whose mount does the same in its own way; its corner cases (bodies that are cut off, `Expect`) are work',
  },
  '@modelcontextprotocol/server': {
    why: 'the messages of MCP, their schemas and versions, at `@portico/mcp`',
    instead: 'JSON-RPC by hand, against a protocol of which four versions are spoken',
  },
  commander: {
    why: 'commands, options and help of the console; nothing else loads it',
    instead: '`util.parseArgs` of Node, and a help page of our own',
  },
  eta: {
    why: 'renders the views of the pages, escaping by default, also those that an application replaces; loaded with the first page',
    instead:
      'template literals with an escape function; views that applications have written would break',
  },
  hono: {
    why: "the kit's router, and the types of `portico/hono`",
    instead: '`URLPattern` of Node for the router; who mounts on Hono has it anyway',
  },
  jose: {
    why: 'generates signing keys, writes them as JWKs and computes thumbprints; loaded when a key is made. Signing and verifying is `node:crypto`',
    instead:
      '`node:crypto` (`generateKeyPair`, `export({ format: "jwk" })`) and RFC 7638 in a dozen lines',
  },
  oauth4webapi: {
    why: 'introspection and its client authentication at `@portico/resource-server`, by a library that others wrote',
    instead: 'one `fetch` with a form, and the checks of RFC 7662 section 2.2',
  },
};

/** The packages that those packages need. */
export const INDIRECT: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/core':
    'of `@modelcontextprotocol/server`: the types and schemas of the protocol',
  zod: 'of `@modelcontextprotocol/server`: the schemas of its messages',
};

/** Peer dependencies. All of them are optional: the application installs what it uses. */
export const PEERS: Readonly<Record<string, Reason>> = {
  '@nestjs/common': {
    why: '`portico/nest`',
    instead: '`portico/express` or `portico/fastify` below Nest',
  },
  '@nestjs/core': { why: '`portico/nest`', instead: 'the same' },
  '@types/node': {
    why: 'the published types name those of Node ([decision 32](../decisions/0032-one-module-for-import-and-require.md)); no code of it runs',
    instead: 'nothing: a TypeScript application for Node has it, of any version',
  },
  '@opentelemetry/api': {
    why: '`portico/telemetry`',
    instead: 'the log and `measure` of the server',
  },
  express: { why: '`portico/express`', instead: '`portico/node`' },
  fastify: { why: '`portico/fastify`', instead: '`portico/node`' },
  koa: { why: '`portico/koa`', instead: '`portico/node`' },
  mysql2: {
    why: 'MariaDB and MySQL as the store',
    instead: 'the `mariadb` driver behind `sql/contract.ts`',
  },
  pg: { why: 'PostgreSQL as the store', instead: '`postgres` behind `sql/contract.ts`' },
  rxjs: {
    why: '`portico/nest`: the interceptor answers with its observables',
    instead: 'Nest brings it',
  },
};

/**
 * The packages for working on Portico, in groups. A name that ends in `*` matches all names with
 * this beginning.
 */
export const DEVELOPMENT: readonly (readonly [names: readonly string[], why: string])[] = [
  [
    ['node', 'typescript', 'rolldown'],
    'the Node of the tests, the compiler, and what makes `dist`',
  ],
  [
    ['zod'],
    "checks the configuration and tools' arguments; `dist` has a copy of it, with its types ([decision 12](../decisions/0012-few-files.md))",
  ],
  [['vitest', 'fast-check'], 'the tests, and inputs that nobody thought of'],
  [['@vitest/coverage-v8'], 'counts the branches that the tests take'],
  [['@stryker-mutator/*'], 'changes the code, to see which tests notice'],
  [['@jazzer.js/*'], 'looks for bytes that a parser does not survive, by what they reach'],
  [['@informalsystems/quint', 'quint'], 'checks the model'],
  [
    ['oxlint', 'oxlint-tsgolint', 'prettier', 'publint', '@arethetypeswrong/cli'],
    'lint, format, and what a package looks like from outside',
  ],
  [
    ['@cyclonedx/cyclonedx-library'],
    'the schema that the bill of materials is held against; none of its code runs',
  ],
  [
    ['@seriousme/openapi-schema-validator'],
    'checks the description of the endpoints against OpenAPI 3.1',
  ],
  [['dclint'], 'checks the file for Docker Compose'],
  [['playwright-core', 'axe-core'], 'drives Chromium, and judges what is on the page'],
  [
    [
      'openid-client',
      '@atproto/oauth-client-node',
      '@modelcontextprotocol/client',
      '@modelcontextprotocol/sdk',
      '@modelcontextprotocol/conformance',
      '@modelcontextprotocol/inspector',
      'mcp-remote',
    ],
    "others' clients, against which the server is tested",
  ],
  [
    [
      'express',
      'express-4',
      'fastify',
      'koa',
      'koa-2',
      '@nestjs/*',
      'rxjs',
      'reflect-metadata',
      'pg',
      'pg-floor',
      'mysql2',
      'mysql2-floor',
    ],
    'the frameworks and drivers that applications bring; of the drivers also the oldest that are enough',
  ],
  [
    [
      'express-session',
      'cookie-session',
      'csrf-csrf',
      'csrf-sync',
      'passport',
      'passport-local',
      'bcryptjs',
      '@fastify/*',
      '@hono/session',
      'hono-sessions',
      '@koa/*',
      'koa-body',
      'koa-bodyparser',
      'koa-passport',
      'koa-session',
      'lusca',
    ],
    'what such applications sign people in by, in the tests of the mounts and in the examples',
  ],
  [['@opentelemetry/*'], 'reads what `portico/telemetry` measures'],
  [['@types/*'], 'types of the above'],
];
