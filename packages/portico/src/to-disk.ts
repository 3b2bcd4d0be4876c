import { open } from 'node:fs/promises';

/** Flushes the content of a file, or the names in a folder, to disk. */
export async function toDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
