import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  listen,
  startApplication,
  type Application,
  type ApplicationDefinition,
} from '@portico/kit';
import { mergeConfig } from 'portico';
import { CHEAP, hashingWith } from './hashers.ts';
import { createDatabase } from './database.ts';
import { freePort } from './free-port.ts';

/** A running example application with its own storage and port. */
export interface RunningApplication {
  readonly url: string;
  readonly application: Application;
  /** Stops the application, and starts it again with the same storage. */
  restart(): Promise<RunningApplication>;
  close(): Promise<void>;
}

export async function startExample(definition: ApplicationDefinition): Promise<RunningApplication> {
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-example-'));
  const database = await createDatabase(storage);
  const port = await freePort();
  const env = {
    APP_ENV: 'dev',
    PORT: String(port),
    STORAGE_DIR: storage,
    DATABASE_URL: database.url,
  };
  const logged: ApplicationDefinition = {
    ...hashingWith(CHEAP, definition),
    config: (given) =>
      mergeConfig(
        typeof definition.config === 'function' ? definition.config(given) : definition.config,
        {
          log: { path: path.join(storage, 'app.log') },
        },
      ),
  };

  async function start(): Promise<RunningApplication> {
    const application = await startApplication(logged, { env });
    if ((definition.migrations ?? []).length > 0) await application.migrate();
    const running = await listen(application, { port, hostname: '127.0.0.1' });
    const stop = async () => {
      await running.close();
      await application.close();
    };
    return {
      url: `http://localhost:${port}`,
      application,
      async restart() {
        await stop();
        return start();
      },
      async close() {
        await stop();
        await database.drop();
        await rm(storage, { recursive: true, force: true });
      },
    };
  }

  return start();
}
