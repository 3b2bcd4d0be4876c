/**
 * The checks of the protocol in the model. Each can be removed. Removing it makes the attack
 * possible that its row names.
 */

/** A property of properties.maude. */
export type Property =
  | 'codeSecrecy'
  | 'tokenSecrecy'
  | 'sameUser'
  | 'consent'
  | 'noMixUp'
  | 'service'
  | 'once'
  | 'theftEnds'
  | 'clientIdentity'
  | 'organization'
  | 'sameDevice';

/** Where a check is in the code. */
export interface Place {
  /** The file. */
  readonly file: string;
  /** A name that the file contains. */
  readonly name: string;
  /** The rule of docs/specification.md or docs/standards.md. Tests show it in the code. */
  readonly rule: string;
}

const place = (rule: string, file: string, name: string): Place => ({
  file: `packages/portico/src/${file}`,
  name,
  rule,
});

/**
 * Every check of terms.maude, and where it is in the code. The client compares `state` and `iss`.
 * Portico sends what the client needs for this comparison.
 */
export const CHECKS = {
  pkce: place('AS-5.2', 'grants/pkce.ts', 'verifiesChallenge'),
  pkceNeeded: place('AS-7.2', 'authorization/request-parameters.ts', 'requirePkce'),
  s256Only: place('AS-7.2', 'authorization/request-parameters.ts', 'pkceProblem'),
  clientState: place('RFC9700-2.1d', 'authorization/response.ts', 'responseParameters'),
  issuer: place('AS-7.4', 'authorization/response.ts', 'responseParameters'),
  exactRedirect: place('AS-7.1', 'clients/redirect-uris.ts', 'mayRedirectWith'),
  codeUri: place('AS-5.2', 'grants/authorization-code.ts', 'mismatch'),
  codeClient: place('AS-5.2', 'grants/authorization-code.ts', 'mismatch'),
  clientSecret: place('AS-9.1', 'clients/authentication.ts', 'authenticate'),
  codeOnce: place('AS-5.1', 'store/sql/codes.ts', 'spendCode'),
  codeReplayEnds: place('AS-5.16', 'store/sql/codes.ts', 'burnCode'),
  codeKey: place('AS-24.5', 'grants/authorization-code.ts', 'mismatch'),
  consentAsked: place('AS-8.1', 'authorization/consent-question.ts', 'askConsent'),
  consentForm: place('AS-8.3', 'authorization/saved-requests.ts', 'requireCsrfToken'),
  consentSession: place('AS-8.3', 'host/form-token.ts', 'formToken'),
  consentRequest: place('AS-8.3', 'authorization/consent-question.ts', 'isConsentToken'),
  pushedClient: place('AS-25.6', 'features/pushed-requests/pushed.ts', 'deriveRequestId'),
  documentId: place('AS-21.3', 'features/client-documents/document.ts', 'readDocument'),
  rotation: place('AS-5.4', 'store/sql/refresh-tokens.ts', 'rotateRefreshToken'),
  familyEnds: place('AS-5.5', 'store/sql/authorizations.ts', 'revokeReplayed'),
  refreshClient: place('RFC9700-4.14.2a', 'grants/refresh-token.ts', 'ofAnotherClient'),
  refreshKey: place('AS-24.4', 'grants/refresh-token.ts', '#requireKey'),
  sameResource: place('AS-9.5', 'grants/authorization-code.ts', 'mismatch'),
  audience: place('AS-15.8', 'resource/bearer.ts', 'lookUp'),
  accessKey: place('AS-24.8', 'features/dpop/resource-proofs.ts', 'OTHER_KEY'),
  proofUrl: place('AS-24.3', 'keys/jws/dpop-proof.ts', 'htu'),
  proofToken: place('AS-12.12', 'keys/jws/dpop-proof.ts', 'ath'),
  proofOnce: place('AS-24.3', 'features/dpop/dpop.ts', 'claim'),
  assertionKey: place('AS-23.2', 'features/private-key-jwt/assertions.ts', 'haveOne'),
  assertionAudience: place('AS-23.3', 'features/private-key-jwt/assertions.ts', '#requireAudience'),
  assertionOnce: place('AS-23.4', 'features/private-key-jwt/assertions.ts', 'singleUses.claim'),
  jagKey: place('AS-49.2', 'keys/assertions/trusted-issuers.ts', 'requireSignature'),
  jagAudience: place('AS-49.2', 'keys/assertions/checks.ts', 'requireAudience'),
  jagClient: place('AS-49.2', 'features/jwt-bearer/grant.ts', '#granted'),
  jagType: place('AS-49.2', 'keys/assertions/checks.ts', 'requireHeader'),
  jagOnce: place('AS-49.2', 'features/jwt-bearer/grant.ts', 'assertion.claim'),
  jagSubject: place('AS-49.4', 'features/jwt-bearer/links.ts', 'linkHash'),
  deviceAsks: place('AS-48.5', 'features/device/page.ts', '#ask'),
  deviceForm: place('AS-48.5', 'features/device/page.ts', 'requireToken'),
  deviceClient: place('AS-48.4', 'features/device/grant.ts', 'found.clientId !== client.id'),
  deviceOnce: place('AS-48.4', 'features/device/grant.ts', '#codeOf'),
  deviceGuesses: place('AS-48.3', 'features/device/guesses.ts', 'attempt'),
} as const satisfies Readonly<Record<string, Place>>;

export type Check = keyof typeof CHECKS;

/** An attack that the model finds only if these checks are removed. */
export interface Attack {
  /** The checks to remove. If there are several, each of them alone stops the attack. */
  readonly removed: readonly Check[];
  /** What the attacker does, in plain words. */
  readonly attack: string;
  readonly violates: Property;
  readonly scenario: string;
  /** The rule of protocol.maude that is the attack. It must be among the steps. */
  readonly move: string;
}

const attack = (
  removed: readonly Check[],
  violates: Property,
  scenario: string,
  move: string,
  text: string,
): Attack => ({ removed, violates, scenario, move, attack: text });

const LOGIN = 'login(1, 1)';

export const ATTACKS: readonly Attack[] = [
  attack(
    ['pkce'],
    'tokenSecrecy',
    'native(none, 0, 0)',
    'attacker-exchanges-a-code',
    'another program on the device reads the code and exchanges it',
  ),
  attack(
    ['pkce'],
    'sameUser',
    'leaking(0, 1)',
    'attacker-forges-an-answer',
    'code injection: the attacker puts a leaked code into its own session at the client',
  ),
  attack(
    ['s256Only'],
    'tokenSecrecy',
    'native(none, 0, 0)',
    'attacker-exchanges-a-code',
    'PKCE downgrade to plain: who reads the request has the verifier',
  ),
  attack(
    ['pkceNeeded', 'clientState'],
    'sameUser',
    LOGIN,
    'attacker-forges-an-answer',
    'PKCE downgrade: a code without a challenge works in the session of another person',
  ),
  attack(
    ['clientState', 'pkce'],
    'sameUser',
    LOGIN,
    'attacker-forges-an-answer',
    'login forgery: the attacker signs alice in to the attacker’s account',
  ),
  attack(
    ['issuer'],
    'noMixUp',
    'twoServers(1, 0)',
    'the-client-sends-the-code-to-the-other-server',
    'mix-up: the client sends code and verifier to the attacker’s server',
  ),
  attack(
    ['issuer'],
    'tokenSecrecy',
    'twoServers(1, 0)',
    'attacker-exchanges-a-code',
    'mix-up: the attacker exchanges the code that the client sent to its server',
  ),
  attack(
    ['exactRedirect'],
    'codeSecrecy',
    LOGIN,
    'attacker-opens-a-request',
    'the code leaks through an open redirect, or to another port of the host',
  ),
  attack(
    ['exactRedirect'],
    'tokenSecrecy',
    'documentLogin(1, 0)',
    'attacker-exchanges-a-code',
    'open redirect at a client without a secret: the attacker exchanges the code',
  ),
  attack(
    ['exactRedirect', 'codeUri'],
    'sameUser',
    LOGIN,
    'attacker-forges-an-answer',
    'code injection with a code that leaked through an open redirect',
  ),
  attack(
    ['codeClient', 'codeUri'],
    'sameUser',
    LOGIN,
    'attacker-forges-an-answer',
    'code substitution: a malicious client’s own code works in a session at another client',
  ),
  attack(
    ['clientSecret', 'pkce'],
    'tokenSecrecy',
    'leaking(0, 0)',
    'attacker-exchanges-a-code',
    'the attacker exchanges a leaked code in the name of a client with a secret',
  ),
  attack(
    ['codeOnce'],
    'tokenSecrecy',
    'logged(0, 0)',
    'attacker-exchanges-a-code',
    'the attacker exchanges a code again that it found in a log with its verifier',
  ),
  attack(
    ['codeReplayEnds'],
    'theftEnds',
    'overheard(0, 0)',
    'attacker-exchanges-a-code',
    'the attacker is first with a stolen code, and keeps the tokens after the client was refused',
  ),
  attack(
    ['codeKey', 'pkce'],
    'tokenSecrecy',
    'native(key(app), 0, 0)',
    'attacker-exchanges-a-code',
    'the attacker exchanges an intercepted code that was asked for with dpop_jkt',
  ),
  attack(
    ['consentAsked'],
    'consent',
    LOGIN,
    'no-person-is-asked',
    'a link gives the attacker’s client access without a question',
  ),
  attack(
    ['consentForm'],
    'consent',
    LOGIN,
    'attacker-posts-the-consent-form',
    'request forgery: the attacker’s page sends the consent form from alice’s browser',
  ),
  attack(
    ['consentSession'],
    'consent',
    LOGIN,
    'attacker-posts-the-consent-form',
    'request forgery with a form token of the attacker’s own session',
  ),
  attack(
    ['consentRequest'],
    'consent',
    LOGIN,
    'the-answer-is-taken-for-another-request',
    'alice allows one client, and the answer counts for the attacker’s client',
  ),
  attack(
    ['pushedClient'],
    'codeSecrecy',
    'pushing(1, 0)',
    'attacker-names-another-client-with-a-pushed-request',
    'alice allows an honest client, and the attacker’s pushed request sends the code elsewhere',
  ),
  attack(
    ['documentId'],
    'tokenSecrecy',
    'documentLogin(1, 0)',
    'attacker-exchanges-a-code',
    'the attacker’s document describes another client and redirects to the attacker',
  ),
  attack(
    ['rotation'],
    'once',
    'refreshing(app, none, 3)',
    'attacker-refreshes',
    'a stolen refresh token works again and again beside the client’s',
  ),
  attack(
    ['familyEnds'],
    'theftEnds',
    'refreshing(app, none, 3)',
    'attacker-refreshes',
    'a stolen refresh token lives on after the client was refused',
  ),
  attack(
    ['refreshClient'],
    'tokenSecrecy',
    'refreshing(web, none, 2)',
    'attacker-refreshes',
    'the attacker’s client uses a refresh token that was stolen from another client',
  ),
  attack(
    ['refreshKey'],
    'tokenSecrecy',
    'refreshing(app, key(app), 2)',
    'attacker-refreshes',
    'a stolen refresh token works without the key that it is bound to',
  ),
  attack(
    ['sameResource'],
    'service',
    'anotherApi',
    'attacker-calls-the-api-with-its-own-key',
    'a client asks for a token of an API that alice did not allow',
  ),
  attack(
    ['audience'],
    'service',
    'twoApis(none)',
    'attacker-calls-the-api-with-its-own-key',
    'the attacker’s API uses a token that it received at another API',
  ),
  attack(
    ['accessKey'],
    'service',
    'stolenToken',
    'attacker-calls-the-api-with-its-own-key',
    'a stolen bound token works without its key',
  ),
  attack(
    ['proofUrl'],
    'service',
    'oneTokenForBoth',
    'attacker-calls-the-api-with-a-stolen-proof',
    'the attacker’s API forwards token and proof to another API',
  ),
  attack(
    ['proofToken'],
    'service',
    'stolenProof',
    'attacker-calls-the-api-with-a-stolen-proof',
    'a stolen unused proof works with another stolen token',
  ),
  attack(
    ['proofOnce'],
    'service',
    'stolenToken',
    'attacker-calls-the-api-with-a-stolen-proof',
    'replay: token and proof from a log work again',
  ),
  attack(
    ['assertionKey'],
    'clientIdentity',
    'asserting',
    'attacker-signs-an-assertion',
    'the attacker signs a client’s assertion with its own key',
  ),
  attack(
    ['assertionAudience'],
    'clientIdentity',
    'asserting',
    'attacker-sends-an-assertion',
    'the attacker’s server forwards the assertion that it received',
  ),
  attack(
    ['assertionOnce'],
    'clientIdentity',
    'asserting',
    'attacker-sends-an-assertion',
    'replay: the attacker sends an assertion from a log',
  ),
  attack(
    ['jagKey'],
    'organization',
    'organizational',
    'attacker-signs-an-assertion-about-a-person',
    'the attacker signs an assertion about alice in the name of her organization',
  ),
  attack(
    ['jagAudience'],
    'organization',
    'organizational',
    'attacker-exchanges-an-assertion',
    'token redirect: an assertion for another server works here',
  ),
  attack(
    ['jagClient'],
    'organization',
    'organizational',
    'attacker-exchanges-an-assertion',
    'the attacker’s client uses an assertion that was given to another client',
  ),
  attack(
    ['jagType', 'jagAudience'],
    'organization',
    'signedIn',
    'attacker-exchanges-an-assertion',
    'the attacker’s client uses an ID token as an assertion',
  ),
  attack(
    ['jagOnce'],
    'once',
    'organizationalOnce',
    'attacker-exchanges-an-assertion',
    'replay: one assertion gives access twice',
  ),
  attack(
    ['jagSubject'],
    'organization',
    'organizational',
    'attacker-s-issuer-asserts-about-alice',
    'another organization’s issuer speaks about alice',
  ),
  attack(
    ['deviceAsks'],
    'consent',
    'devices',
    'attacker-sends-alice-its-code',
    'a link with the attacker’s user code gives the attacker’s device access without a question',
  ),
  attack(
    ['deviceForm'],
    'consent',
    'devices',
    'attacker-posts-the-device-form',
    'request forgery: the attacker’s page sends the device form from alice’s browser',
  ),
  attack(
    ['deviceClient'],
    'tokenSecrecy',
    'stolenDeviceCode',
    'attacker-polls',
    'the attacker’s client uses a device code that was stolen from another client',
  ),
  attack(
    ['deviceOnce'],
    'tokenSecrecy',
    'loggedDeviceCode',
    'attacker-polls',
    'the attacker uses a device code again that it found in a log',
  ),
  attack(
    ['deviceGuesses'],
    'sameDevice',
    'devices',
    'attacker-guesses-a-code',
    'the attacker guesses alice’s user code, and her device works with the attacker’s account',
  ),
];

/**
 * Searches that find nothing, because only one of the checks is removed that must be removed
 * together.
 */
export const ALONE: readonly Attack[] = ATTACKS.flatMap((each) =>
  each.removed.length === 1 ? [] : each.removed.map((check) => ({ ...each, removed: [check] })),
).filter(
  (each, index, all) =>
    all.findIndex(
      ({ removed: [check], violates, scenario }) =>
        check === each.removed[0] && violates === each.violates && scenario === each.scenario,
    ) === index,
);

/** A risk that remains with every check, because the model still finds the attack. */
export interface Residual {
  readonly risk: string;
  readonly violates: Property;
  readonly scenario: string;
}

export const RESIDUAL: readonly Residual[] = [
  {
    risk: 'device phishing: alice allows the code that the attacker sent to her',
    violates: 'tokenSecrecy',
    scenario: 'carelessDevices',
  },
  {
    risk: 'chosen challenge: who reads a client’s request in alice’s browser can ask for a code with her challenge, and her session gets the attacker’s account',
    violates: 'sameUser',
    scenario: 'native(none, 1, 1)',
  },
  {
    risk: 'an application without a secret, whose answers another program reads: alice allows a request that she did not begin',
    violates: 'tokenSecrecy',
    scenario: 'carelessNative',
  },
  {
    risk: 'a stolen token without a key works at its API until it expires or is revoked',
    violates: 'service',
    scenario: 'stolenBearer',
  },
  {
    risk: 'a stolen refresh token without a key works until the client uses its own',
    violates: 'tokenSecrecy',
    scenario: 'refreshing(app, none, 1)',
  },
  {
    risk: 'a stolen token with an unused proof for exactly this token works once, if the thief is first',
    violates: 'service',
    scenario: 'stolenBoth',
  },
];

/** Properties that are true in every state of a scenario. */
export interface Proved {
  readonly scenario: string;
  readonly properties: readonly Property[];
}

const FLOW: readonly Property[] = ['codeSecrecy', 'tokenSecrecy', 'sameUser', 'consent', 'once'];

export const PROVED: readonly Proved[] = [
  { scenario: LOGIN, properties: [...FLOW, 'noMixUp'] },
  { scenario: 'documentLogin(1, 0)', properties: FLOW },
  { scenario: 'twoSessions(1, 1)', properties: FLOW },
  { scenario: 'twoServers(1, 1)', properties: [...FLOW, 'noMixUp'] },
  { scenario: 'pushing(1, 1)', properties: FLOW },
  { scenario: 'native(none, 1, 0)', properties: ['tokenSecrecy', 'consent', 'once'] },
  { scenario: 'native(key(app), 1, 0)', properties: ['tokenSecrecy', 'consent', 'once'] },
  { scenario: 'leaking(1, 1)', properties: ['tokenSecrecy', 'sameUser', 'consent', 'once'] },
  { scenario: 'logged(1, 1)', properties: ['tokenSecrecy', 'consent', 'once'] },
  { scenario: 'overheard(1, 1)', properties: ['theftEnds', 'consent', 'once'] },
  { scenario: 'whole(1, 0)', properties: ['service', 'theftEnds', 'consent', 'once'] },
  { scenario: 'refreshing(app, none, 3)', properties: ['theftEnds', 'once'] },
  { scenario: 'refreshing(web, none, 3)', properties: ['tokenSecrecy', 'theftEnds', 'once'] },
  { scenario: 'refreshing(app, key(app), 3)', properties: ['tokenSecrecy', 'theftEnds', 'once'] },
  { scenario: 'twoApis(none)', properties: ['service', 'once'] },
  { scenario: 'twoApis(key(web))', properties: ['service', 'once'] },
  { scenario: 'oneTokenForBoth', properties: ['service', 'once'] },
  { scenario: 'anotherApi', properties: ['service', 'once'] },
  { scenario: 'stolenToken', properties: ['service', 'once'] },
  { scenario: 'stolenProof', properties: ['service', 'once'] },
  { scenario: 'asserting', properties: ['clientIdentity', 'once'] },
  { scenario: 'organizational', properties: ['organization', 'once'] },
  { scenario: 'organizationalOnce', properties: ['organization', 'once'] },
  { scenario: 'signedIn', properties: ['organization'] },
  { scenario: 'devices', properties: ['tokenSecrecy', 'consent', 'sameDevice', 'once'] },
  { scenario: 'stolenDeviceCode', properties: ['tokenSecrecy', 'consent', 'sameDevice', 'once'] },
  { scenario: 'loggedDeviceCode', properties: ['tokenSecrecy', 'consent', 'sameDevice', 'once'] },
];

/** Larger bounds, for `npm run proof -- --larger`. */
export const LARGER: readonly Proved[] = [
  { scenario: 'login(2, 0)', properties: FLOW },
  { scenario: 'login(1, 2)', properties: [...FLOW, 'noMixUp'] },
  { scenario: 'native(none, 1, 1)', properties: ['tokenSecrecy', 'consent', 'once'] },
  { scenario: 'whole(1, 1)', properties: ['service', 'theftEnds', 'consent', 'once'] },
  { scenario: 'refreshing(app, none, 6)', properties: ['theftEnds', 'once'] },
];

/** Facts that an honest flow reaches. Without these, a proof would show nothing. */
export interface Completed {
  readonly flow: string;
  readonly scenario: string;
  readonly reached: string;
}

const completed = (flow: string, scenario: string, reached: string): Completed => ({
  flow,
  scenario,
  reached,
});

export const COMPLETED: readonly Completed[] = [
  completed(
    'alice and the attacker sign in at the same time, each with their own account',
    'login(0, 1)',
    'session(alice, web, alice) session(eve, web, eve)',
  ),
  completed('a client that is a document', 'documentLogin(0, 0)', 'session(alice, doc, alice)'),
  completed(
    'two sessions of one person at once',
    'twoSessions(0, 0)',
    'session(alice, web, alice) coded(1, alice, web, cb(web), s256(verifier(1)), none, used) coded(2, alice, web, cb(web), s256(verifier(2)), none, used)',
  ),
  completed(
    'a client with two servers',
    'twoServers(0, 0)',
    'session(alice, app, alice) run(1, alice, app, other, none)',
  ),
  completed('a pushed request', 'pushing(0, 0)', 'session(alice, web, alice)'),
  completed(
    'an application with a key',
    'native(key(app), 0, 0)',
    'session(alice, app, alice) grant(1, alice, app, key(app), any, live)',
  ),
  completed(
    'two refreshes',
    'refreshing(app, key(app), 2)',
    'holds(app, refresh(1, 2)) holds(app, access(1, 2))',
  ),
  completed(
    'a thief who offers a used refresh token ends the grant',
    'refreshing(app, none, 1)',
    'grant(1, alice, app, none, any, ended) holds(app, refresh(1, 1))',
  ),
  completed(
    'a call of each API with a key',
    'twoApis(key(web))',
    'answered(web, 1) knows(access(2, 0))',
  ),
  completed(
    'from the request to the API, with a refresh',
    'whole(0, 0)',
    'session(alice, app, alice) answered(app, 1) holds(app, refresh(1, 1))',
  ),
  completed('a client with a key', 'asserting', 'gotToken(web)'),
  completed('an assertion about a person', 'organizational', 'organizationGrant(alice, web)'),
  completed('a device', 'devices', 'deviceSession(alice, alice)'),
];
