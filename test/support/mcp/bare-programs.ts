import path from 'node:path';
import { ROOT } from '../console.ts';
import type { ClientProgram } from './bare-client.ts';
import { goClient, once, pythonClient, rustClient } from './toolchains.ts';

const typescript = (file: string) => () =>
  Promise.resolve([process.execPath, path.join(ROOT, 'test', 'clients', 'typescript', file)]);

/** The official SDKs, the inspector and mcp-remote, as `test/clients/` has them. */
export const PROGRAMS: readonly ClientProgram[] = [
  { name: 'TypeScript, @modelcontextprotocol/client 2.x', command: typescript('sdk-2.ts') },
  { name: 'TypeScript, @modelcontextprotocol/sdk 1.x', command: typescript('sdk-1.ts') },
  {
    name: 'mcp-remote',
    command: typescript('mcp-remote.ts'),
    hostname: 'localhost',
    callbackPath: '/oauth/callback',
    listens: true,
  },
  {
    name: 'the inspector',
    command: typescript('inspector.ts'),
    callbackPath: '/oauth/callback',
    listens: true,
  },
  { name: 'Python', command: once(pythonClient), registersAnew: false },
  { name: 'Go', command: once(goClient) },
  { name: 'Rust', command: once(rustClient), registersAnew: false },
];
