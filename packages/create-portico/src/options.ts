// The command-line options.
import { parseArgs } from 'node:util';
import { Failure } from './failure.ts';

const OPTIONS = {
  yes: { type: 'boolean', short: 'y' },
  'dry-run': { type: 'boolean' },
  framework: { type: 'string' },
  database: { type: 'string' },
  'users-table': { type: 'string' },
  'id-column': { type: 'string' },
  'email-column': { type: 'string' },
  'name-column': { type: 'string' },
  url: { type: 'string' },
  redirect: { type: 'string' },
  portico: { type: 'string' },
  'no-install': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

export type Options = ReturnType<typeof readOptions>;

export const HELP = `Usage: npm create portico [folder] -- [options]

Adds Portico to the application in the folder, or creates a new application in an
empty folder. Never overwrites a file.

Options:
  -y, --yes                   ask nothing: use the options and what is detected
  --dry-run                   show the plan, and write nothing
  --framework <name>          next, sveltekit, react-router, nest, fastify, hono, koa,
                              express or node; in an empty folder: kit, express,
                              fastify, hono, koa or node
  --database <file or URL>    your users' database: a SQLite file, postgres://… or
                              mysql://…
  --users-table <name>        the table with your users (default: users)
  --id-column <name>          its column with the id (default: id)
  --email-column <name>       its column with the e-mail address (default: email)
  --name-column <name>        its column with the name (default: name)
  --url <url>                 the public URL (default: http://localhost:3000)
  --redirect <url>            the redirect URI of the first client (default:
                              http://localhost:4000/callback)
  --portico <path or version> the version of Portico, or the folder of the files that
                              \`npm run pack\` writes
  --no-install                install nothing and run no commands: show them
  -v, --version               show the version
  -h, --help                  show this text

Exit codes: 0 done, 1 a step failed, 2 wrong input, 130 cancelled.
`;

/** Reads the command-line arguments. Throws a `Failure` if an option is unknown or invalid. */
export function readOptions(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
    });
    if (positionals.length > 1) throw new Error('Give one folder, not several.');
    for (const [name, value] of Object.entries(values))
      if (typeof value === 'string' && (value === '' || /[\p{Cc}]/u.test(value)))
        throw new Error(`--${name} is empty or contains a line break.`);
    return { ...values, folder: positionals[0] ?? '.' };
  } catch (error) {
    throw new Failure(
      `${(error as Error).message}\nnpm create portico -- --help lists the options.`,
    );
  }
}
