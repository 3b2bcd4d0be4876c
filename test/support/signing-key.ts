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
  /** The name of the file, without the time at its beginning. */
  readonly name: string;
  readonly content: string;
  /** The directory in which the key was last used. */
  directory: string;
}

/**
 * Keys of this worker whose portals have ended. Tests use them again, because creating an RSA key
 * takes a tenth of a second.
 */
const spares: SpareKey[] = [];

/**
 * Ensures that there is a signing key, like `oauth:server:setup`. It uses the key of a portal that
 * has ended, if there is one. Unlike setup, it also creates a key for a portal on the database of
 * another portal. Setup would treat such a portal as one that lost its keys.
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
