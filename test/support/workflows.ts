import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type * as Yaml from 'yaml';
import { ROOT } from './console.ts';

/** The workflows for GitHub. */

export interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}

export interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

export const WORKFLOWS = path.join(ROOT, '.github', 'workflows');
export const FILES = globSync('*.yml', { cwd: WORKFLOWS }).toSorted();

const inspector = createRequire(
  path.join(ROOT, 'node_modules/@modelcontextprotocol/inspector/package.json'),
);
const { parse } = inspector('yaml') as typeof Yaml;

export const read = (file: string) => readFileSync(path.join(WORKFLOWS, file), 'utf8');
export const workflow = (file: string) => parse(read(file)) as Workflow;
