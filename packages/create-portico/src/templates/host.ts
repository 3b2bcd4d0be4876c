// The generated file with the application's definition and its host. The host finds the signed-in
// user, loads accounts, checks permissions and signs users out. Text between « and » is for
// TypeScript only.
import type { Answers } from '../answers.ts';
import type { Detected } from '../detect.ts';
import type { Framework } from '../frameworks.ts';

/** The values to insert into the host file. */
export interface HostFile {
  readonly answers: Answers;
  readonly detected: Detected;
  /** The application's name, which the consent page shows. */
  readonly name: string;
  /** The import paths of the users file and the session file, such as `./portico-users.ts`. */
  readonly users: string;
  readonly session: string;
}

/** The code with which a host finds the signed-in user, and signs users out. */
interface Sessions {
  /** The type imports and type declarations that the code needs. */
  readonly types: string;
  /** The type of the last argument of the host's methods. Empty if the methods do not need it. */
  readonly context: string;
  readonly signedIn: string;
  readonly signOut: string;
}

const USER_ID = `return userId === undefined ? null : { provider: 'users', id: String(userId) };`;

const PASSPORT: Sessions = {
  types: "import type { Request } from 'express';\nimport type {} from 'passport';\n",
  context: 'Request',
  signedIn: `async signedIn(_, request) {
    const user = request.user« as { id: string | number } | undefined»;
    return user === undefined ? null : { provider: 'users', id: String(user.id) };
  },`,
  signOut: `signOut: (_, request) =>
    new Promise((resolve, reject) => {
      request.logout((error) => (error ? reject(error) : resolve()));
    }),`,
};

/** The host's code for each session library. The name `userId` is the same as in the guides. */
const SESSIONS: Readonly<Record<string, Sessions>> = {
  'express-session': {
    types: `import type { Request } from 'express';
import type {} from 'express-session';

declare module 'express-session' {
  interface SessionData {
    userId: string;
  }
}
`,
    context: 'Request',
    signedIn: `async signedIn(_, { session: { userId } }) {
    ${USER_ID}
  },`,
    signOut: `signOut: (_, req) =>
    new Promise((resolve, reject) => {
      req.session.regenerate((error) => (error ? reject(error) : resolve()));
    }),`,
  },
  passport: PASSPORT,
  '@fastify/session': {
    types: `import type { FastifyRequest } from 'fastify';
import type {} from '@fastify/session';

declare module 'fastify' {
  interface Session {
    userId?: string;
  }
}
`,
    context: 'FastifyRequest',
    signedIn: `async signedIn(_, { session: { userId } }) {
    ${USER_ID}
  },`,
    signOut: 'signOut: (_, request) => request.session.regenerate(),',
  },
  '@hono/session': {
    types: `import type { SessionEnv } from '@hono/session';
import type { Context } from 'hono';
`,
    context: 'Context<SessionEnv<{ userId?: string }>>',
    signedIn: `async signedIn(_, c) {
    const userId = (await c.var.session.get())?.userId;
    ${USER_ID}
  },`,
    signOut: 'signOut: async (_, c) => c.var.session.delete(),',
  },
  'koa-session': {
    types: "import type { Context } from 'koa';\n",
    context: 'Context',
    signedIn: `async signedIn(_, ctx) {
    const userId = ctx['session']?.userId;
    ${USER_ID}
  },`,
    signOut: `async signOut(_, ctx) {
    ctx['session'] = null;
  },`,
  },
};

/**
 * The host's code if no known session library is installed. It uses the signed cookie of the
 * session file.
 */
const COOKIE: Sessions = {
  types: '',
  context: '',
  signedIn: `async signedIn(request) {
    const userId = userIdOf(request.headers.get('cookie'));
    return userId === null ? null : { provider: 'users', id: userId };
  },`,
  signOut: `async signOut(request) {
    signedOut.add(request);
  },
  commit(request, response) {
    if (signedOut.has(request)) response.headers.append('Set-Cookie', endSession());
  },`,
};

/** The code with which a host finds the IP address of a request. */
interface Address {
  /** The type of the last argument of the host's methods. */
  readonly context: string;
  readonly clientAddress: string;
}

/** The code for frameworks in which Portico cannot read the address from the request itself. */
const ADDRESSES: Readonly<Partial<Record<Framework, Address>>> = {
  sveltekit: {
    context: '{ getClientAddress(): string }',
    clientAddress: '\n  clientAddress: (_, event) => event.getClientAddress(),',
  },
};

const START_ONCE = `
async function start() {
  const server = authorizationServerOf(await startApplication(definition));
  return { server, endpoints: createHandler(server) };
}

let started«: ReturnType<typeof start> | undefined»;

/** Returns Portico. The first request starts it. */
export const portico = () => (started ??= start());
`;

/** The code that starts the application in each framework. */
const STARTS: Readonly<Partial<Record<Framework, string>>> = {
  next: `
export const { handlers, withToken } = portico(async () => {
  const application = await startApplication(definition);
  return [authorizationServerOf(application)];
});
`,
  nest: `
export async function startPortico()«: Promise<PorticoOptions>» {
  const application = await startApplication(definition);
  return { server: authorizationServerOf(application), close: () => application.close() };
}
`,
  sveltekit: START_ONCE,
  'react-router': START_ONCE,
};

const MOUNT_IMPORTS: Readonly<Partial<Record<Framework, string>>> = {
  next: "import { portico } from 'portico/next';\n",
  nest: "«import type { PorticoOptions } from 'portico/nest';\n»",
  sveltekit: "import { createHandler } from 'portico/fetch';\n",
  'react-router': "import { createHandler } from 'portico/fetch';\n",
};

const STARTS_SERVER = `
/** Starts the server. Call it once, when your application starts. */
export async function startPortico() {
  return authorizationServerOf(await startApplication(definition));
}
`;

/** Returns the content of the host file. */
export function hostFile(file: HostFile): string {
  const { answers, detected } = file;
  const isCookie = detected.session === null;
  const sessions = SESSIONS[detected.session ?? ''] ?? COOKIE;
  const address = ADDRESSES[answers.framework];
  const context = address?.context ?? sessions.context;
  const type = context === '' ? 'Host' : `Host<${context}>`;
  const variable = answers.database.engine === 'sqlite' ? 'USERS_DATABASE' : 'DATABASE_URL';
  const imports = isCookie ? `import { endSession, userIdOf } from '${file.session}';\n` : '';
  return `import {
  authorizationServerOf,
  defineApplication,
  oauthServer,
  startApplication,
«  type Host,
»} from 'portico';
${MOUNT_IMPORTS[answers.framework] ?? ''}${imports}import { openUsers } from '${file.users}';
«${sessions.types}»${isCookie ? `\nconst signedOut = new WeakSet«<Request>»();\n` : ''}
const hostOf = (users«: ReturnType<typeof openUsers>»)«: ${type}» => ({
  ${sessions.signedIn}
  // Read it fresh: a suspended account's tokens stop working with the next call.
  async loadAccount(reference) {
    const user = await users.byId(reference.id);
    if (user === null) return null;
    return {
      reference,
      isActive: () => true, // return false here for a suspended account
      getProfile: () => ({ name: user.name, email: user.email }),
    };
  },
  // Every person with an account may grant this scope. Add your own rule here.
  async holdsPermission({ id }, permission) {
    return permission === 'data:read' && (await users.byId(id)) !== null;
  },
  loginUrl: '/login', // your sign-in page; it ends with a redirect to returnPath(return_to)
  ${sessions.signOut}${address?.clientAddress ?? ''}
});

const definition = defineApplication({
  config: (env) => ({
    public_url: env['PUBLIC_URL'],
${databaseSettings(file)}    oauth_server: { name: ${quote(file.name)}, scopes: { 'data:read': 'Read your data' } },
  }),
  plugins: [oauthServer({ host: ({ env }) => hostOf(openUsers(env['${variable}'])) })],
});
export default definition;
${STARTS[answers.framework] ?? STARTS_SERVER}`;
}

/** Returns the settings for Portico's own tables, or an empty string if the defaults fit. */
function databaseSettings({ answers: { database }, detected }: HostFile): string {
  const tools = ['@prisma/client', 'drizzle-orm', 'knex'];
  if (database.engine === 'postgres' && tools.includes(detected.database ?? ''))
    return "    database_schema: 'portico', // your schema tool leaves these tables alone\n";
  if (database.engine === 'sqlite' && detected.env['DATABASE_URL'] !== undefined)
    return "    database_url: 'sqlite:storage/app.sqlite', // Portico's own tables\n";
  return '';
}

const quote = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&').replaceAll(/[\r\n]/g, ' ')}'`;
