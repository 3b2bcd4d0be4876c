import { z, type ZodType } from 'zod';
import { seconds, trueOrFalse } from '../config.ts';
import { LONGEST_LIFETIME } from '../keys/times.ts';
import { basePathSchema, publicUrlSchema } from './public-url.ts';
import { signInLinksSchema } from './sign-in-links.ts';

/** Empty, or a name for a PostgreSQL schema that is not reserved or too long. */
const SCHEMA_NAME = /^(?:(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62})?$/;

const FOURTEEN_DAYS = 14 * 24 * 3600;

/** The kit's keys with the same defaults in every environment. */
const sameEverywhere = {
  base_path: basePathSchema.default(''),
  base_path_stripped: trueOrFalse.default(false),
  csrf_exempt_routes: z
    .record(z.string(), trueOrFalse, {
      error: 'must be an object that maps route names to true or false',
    })
    .default({}),
  database_url: z.string({ error: 'must be a URL such as sqlite:storage/app.sqlite' }),
  database_schema: z
    .string({ error: 'must be the name of a PostgreSQL schema, or empty' })
    .regex(
      SCHEMA_NAME,
      'must be empty, or at most 63 letters, digits and underscores; it must not begin with a ' +
        'digit or with pg_',
    )
    .default(''),
  database_pool_size: z
    .int({ error: 'must be a whole number of connections' })
    .min(1, 'must be at least 1')
    .max(1000, 'must be at most 1000')
    .default(10),
  database_connection_lifetime: seconds.default(300),
  database_statement_timeout: z
    .int({ error: 'must be a whole number of seconds' })
    .min(1, 'must be at least 1 second')
    .max(3600, 'must be at most 3600 seconds (an hour)')
    .default(10),
  body_limit: z
    .int({ error: 'must be a whole number of bytes' })
    .min(1024, 'must be at least 1024 bytes')
    .default(1024 * 1024),
  trusted_proxies: z
    .int({ error: 'must be the number of proxies in front of the application' })
    .min(0, 'must be 0 or more')
    .default(0),
  sign_in_scripts: trueOrFalse.default(false),
  sign_in_show_password: trueOrFalse.default(false),
  sign_in_links: signInLinksSchema.optional(),
  session_ttl: z
    .int({ error: 'must be a whole number of seconds' })
    .min(60, 'must be at least 60 seconds')
    .max(LONGEST_LIFETIME, `must be at most ${LONGEST_LIFETIME} seconds (100 years)`)
    .default(FOURTEEN_DAYS),
  log: z
    .strictObject({
      path: z
        .string({ error: 'must be a file name, or "-" for standard output' })
        .default('logs/app.log'),
      level: z
        .enum(['debug', 'info', 'warning', 'error'], {
          error: 'must be "debug", "info", "warning" or "error"',
        })
        .default('info'),
    })
    .prefault({}),
} satisfies Readonly<Record<string, ZodType>>;

/** `databaseUrl` is the default of `database_url`. */
export function kitConfiguration(mode: 'dev' | 'prod', databaseUrl: string) {
  return {
    public_url: publicUrlSchema(mode),
    ...sameEverywhere,
    database_url: sameEverywhere.database_url.default(databaseUrl),
  };
}

/** The kit's configuration after validation, with defaults. */
export type KitConfig = {
  [Key in keyof ReturnType<typeof kitConfiguration>]: z.output<
    ReturnType<typeof kitConfiguration>[Key]
  >;
};
