// @engines sqlite: the database makes no difference
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { examineAssistant, type DirectoryName } from '@portico/assistant';
import type { ToolAnnotations, ToolInterface } from '@portico/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { portico, ROOT } from './support/console.ts';

const tool = (
  name: string,
  title: string | null,
  annotations: ToolAnnotations | null,
): ToolInterface => ({
  name: () => name,
  description: () => `The tool ${name}`,
  inputSchema: () => ({ type: 'object' }),
  ...(title === null ? {} : { title: () => title }),
  ...(annotations === null ? {} : { annotations: () => annotations }),
  handle: () => name,
});

const READS = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const LONGEST = 'x'.repeat(64);

const TOOLS: readonly ToolInterface[] = [
  tool('reads', 'Reads', READS),
  tool('deletes', null, {
    title: 'Deletes',
    readOnlyHint: false,
    destructiveHint: true,
    openWorldHint: false,
  }),
  tool('bare', null, null),
  tool('half', 'Half', { readOnlyHint: false }),
  tool('read_only', 'Read only', { readOnlyHint: true }),
  tool(LONGEST, 'Long', READS),
  tool(`${LONGEST}x`, 'Too long', READS),
];

let assistant: RunningAssistant;

beforeAll(async () => {
  assistant = await startAssistant({ tools: TOOLS });
});
afterAll(() => assistant.close());

async function refusedBy(name: DirectoryName): Promise<Readonly<Record<string, string>>> {
  const { checks, healthy } = await examineAssistant(assistant.application, {
    serverOnly: true,
    directories: [name],
  });
  expect(healthy).toBe(false);
  const found = checks.filter(({ part }) => part === `directory ${name}`);
  const refused = found.map(({ detail }) => / would refuse (\w+): (.*)$/.exec(detail) ?? []);
  return Object.fromEntries(refused.map(([, refusedTool = '', why = '']) => [refusedTool, why]));
}

const NO_TITLE = 'it has no title';
const NO_HINT = 'its annotations must have readOnlyHint: true or a destructiveHint';
const ALL_HINTS = 'its annotations lack readOnlyHint, destructiveHint, openWorldHint';

describe('assistant:doctor', () => {
  // @shows MCP-17.6
  test('reports which tools the directory of Claude would refuse, and why', async () => {
    expect(await refusedBy('claude')).toEqual({
      service_status: `${NO_TITLE}; ${NO_HINT}`,
      my_account: `${NO_TITLE}; ${NO_HINT}`,
      bare: `${NO_TITLE}; ${NO_HINT}`,
      half: NO_HINT,
      [`${LONGEST}x`]: 'its name is longer than 64 characters',
    });
  });

  // @shows MCP-17.6
  test('reports which tools the directory of ChatGPT would refuse, and why', async () => {
    expect(await refusedBy('chatgpt')).toEqual({
      service_status: ALL_HINTS,
      my_account: ALL_HINTS,
      bare: ALL_HINTS,
      half: 'its annotations lack destructiveHint, openWorldHint',
      read_only: 'its annotations lack destructiveHint, openWorldHint',
    });
  });

  // @shows MCP-17.6
  test('prints nothing about directories without the option', async () => {
    const { checks } = await examineAssistant(assistant.application, { serverOnly: true });
    expect(checks.filter(({ part }) => part.startsWith('directory'))).toEqual([]);
  });

  // @shows MCP-17.6
  test('accepts the directories as an option, and fails if one would refuse a tool', async () => {
    const storage = await mkdtemp(path.join(tmpdir(), 'portico-directories-'));
    const run = (...args: readonly string[]) =>
      portico(['assistant:doctor', '--server-only', '--json', ...args], {
        cwd: path.join(ROOT, 'examples', 'assistant'),
        env: { STORAGE_DIR: storage, DATABASE_URL: `sqlite://${path.join(storage, 'app.db')}` },
      });
    try {
      const { code, stdout } = await run('--directory', 'claude', 'chatgpt');
      expect(code).toBe(1);
      expect(stdout).toContain("Claude's directory would refuse service_status: ");
      expect(stdout).toContain("ChatGPT's directory would refuse service_status: ");
      const unknown = await run('--directory', 'alexa');
      expect([unknown.code, unknown.stdout]).toEqual([1, '']);
      expect(unknown.stderr).toContain('claude, chatgpt');
    } finally {
      await rm(storage, { recursive: true, force: true });
    }
  });
});
