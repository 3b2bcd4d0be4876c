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

  test('prints where to go and as whom to sign in, and both work', async () => {
    const both = await startBoth();
    expect(both.stdout()).toContain(`http://localhost:${env['PORT']}`);
    expect(both.stdout()).toContain(`http://localhost:${env['RP_PORT']}`);
    expect(both.stdout()).toContain('ada@example.com');
    for (const port of [env['PORT'], env['RP_PORT']])
      expect((await fetch(`http://localhost:${port}/`)).status).toBe(200);
    expect(await both.stop('SIGINT')).toBe(0);
  });

  test('a second start keeps the people and the client', async () => {
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

  test('the relying party reaches consent with its client', async () => {
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

  test('a port in use is reported in one clear line', async () => {
    const both = await startBoth();
    const second = start([path.join(ROOT, 'examples', 'start.ts')], { cwd: ROOT, env });
    await second.says(`Port ${env['PORT']} is in use`);
    expect(second.stderr().trimEnd().split('\n')).toHaveLength(1);
    expect(await second.ended()).toBe(1);
    await both.stop();
  });

  test('under APP_ENV=prod nothing is seeded', async () => {
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
