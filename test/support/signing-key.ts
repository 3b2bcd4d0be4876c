import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  KeyRotationError,
  setUpServer,
  type AuthorizationServer,
  type ExaminedApplication,
} from 'portico';

interface SpareKey {
  /** As in the name of its file, after the time. */
  readonly name: string;
  readonly content: string;
  /** The directory of its last use. */
  directory: string;
}

/** Keys of this worker whose portals have ended. An RSA key takes a tenth of a second to make. */
const spares: SpareKey[] = [];

/**
 * Like `oauth:server:setup`. Uses the key of an ended portal if there is one. Also makes a key for
 * a portal on the database of another one, which setup would treat as a portal that lost its keys.
 *
 * @param reuse Whether the key may be one of an earlier test.
 */
export async function ensureSigningKey(
  application: ExaminedApplication,
  server: AuthorizationServer,
  reuse = false,
): Promise<void> {
  const directory = server.config.key_path;
  if (reuse && server.config.profile === undefined && !existsSync(directory))
    await putSpare(directory);
  try {
    const { signing_key: key } = await setUpServer(application, server);
    if (reuse && key.created) await keepSpare(directory);
  } catch (error) {
    if (!(error instanceof KeyRotationError)) throw error;
    await server.keys.generate(server.config.profile === undefined ? 'RS256' : 'ES256');
  }
}

async function putSpare(directory: string): Promise<void> {
  const spare = spares.find((each) => !existsSync(each.directory));
  if (spare === undefined) return;
  spare.directory = directory;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(path.join(directory, `${Date.now()}-${spare.name}`), spare.content, {
    mode: 0o600,
  });
}

async function keepSpare(directory: string): Promise<void> {
  for (const file of await readdir(directory)) {
    const [, name] = /^\d+-([\w-]+\.json)$/.exec(file) ?? [];
    if (name === undefined) continue;
    spares.push({ name, content: await readFile(path.join(directory, file), 'utf8'), directory });
  }
}
