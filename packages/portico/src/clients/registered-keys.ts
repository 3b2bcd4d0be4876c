import { subjectProblem } from '../keys/assertions/workloads.ts';
import { RegistrationError } from '../errors.ts';
import { quotedPublic } from '../quoting.ts';
import type { Server } from '../server.ts';
import type { Client, ClientKeys, Workload } from '../store/client.ts';
import { checkClientKeys } from './key-sets.ts';

export interface NamedKeys {
  readonly jwks?: unknown;
  readonly jwksUri?: string;
  readonly tokenEndpointAuthSigningAlg?: string;
  readonly workload?: Workload;
}

/** Returns the client's keys or workload. Returns null if the registration has neither. */
export function checkKeys(
  registration: NamedKeys,
  isPublic: boolean,
  server: Server,
  before: Client | null,
): ClientKeys | null {
  const anyPort = server.fetching.anyPort ?? false;
  return (
    checkWorkload(registration, isPublic, server, before) ??
    checkOwnKeys(registration, isPublic, anyPort, before)
  );
}

function checkOwnKeys(
  registration: NamedKeys,
  isPublic: boolean,
  anyPort: boolean,
  before: Client | null,
): ClientKeys | null {
  const { jwks, jwksUri, tokenEndpointAuthSigningAlg: algorithm } = registration;
  if (jwks === undefined && jwksUri === undefined && algorithm === undefined) return null;
  if (isPublic)
    throw new RegistrationError(
      'A client with keys authenticates with them, so it cannot be public',
    );
  const isKept = jwksUri !== undefined && jwksUri === before?.keys?.jwksUri;
  return checkClientKeys({ jwks, jwksUri, algorithm }, anyPort || isKept);
}

function checkWorkload(
  { workload, jwks, jwksUri, tokenEndpointAuthSigningAlg: algorithm }: NamedKeys,
  isPublic: boolean,
  { trustedIssuers }: Server,
  before: Client | null,
): ClientKeys | null {
  if (workload === undefined) return null;
  const { issuer, subject } = workload;
  if (isPublic)
    throw new RegistrationError('A workload authenticates with its token, so it cannot be public');
  if (jwks !== undefined || jwksUri !== undefined || algorithm !== undefined)
    throw new RegistrationError(
      'The client has both a workload and keys; use only one of them to authenticate',
    );
  const keys = { jwks: null, jwksUri: null, algorithm: null, workload: { issuer, subject } };
  // Accept the existing workload even if the configuration no longer has its issuer. Otherwise, an
  // operator could not change any other field of the client.
  const known = before?.keys?.workload;
  if (known?.issuer === issuer && known.subject === subject) return keys;
  if (!trustedIssuers.trusts(issuer, 'clients'))
    throw new RegistrationError(
      `The issuer ${quotedPublic(issuer)} is not in oauth_server:trusted_issuers with asserts: ` +
        "['clients']; add it first",
    );
  const problem = subjectProblem(issuer, subject);
  if (problem !== null)
    throw new RegistrationError(`The subject ${quotedPublic(subject)} ${problem}`);
  return keys;
}
