import { open } from 'node:fs/promises';

/** Flushes a file's content, or a folder's names, to disk. */
export async function toDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
