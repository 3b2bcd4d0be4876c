import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Everything that the driver needs to send requests to a target. Paths begin with a slash. */
export interface Seeded {
  /** The client with the grant client_credentials. It uses HTTP Basic, as all clients do. */
  readonly service: Credentials;
  /**
   * The client with the grants authorization_code and refresh_token, and the redirect URI below.
   */
  readonly web: Credentials;
  /**
   * A client like `web` whose ID tokens use ES256. It is null if the target does not support this.
   */
  readonly webES256: Credentials | null;
  /** The client that may introspect the tokens of the others. */
  readonly inspector: Credentials;
  /** The person's password, if it differs from that of PERSON. */
  readonly password?: string;
  /**
   * The token with which any number of clients can register themselves. Missing if clients cannot
   * register themselves.
   */
  readonly initialAccessToken?: string;
  /**
   * The `scope` of each kind of request: for the application itself, for a person without OpenID
   * Connect, and for a person with OpenID Connect.
   */
  readonly scopes: { readonly service: string; readonly plain: string; readonly openid: string };
  /** The target's public address, if it accepts tokens that are bound to a key (DPoP). */
  readonly provesTo?: string;
  /** The paths of the endpoints. A path is null if the target does not have the endpoint. */
  readonly paths: {
    readonly authorize: string;
    readonly token: string;
    readonly introspect: string | null;
    readonly userinfo: string | null;
    readonly revoke?: string;
    /** The page that lists a person's applications. */
    readonly applications?: string;
    /**
     * An endpoint of the application that needs the scope `scopes.service`. Its response names the
     * person.
     */
    readonly protected: string | null;
    /** An MCP endpoint that has the tool `my_name`. */
    readonly mcp?: string | null;
    readonly discovery: string | null;
    readonly keys: string | null;
  };
}

export interface Credentials {
  readonly id: string;
  readonly secret: string;
  /**
   * The key that signs an assertion for each request, and the audience of these assertions. The
   * client then has no secret.
   */
  readonly signs?: { readonly pem: string; readonly audience: string };
}

/** The only person who signs in. */
export const PERSON = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  password: 'correct horse battery staple',
} as const;
export const REDIRECT_URI = 'https://client.example/callback';

/** The place where a target runs. */
export interface Place {
  /** The absolute path of the target's own folder, for its database and keys. */
  readonly directory: string;
  /** The URL of the database: `sqlite:<file>` or `postgres://…`. */
  readonly database: string;
  readonly port: number;
  /** The target's public address, `http://127.0.0.1:<port>`. */
  readonly url: string;
}

export interface Target {
  /**
   * Creates the schema, the person, the keys and the clients. It runs once, in a separate process.
   */
  seed(place: Place): Promise<Seeded>;
  /** Starts to listen. */
  serve(place: Place): Promise<unknown>;
}

/** Returns the place where this process runs. `Bench` sets it in the environment. */
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
 * The main function of every target. `seed` prints what it created as JSON. `serve` runs until it
 * is stopped.
 */
export async function runTarget(target: Target): Promise<void> {
  const place = placeOfProcess();
  if (process.argv[2] === 'seed') {
    process.stdout.write(`${JSON.stringify(await target.seed(place))}\n`, () => process.exit(0));
  } else {
    // Exit normally, so that Node writes the profile if one was requested.
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
