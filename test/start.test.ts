// @engines sqlite, long: npm start uses SQLite
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { portico, ROOT, start, type RunningProcess } from './support/console.ts';
import { freePort } from './support/free-port.ts';
import { createVisitor } from './support/visitor.ts';

describe('npm start', () => {
  let storage: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    storage = await mkdtemp(path.join(tmpdir(), 'portico-start-'));
    env = {
      STORAGE_DIR: storage,
      PORT: String(await freePort()),
      RP_PORT: String(await freePort()),
    };
  });
  afterAll(() => rm(storage, { recursive: true, force: true }));

  async function startBoth(more: Record<string, string> = {}): Promise<RunningProcess> {
    const started = start([path.join(ROOT, 'examples', 'start.ts')], {
      cwd: ROOT,
      env: { ...env, ...more },
    });
    await started.says('Ctrl+C');
    return started;
  }

  const kept = async () =>
    JSON.parse(await readFile(path.join(storage, 'relying-party.json'), 'utf8')) as unknown;

  test('prints the URLs and the accounts for sign-in, and both applications respond', async () => {
    const both = await startBoth();
    expect(both.stdout()).toContain(`http://localhost:${env['PORT']}`);
    expect(both.stdout()).toContain(`http://localhost:${env['RP_PORT']}`);
    expect(both.stdout()).toContain('ada@example.com');
    for (const port of [env['PORT'], env['RP_PORT']])
      expect((await fetch(`http://localhost:${port}/`)).status).toBe(200);
    expect(await both.stop('SIGINT')).toBe(0);
  });

  test('keeps the people and the client when it runs a second time', async () => {
    const before = await kept();
    const both = await startBoth();
    expect(await kept()).toEqual(before);
    const listed = await portico(['account:list', '--json'], {
      cwd: path.join(ROOT, 'examples', 'portal'),
      env,
    });
    expect((JSON.parse(listed.stdout) as { email: string }[]).map(({ email }) => email)).toEqual([
      'ada@example.com',
      'grace@example.com',
    ]);
    expect((await stat(path.join(storage, 'relying-party.json'))).mode & 0o777).toBe(0o600);
    expect(await both.stop()).toBe(0);
  });

  test('starts a relying party that reaches the consent screen with its client', async () => {
    const both = await startBoth();
    const relyingParty = createVisitor(`http://localhost:${env['RP_PORT']}`);
    const signIn = await relyingParty.post('/sign-in', {});
    const portal = createVisitor(`http://localhost:${env['PORT']}`);
    const login = await portal.visit(signIn.headers.get('location') ?? '');
    const back = await portal.submit(login, {
      identifier: 'grace@example.com',
      password: 'portico',
    });
    const consent = await portal.visit(back.headers.get('location') ?? '');
    expect(await consent.clone().text()).toContain('Notebook');
    const answer = await portal.submit(consent, { decision: 'allow' });
    const signedIn = await relyingParty.visit(answer.headers.get('location') ?? '');
    expect(await signedIn.text()).toContain('Grace Hopper');
    await both.stop();
  });

  test('reports a port in use in one clear line', async () => {
    const both = await startBoth();
    const second = start([path.join(ROOT, 'examples', 'start.ts')], { cwd: ROOT, env });
    await second.says(`Port ${env['PORT']} is in use`);
    expect(second.stderr().trimEnd().split('\n')).toHaveLength(1);
    expect(await second.ended()).toBe(1);
    await both.stop();
  });

  test('does not create sample data with APP_ENV=prod', async () => {
    const empty = await mkdtemp(path.join(tmpdir(), 'portico-prod-'));
    const prod = { APP_ENV: 'prod', PUBLIC_URL: 'https://portal.example', STORAGE_DIR: empty };
    const portal = await startBoth(prod);
    expect(portal.stdout()).toContain('RP_CLIENT_ID');
    const listed = await portico(['account:list', '--json'], {
      cwd: path.join(ROOT, 'examples', 'portal'),
      env: { ...env, ...prod },
    });
    expect(listed.stdout).toBe('[]\n');
    await portal.stop();
    await rm(empty, { recursive: true, force: true });
  });
});
