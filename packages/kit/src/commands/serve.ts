import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { AddCommands, Application, ConsoleContext, Plugin } from 'portico';
import {
  Event,
  isSchemaPending,
  SCHEMA_PENDING,
  readSpan,
  STANDARD_OUTPUT,
} from 'portico/extension';
import { listen, type RunningServer } from '../http/server.ts';
import { canHaveWorkers, isWorker, stopMessage, tellListening, Workers } from './workers.ts';

/** The maximum value of `--drain`, in seconds. */
const LONGEST_DRAIN = 3600;
/** The maximum value of `--workers`. */
const MOST_WORKERS = 64;

/**
 * Adds the command `serve`. It answers requests until it receives SIGINT or SIGTERM, and then waits
 * for running requests to finish.
 */
export const addServe =
  (plugins: readonly Plugin<object>[]): AddCommands =>
  (program, context) => {
    program
      .command('serve')
      .description('serve the application until SIGINT or SIGTERM')
      .option('--port <port>', 'the port to listen on (default: PORT, or 8080)')
      .option(
        '--hostname <address>',
        'the address to listen on (default: 127.0.0.1 with APP_ENV=dev, otherwise 0.0.0.0)',
      )
      .option(
        '--drain <span>',
        'how long to keep serving after SIGTERM, while /health/ready returns 503 (default: 0)',
      )
      .option(
        '--workers <count>',
        'how many processes serve requests; on a machine with several CPU cores, use more ' +
          'than one (default: 1)',
      )
      .action(async (options: ServeOptions) => {
        const drain = readSpan(context, '--drain', options.drain ?? '0');
        if (drain > LONGEST_DRAIN)
          context.fail(`--drain must be from 0 to ${LONGEST_DRAIN} seconds`);
        const workers = Number(options.workers ?? 1);
        if (!Number.isInteger(workers) || workers < 1 || workers > MOST_WORKERS)
          context.fail(`--workers must be a whole number from 1 to ${MOST_WORKERS}`);
        if (workers > 1 && !isWorker() && !canHaveWorkers())
          context.fail(
            '--workers does not work under another process manager; use either --workers or ' +
              'that process manager',
          );
        if (workers > 1 && !isWorker())
          await new Workers(context, drain).run(workers, stoppingLine(drain));
        else await serve(plugins, context, options, drain);
      });
  };

/** The options of the command, as strings. */
interface ServeOptions {
  readonly port?: string;
  readonly hostname?: string;
  readonly drain?: string;
  readonly workers?: string;
}

/** Serves the application in this process until a signal or a message stops it. */
async function serve(
  plugins: readonly Plugin<object>[],
  context: ConsoleContext,
  options: ServeOptions,
  drain: number,
): Promise<void> {
  const application = await context.application({ serves: true });
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  if (await isSchemaPending(application, warn)) context.fail(SCHEMA_PENDING);
  const server = await listenAt(application, context, options);
  // Listen for signals before printing the lines. A supervisor may send a signal as soon as it
  // reads the first line.
  const stopped = isWorker() ? stopMessage() : stopSignal();
  warnings.push(...plugins.flatMap((plugin) => plugin.warnings?.(application) ?? []));
  for (const warning of warnings) application.log.warning('{warning}', { warning });
  const lines = [
    `Listening on ${server.url} (public URL: ${application.publicUrl}${application.basePath})`,
    `Logging to ${logDestination(application)}`,
    ...warnings.map((warning) => `Warning: ${warning}`),
  ];
  if (isWorker()) tellListening(lines);
  else for (const line of lines) context.note(line);
  // If only this worker is being replaced, other workers keep answering requests. In this case, the
  // readiness probe must not report that the server is stopping.
  if ((await stopped) === 'stop') {
    if (!isWorker()) context.note(stoppingLine(drain));
    await application.events.emit(Event.STOPPING, null);
    if (drain > 0) await setTimeout(drain * 1000);
  }
  await server.close();
}

async function listenAt(
  application: Application,
  context: ConsoleContext,
  options: ServeOptions,
): Promise<RunningServer> {
  const chosen = options.port ?? application.env['PORT'] ?? '8080';
  const port = Number(chosen);
  // Do not read an empty variable as 0, because the system would then choose the port.
  if (!/^\s*\d{1,5}\s*$/.test(chosen) || port > 65_535)
    context.fail('The port must be from 0 to 65535');
  const hostname = options.hostname ?? (application.mode === 'dev' ? '127.0.0.1' : '0.0.0.0');
  return listen(application, { port, hostname }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      context.fail(`Port ${port} is in use; choose another one with --port or PORT`);
    throw error;
  });
}

function stoppingLine(drain: number): string {
  return drain === 0
    ? 'Stopping after the current requests. To stop now, send the signal again.'
    : `Stopping in ${drain} seconds. Requests are still served, and /health/ready ` +
        'returns 503. To stop now, send the signal again.';
}

function logDestination({ config, directory }: Application): string {
  const { path: file } = config['log'] as { readonly path: string };
  return file === STANDARD_OUTPUT ? 'standard output' : path.resolve(directory, file);
}

const STOP_SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/**
 * Resolves on the first SIGINT or SIGTERM. On a second signal, exits immediately, with the exit
 * code that shells expect.
 */
function stopSignal(): Promise<'stop'> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const [signal, code] of STOP_SIGNALS) {
      process.on(signal, () => {
        if (isStopping) process.exit(code);
        isStopping = true;
        resolve('stop');
      });
    }
  });
}
