import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the driver must know to put work to a target. Paths begin with a slash. */
export interface Seeded {
  /** Has the grant client_credentials. Authenticates by HTTP Basic, as all do. */
  readonly service: Credentials;
  /** Has the grants authorization_code and refresh_token, and the redirect URI below. */
  readonly web: Credentials;
  /** As `web`, with ES256 for its ID tokens; null for a target that has no such thing. */
  readonly webES256: Credentials | null;
  /** May introspect what the others hold. */
  readonly inspector: Credentials;
  /** PERSON's here, where it is another. */
  readonly password?: string;
  /** With what any number of clients may register themselves; left out where none may. */
  readonly initialAccessToken?: string;
  /**
   * The `scope` of each: for the application itself, for a person without and with OpenID Connect.
   */
  readonly scopes: { readonly service: string; readonly plain: string; readonly openid: string };
  /** Its public address, where it takes tokens that are bound to a key (DPoP). */
  readonly provesTo?: string;
  /** Null for what a target does not have. */
  readonly paths: {
    readonly authorize: string;
    readonly token: string;
    readonly introspect: string | null;
    readonly userinfo: string | null;
    readonly revoke?: string;
    /** The page of a person's applications. */
    readonly applications?: string;
    /**
     * An endpoint of the application that needs the scope of `scopes.service`, and names the
     * person.
     */
    readonly protected: string | null;
    /** An MCP endpoint with the tool `my_name`. */
    readonly mcp?: string | null;
    readonly discovery: string | null;
    readonly keys: string | null;
  };
}

export interface Credentials {
  readonly id: string;
  readonly secret: string;
  /** With which it signs an assertion for each request, in place of the secret, and for whom. */
  readonly signs?: { readonly pem: string; readonly audience: string };
}

/** The one person who signs in, over and over. */
export const PERSON = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  password: 'correct horse battery staple',
} as const;
export const REDIRECT_URI = 'https://client.example/callback';

/** Where a target runs. */
export interface Place {
  /** Its own folder, absolute, for its database and keys. */
  readonly directory: string;
  /** `sqlite:<file>` or `postgres://…`. */
  readonly database: string;
  readonly port: number;
  /** Its public address, `http://127.0.0.1:<port>`. */
  readonly url: string;
}

export interface Target {
  /** Makes the schema, the person, the keys and the clients, once, in a separate process. */
  seed(place: Place): Promise<Seeded>;
  /** Listens. */
  serve(place: Place): Promise<unknown>;
}

/** Where this process runs, as `Bench` told it. */
export function placeOfProcess(): Place {
  const {
    BENCH_DIRECTORY: directory = '',
    BENCH_DATABASE: database = '',
    BENCH_PORT = '',
  } = process.env;
  const port = Number(BENCH_PORT);
  return { directory, database, port, url: `http://127.0.0.1:${port}` };
}

/**
 * The main of every target: `seed` prints what was made as JSON, `serve` goes on until it is ended.
 */
export async function runTarget(target: Target): Promise<void> {
  const place = placeOfProcess();
  if (process.argv[2] === 'seed') {
    process.stdout.write(`${JSON.stringify(await target.seed(place))}\n`, () => process.exit(0));
  } else {
    // So that a profile which Node was asked for is written.
    process.once('SIGTERM', () => process.exit(0));
    await target.serve(place);
  }
}

/** Listens on the loopback address. */
export async function listenOn(server: Server, port: number): Promise<AddressInfo> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
