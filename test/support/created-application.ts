// Applications to which create-portico adds Portico, and a code flow in them.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { DatabaseSync } from 'node:sqlite';
import { createPortico } from '../../packages/create-portico/src/index.ts';
import { ROOT } from './console.ts';
import { createVisitor, locationOf, type Visitor } from './visitor.ts';

export const REDIRECT = 'http://localhost:4000/callback';

/** What a run of create-portico did. */
export interface Created {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs create-portico in a folder. Each answer is a line that the person types. */
export async function create(
  cwd: string,
  args: readonly string[],
  answers: readonly string[] = [],
): Promise<Created> {
  let [stdout, stderr] = ['', ''];
  const code = await createPortico(args, {
    cwd,
    input: Readable.from(answers.map((line) => `${line}\n`)),
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
  });
  return { code, stdout, stderr };
}

/** Writes files below a folder. Objects become JSON. */
export function write(folder: string, files: Readonly<Record<string, string | object>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }
}

/** Gives an application the packages of this workspace. */
export function link(folder: string): void {
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
}

/** Creates a users table with one person. */
export function createUsers(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  using database = new DatabaseSync(file);
  database.exec(`CREATE TABLE people (nr INTEGER PRIMARY KEY, mail TEXT, full_name TEXT);
    INSERT INTO people VALUES (7, 'ada@example.com', 'Ada Lovelace')`);
}

/** The options that describe this table. */
export const USERS = [
  '--database=data.sqlite',
  '--users-table=people',
  '--id-column=nr',
  '--email-column=mail',
  '--name-column=full_name',
];

/** Returns the lines that create-portico asks to add, one list for each place. */
export function linesToAdd(stdout: string): readonly (readonly string[])[] {
  return [...stdout.matchAll(/^Add to .*:\n((?: {2}.*\n)+)/gm)].map(([, lines = '']) =>
    lines.trim().split(/\n */),
  );
}

export interface Client {
  readonly id: string;
  readonly secret: string;
}

/** Reads the client from the output of `oauth:client:create`. */
export function clientIn(stdout: string): Client {
  const [, id = ''] = /client id: +(\S+)/.exec(stdout) ?? [];
  const [, secret = ''] = /client secret: +(\S+)/.exec(stdout) ?? [];
  return { id, secret };
}

/** A started program. */
export interface Running {
  readonly output: () => string;
  stop(): Promise<void>;
}

/** Starts a program, and waits until it answers at this URL. */
export async function startProgram(
  folder: string,
  [program = '', ...args]: readonly string[],
  url: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const running = { output: () => text, stop: () => stop(child) };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The program ended:\n${text}`);
    const answer = await fetch(`${url}/.well-known/openid-configuration`).catch(() => null);
    if (answer?.ok === true) return running;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/**
 * Runs the code flow with PKCE. `signIn` fills in the application's sign-in page, and returns the
 * next URL. Returns the tokens, and the claims of UserInfo.
 */
export async function runCodeFlow(
  url: string,
  client: Client,
  scope: string,
  signIn: (visitor: Visitor, page: Response) => Promise<Response> = async (_, page) => page,
) {
  const verifier = randomBytes(32).toString('base64url');
  const visitor = createVisitor(url);
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: REDIRECT,
    scope,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'here',
  });
  const first = await visitor.visit(`${url}/oauth/authorize?${asked}`);
  const consent = await signIn(visitor, first);
  const callback = locationOf(await visitor.submit(consent, { decision: 'allow' }));
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    }),
  });
  const tokens = (await response.json()) as { access_token: string; scope: string };
  const userInfo = await fetch(`${url}/oauth/userinfo`, {
    headers: { Authorization: `Bearer ${tokens.access_token}` },
  });
  return { tokens, claims: (await userInfo.json()) as Readonly<Record<string, unknown>> };
}

export const read = (folder: string, file: string) => readFileSync(path.join(folder, file), 'utf8');
