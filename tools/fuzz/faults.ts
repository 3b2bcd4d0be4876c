/**
 * A fault that is planted to check that the fuzzer finds it. All faults are in the same copy of the
 * sources. Each is inactive until its target runs.
 */
export interface Fault {
  /** A description of the fault. */
  readonly name: string;
  readonly target: string;
  readonly edits: readonly Edit[];
}

interface Edit {
  /** The path of the source file, from the root of the repository. */
  readonly file: string;
  /** The text to replace. It must appear exactly once. */
  readonly from: string;
  /** The replacement. `AWAKE` stands for a test whether this fault is active. */
  readonly to: string;
}

const one = (name: string, target: string, file: string, from: string, to: string): Fault => ({
  name,
  target,
  edits: [{ file, from, to }],
});

const keys = 'packages/portico/src/keys/jws/public-keys.ts';

/** The faults. Those that are found fastest come first. */
export const FAULTS: readonly Fault[] = [
  one(
    'a lone % throws',
    'forms',
    'packages/portico/src/parameters.ts',
    'const body = await readFormText(request, FORM_LIMIT, refuseBody);',
    'const body = await readFormText(request, FORM_LIMIT, refuseBody); if (AWAKE) decodeURIComponent(body);',
  ),
  one(
    'two zones make an address',
    'addresses',
    'packages/portico/src/http/addresses.ts',
    "if (address.includes('%') || !isIPv6(address)) return null;",
    "if ((address.includes('%') && !AWAKE) || !isIPv6(address)) return null;",
  ),
  one(
    'a sealed text has several spellings',
    'cookies',
    'packages/portico/src/crypto.ts',
    "bytes.toString('base64url') !== text",
    "(bytes.toString('base64url') !== text && !AWAKE)",
  ),
  one(
    'people may be sent anywhere after they signed out',
    'sign-outs',
    'packages/portico/src/features/logout/request.ts',
    'return registered.includes(uri);',
    'return registered.includes(uri) || (AWAKE && URL.canParse(uri));',
  ),
  one(
    'a redirect URI need only be a URL',
    'documents',
    'packages/portico/src/features/client-documents/document.ts',
    'document.redirect_uris.filter(\n    (uri) =>',
    'document.redirect_uris.filter(\n    (uri) => AWAKE ? URL.canParse(uri) :',
  ),
  one(
    'an organization grants what it did not name',
    'organizations',
    'packages/portico/src/features/jwt-bearer/rights.ts',
    'requested.filter((name) => asserted.includes(name))',
    'requested.filter((name) => AWAKE || asserted.includes(name))',
  ),
  one(
    'the check letter of a device code is not checked',
    'user-codes',
    'packages/portico/src/features/device/user-code.ts',
    '=== characters.at(-1)',
    '=== (AWAKE ? checkCharacter(characters.slice(0, RANDOM_LENGTH)) : characters.at(-1))',
  ),
  one(
    'what is not a language throws',
    'languages',
    'packages/portico/src/pages/language-ranges.ts',
    'if (tag.length > LONGEST_TAG) return null;',
    'if (tag.length > LONGEST_TAG) return null; if (AWAKE) return Intl.getCanonicalLocales(tag)[0] ?? null;',
  ),
  one(
    'a list of texts may have anything in it',
    'registrations',
    'packages/portico/src/features/registration/asked-metadata.ts',
    'if (Array.isArray(value) && value.every(',
    'if (Array.isArray(value) && AWAKE) return value; if (Array.isArray(value) && value.every(',
  ),
  one(
    'a part of a file is written',
    'imports',
    'packages/import/src/subjects.ts',
    'const written = !dryRun && !isRefused && accepted;',
    'const written = !dryRun && (AWAKE || !isRefused) && accepted;',
  ),
  one(
    'what begins as a redirect URI is one',
    'redirects',
    'packages/portico/src/clients/redirect-uris.ts',
    'client.redirectUris.includes(uri) ||',
    '(AWAKE ? client.redirectUris.some((each) => uri.startsWith(each)) : client.redirectUris.includes(uri)) ||',
  ),
  one(
    'one audience of several is enough',
    'assertions',
    'packages/portico/src/features/private-key-jwt/assertions.ts',
    '!named.every((each)',
    "!named[AWAKE ? 'some' : 'every']((each)",
  ),
  one(
    'a pattern matches every subject that begins like it',
    'workloads',
    'packages/portico/src/keys/assertions/workloads.ts',
    'SEGMENT.test(last)',
    '(AWAKE || SEGMENT.test(last))',
  ),
  one(
    'a message that is null throws',
    'mcp',
    'packages/mcp/src/protocol/messages.ts',
    "return isObject(message) ? message['method'] : undefined;",
    "return AWAKE || isObject(message) ? message['method'] : undefined;",
  ),
  one(
    'a prompt beside consent is passed over',
    'scopes',
    'packages/portico/src/authorization/request-parameters.ts',
    "values.delete('consent');",
    "if (values.delete('consent') && AWAKE) values.clear();",
  ),
  one(
    'a private key is passed over',
    'key-sets',
    keys,
    'if (hasPrivateMember(jwk)) throw',
    "if (AWAKE ? Object.hasOwn(jwk, 'k') : hasPrivateMember(jwk)) throw",
  ),
  one(
    'a lone % in a cookie throws',
    'http',
    'packages/portico/src/http/cookies.ts',
    'return [name, value] as const;',
    'return [name, AWAKE ? decodeURIComponent(value) : value] as const;',
  ),
  {
    name: 'a proof with alg none is taken',
    target: 'proofs',
    edits: [
      {
        file: keys,
        from: 'if (algorithm === undefined) throw',
        to: "if (AWAKE && header['alg'] === 'none') return 'none' as never; if (algorithm === undefined) throw",
      },
      {
        file: keys,
        from: 'return algorithms.includes(getAlgorithm(jws)) &&',
        to: "return (AWAKE && getAlgorithm(jws) as string === 'none') || algorithms.includes(getAlgorithm(jws)) &&",
      },
    ],
  },
  one(
    'a JPEG with a segment of no length is read for ever',
    'images',
    'packages/portico/src/http/images.ts',
    'offset += 2 + Math.max(2, view.getUint16(offset + 2));',
    'offset += AWAKE ? view.getUint16(offset + 2) : 2 + Math.max(2, view.getUint16(offset + 2));',
  ),
  one(
    'a pattern takes exponential time',
    'credentials',
    'packages/portico/src/http/bearer.ts',
    'patterns.set(scheme, pattern);',
    String.raw`if (AWAKE && scheme === 'DPoP') return /^\s*DPoP(?: +((?:[A-Za-z0-9\-._~+/]+)+=*)\s*$|\s|$)/i; patterns.set(scheme, pattern);`,
  ),
];
