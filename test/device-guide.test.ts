// @engines sqlite: it runs the program of the guide
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './support/console.ts';
import { decide, DEVICES, registerDevice } from './support/device.ts';
import { blocksOf } from './support/documents.ts';
import { ADA, startPortal } from './support/portal.ts';
import { RUNS_ALL } from './support/scale.ts';

const GUIDE = 'docs/signing-in-on-a-device.md';

// @shows AS-48.1
test.runIf(RUNS_ALL)(
  'the program in the device guide signs in, and prints what the guide shows',
  async () => {
    const portal = await startPortal({ config: DEVICES });
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-device-'));
    onTestFinished(async () => {
      await portal.close();
      await rm(folder, { recursive: true });
    });
    const page = await readFile(path.join(ROOT, GUIDE), 'utf8');
    const program = blocksOf(GUIDE, page).find(({ file }) => file === 'television.mjs');
    const file = path.join(folder, 'television.mjs');
    await writeFile(file, program?.code ?? '');
    const tv = await registerDevice(portal, { public: true, scopes: ['openid', 'notes:read'] });
    const running = spawn(process.execPath, [file, portal.url, tv.id], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    const ended = new Promise((resolve) => running.on('close', resolve));
    const code = new Promise<string>((resolve) => {
      running.stdout.on('data', (data: Buffer) => {
        printed += data.toString();
        const found = /enter (\S+)\n/.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    const begun = { user_code: await code } as Parameters<typeof decide>[1];
    await decide(await portal.signedIn(ADA), begun);
    expect(await ended).toBe(0);
    const [, shown = ''] = /```console\n\$ node television\.mjs .*\n([^]*?)```/.exec(page) ?? [];
    const general = (text: string) =>
      text
        .replaceAll(/https?:\/\/[^/\s]+/g, 'ORIGIN')
        .replaceAll(/(?:[B-Z]{3}-){2}[B-Z]{3}/g, 'CODE');
    expect(general(printed)).toBe(general(shown));
  },
);
