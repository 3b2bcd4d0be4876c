import { canonicalAddress } from '../http/addresses.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import type { FetchDocument } from '../examination.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import {
  askRoundTrip,
  isFile,
  ROUND_TRIP_HEADER,
  type SeenRequest,
} from '../endpoints/round-trip.ts';
import { randomIdentifier } from '../crypto.ts';
import { check, failing, ok, skipped, warning, type Check, type Finding } from './checks.ts';
import { examinePublicResource } from './connecting-checks.ts';
import { DocumentFetcher } from './fetch-document.ts';
import type { Subject } from './subject.ts';

/**
 * Sends requests to the server's public address, as a client would. Checks that they reach this
 * installation, and then what the process receives.
 */
export async function examinePublicAddress(
  subject: Subject,
  { patience }: { readonly patience: number },
): Promise<readonly Check[]> {
  const { server } = subject;
  const documents = new DocumentFetcher(patience);
  const checked = (part: string, examine: () => Promise<Finding>) =>
    check(server.host.log, part, async () => [await examine()]);
  const address = await checked('public address', () => examineIssuer(server, documents));
  const isOwn = isAllOk(address);
  const inFront =
    server.basePath === ''
      ? []
      : await checked('in front of base_path', () => examineInFront(server, documents));
  const keySet = await checked('public key set', async () =>
    isOwn
      ? examineKeySet(server, documents)
      : skipped('not checked: requests to the public address do not reach this server'),
  );
  const published = isOwn ? await examinePublished(subject, documents) : [];
  const roundTrip = await checked('proxies', async () =>
    isAllOk(keySet)
      ? examineRoundTrip(server, documents)
      : skipped('not checked: requests to the public address may reach another server'),
  );
  return [...address, ...inFront, ...keySet, ...published, ...roundTrip];
}

const isAllOk = (checks: readonly Check[]) => checks.every(({ outcome }) => outcome === 'ok');

async function examinePublished(
  { application, server }: Subject,
  documents: DocumentFetcher,
): Promise<readonly Check[]> {
  const { log } = server.host;
  const fetchDocument: FetchDocument = (...asked) => documents.fetch(...asked);
  const found = [
    ...(await check(log, 'public resource', () =>
      examinePublicResource({ application, server }, fetchDocument),
    )),
  ];
  for (const each of server.examinations) {
    const examine = async () =>
      (await each.publicFindings?.(application, fetchDocument, server)) ?? [];
    found.push(...(await check(log, each.part, examine)));
  }
  return found;
}

async function examineIssuer(
  server: AuthorizationServer,
  documents: DocumentFetcher,
): Promise<Finding> {
  const url = `${server.issuer}/.well-known/openid-configuration`;
  const asked = await documents.fetch(url);
  if ('fault' in asked) return withStripping(server, asked.fault);
  const document = asked.document as { readonly issuer?: unknown };
  if (document.issuer === server.issuer) return ok(`${url} returns this server's issuer`);
  return failing(
    `${url} returns the issuer ${JSON.stringify(document.issuer)}, but the issuer of this ` +
      `process is ${server.issuer}`,
    'set public_url (PUBLIC_URL) to the same value in every process, and make sure that ' +
      'requests to this address reach these processes',
  );
}

/**
 * Adds advice about `base_path_stripped`. With a wrong value, no request to the public address
 * reaches the server.
 */
function withStripping({ basePath, mountPath }: AuthorizationServer, fault: Finding): Finding {
  if (basePath === '' || fault.remedy === null) return fault;
  const setting =
    mountPath === basePath
      ? `if the proxy removes ${basePath} from the path, set base_path_stripped to true`
      : `if the proxy keeps ${basePath} in the path, remove base_path_stripped`;
  return { ...fault, remedy: `${fault.remedy}; ${setting}` };
}

/**
 * Checks the metadata URL with the issuer's path after the well-known part (RFC 8414 section 3.1).
 * A proxy must be configured to forward it.
 */
async function examineInFront(
  server: AuthorizationServer,
  documents: DocumentFetcher,
): Promise<Finding> {
  const url = `${server.origin}/.well-known/oauth-authorization-server${server.basePath}`;
  const asked = await documents.fetch(url);
  const found = 'fault' in asked ? null : (asked.document as { readonly issuer?: unknown }).issuer;
  if (found === server.issuer) return ok(`${url} returns this server's issuer`);
  return warning(
    `${url} does not return this server's metadata, but OAuth clients look for it there (RFC ` +
      '8414 section 3.1)',
    `make the proxy forward /.well-known/*${server.basePath}, and all paths below it, to the ` +
      'application unchanged',
  );
}

/** A published key. An RSA key has `n`, and an elliptic-curve key has `x`. */
interface PublishedKey {
  readonly kid?: unknown;
  readonly n?: unknown;
  readonly x?: unknown;
}

async function examineKeySet(
  server: AuthorizationServer,
  documents: DocumentFetcher,
): Promise<Finding> {
  const url = `${server.issuer}/.well-known/jwks.json`;
  const asked = await documents.fetch(url);
  if ('fault' in asked) return asked.fault;
  const { keys: found } = asked.document as { readonly keys?: unknown };
  const published = (Array.isArray(found) ? found : []) as readonly PublishedKey[];
  const own = await server.keys.all();
  const sameAs = (key: SigningKey) => (each: PublishedKey) =>
    each.kid === key.kid && each.n === key.publicJwk.n && each.x === key.publicJwk.x;
  const missing = own.filter((key) => !published.some(sameAs(key))).map(({ kid }) => kid);
  const foreign = published
    .filter((each) => !own.some((key) => sameAs(key)(each)))
    .map(({ kid }) => String(kid));
  if (missing.length === 0 && foreign.length === 0) {
    const { key_path: path } = server.config;
    return ok(`${url} returns the same keys as ${path} (number of keys: ${own.length})`);
  }
  const difference = [
    ...(missing.length === 0 ? [] : [`does not have ${missing.join(', ')}`]),
    ...(foreign.length === 0 ? [] : [`also has ${foreign.join(', ')}`]),
  ];
  return failing(
    `oauth_server:key_path: compared with ${server.config.key_path}, ${url} ` +
      difference.join(', and '),
    'use the same key directory (key_path, STORAGE_DIR) in every process. Make sure that the ' +
      'account that runs the server can read each file in it (chown). After a change, wait ' +
      'five seconds, because Portico caches the keys',
  );
}

// --- what reaches the process --------------------------------------------------------------------

/**
 * The forged client address in `X-Forwarded-For`, which an attacker can send to hide their own. It
 * is reserved for documentation (RFC 5737), so no machine uses it.
 */
const MADE_UP = '192.0.2.123';

async function examineRoundTrip(
  server: AuthorizationServer,
  documents: DocumentFetcher,
): Promise<Finding> {
  // Processes of an older release accept only RS256 keys for this request.
  const active = await server.keys.active();
  const key = [active ?? [], await server.keys.all()].flat().find(isFile);
  if (key === undefined) {
    return skipped(
      active === null
        ? 'not checked: this check needs a signing key; run npx portico oauth:server:setup'
        : 'not checked: this check needs a signing key in a file',
    );
  }
  const question = askRoundTrip(key, server.issuer, Date.now());
  // Without a unique query, a cache that ignores request headers could respond.
  const url = `${server.issuer}/.well-known/openid-configuration?doctor=${randomIdentifier()}`;
  const asked = await documents.fetch(url, {
    [ROUND_TRIP_HEADER]: question.header,
    'X-Forwarded-For': MADE_UP,
  });
  if ('fault' in asked) return asked.fault;
  const answer = asked.headers[ROUND_TRIP_HEADER.toLowerCase()];
  const seen = typeof answer === 'string' ? question.open(answer) : null;
  if (seen === null) {
    return warning(
      `${url} answered, but did not report which address and headers the process received`,
      `make the proxies forward the header ${ROUND_TRIP_HEADER} in requests and responses, ` +
        'and do not let them cache this URL. If that does not help, check that the process ' +
        'runs this release and that its clock is correct',
    );
  }
  return judge(seen, new URL(server.issuer), asked.from);
}

/**
 * Combines the findings about the address, the host and the scheme. The worst one determines the
 * outcome. `from` is the local address of the request.
 */
function judge(seen: SeenRequest, issuer: URL, from: string | null): Finding {
  const findings = [judgeAddress(seen, from), judgeHost(seen, issuer), judgeScheme(seen, issuer)];
  const worstFirst = (['failing', 'warning', 'ok'] as const).flatMap((outcome) =>
    findings.filter((each) => each.outcome === outcome),
  );
  const remedies = worstFirst.flatMap(({ remedy }) => (remedy === null ? [] : [remedy]));
  return {
    outcome: worstFirst[0]?.outcome ?? 'ok',
    detail: worstFirst.map(({ detail }) => detail).join('; '),
    remedy: remedies.length === 0 ? null : remedies.join('; '),
  };
}

function judgeHost({ host, forwardedHost }: SeenRequest, issuer: URL): Finding {
  if (host === issuer.host) return ok(`the process sees the host ${host}`);
  if (forwardedHost === issuer.host)
    return ok(`the process sees the host ${host}, and ${issuer.host} in X-Forwarded-Host`);
  return warning(
    `the process sees the host ${host ?? '(none)'} instead of ${issuer.host}, so URLs that ` +
      'the application builds from requests are wrong',
    'make the proxy forward Host (nginx: proxy_set_header Host $host)',
  );
}

function judgeScheme({ forwardedProto }: SeenRequest, issuer: URL): Finding {
  const scheme = issuer.protocol.slice(0, -1);
  const said = forwardedProto?.split(',', 1)[0]?.trim().toLowerCase() ?? null;
  if (said === scheme) return ok(`X-Forwarded-Proto is ${said}`);
  if (said === null) return ok('X-Forwarded-Proto is not set (@portico/kit does not need it)');
  return warning(
    `X-Forwarded-Proto is ${said}, but public_url uses ${scheme}`,
    'make the outermost proxy set X-Forwarded-Proto (nginx: proxy_set_header X-Forwarded-Proto ' +
      '$scheme)',
  );
}

/**
 * A proxy on the caller's machine has the caller's address, so the doctor cannot tell them apart.
 */
const UNCERTAIN = ', which could also be the address of an untrusted proxy on the same machine';

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

const LET_APPEND =
  'make it append the IP address of its client (nginx: proxy_set_header X-Forwarded-For ' +
  '$proxy_add_x_forwarded_for)';

/**
 * Checks that the process sees the correct client address. Each proxy appends its caller's address
 * to `X-Forwarded-For`, so all entries after the forged one come from proxies.
 */
function judgeAddress(
  { address: reported, forwardedFor }: SeenRequest,
  from: string | null,
): Finding {
  const address = reported === null ? null : (canonicalAddress(reported) ?? reported);
  const entries = (forwardedFor ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const appended = entries.slice(entries.indexOf(MADE_UP) + 1);
  const sees = address === null ? 'sees no address' : `sees the address ${address}`;
  const proxies =
    `${appended.length === 1 ? '1 proxy appends' : `${appended.length} proxies append`} to ` +
    'X-Forwarded-For';
  const number =
    `set trusted_proxies to ${appended.length}. With another framework, set its number ` +
    "of trusted proxies (Express: app.set('trust proxy', …)) and return its address from " +
    'clientAddress of the ' +
    'host contract';
  // Without an appended entry, there is no proxy, or one that appends nothing. The advice covers
  // both.
  const remedy =
    appended.length > 0
      ? number
      : `if there is a proxy in front of the process, ${LET_APPEND}. Otherwise, ${number}`;
  if (address === MADE_UP) {
    return failing(
      `the process accepted a forged client address (${MADE_UP}), so an attacker can bypass ` +
        `the limits on failed attempts: ${proxies}`,
      remedy,
    );
  }
  const [outermost] = appended;
  if (outermost !== undefined) {
    if (address !== null && address === canonicalAddress(outermost)) {
      const seen = `${proxies}; the process ${sees}`;
      return ok(
        isLoopback(address)
          ? `${seen}${UNCERTAIN}; trusted_proxies should be ${appended.length}`
          : seen,
      );
    }
    return failing(
      `the process ${sees}, but the outermost proxy saw ${outermost}: ${proxies}`,
      remedy,
    );
  }
  if (address === null || from === null || address === canonicalAddress(from))
    return ok(`no proxy appends to X-Forwarded-For; the process ${sees}`);
  return warning(
    `the process ${sees}, but this command sent the request from ${from}, and no proxy ` +
      'appends to X-Forwarded-For',
    `if there is a proxy in front of the process, ${LET_APPEND}, and set trusted_proxies. ` +
      "Otherwise, all users have the proxy's address. If a router translates addresses " +
      '(NAT), the difference is normal',
  );
}
