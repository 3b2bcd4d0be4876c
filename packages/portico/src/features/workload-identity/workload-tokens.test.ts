// @engines sqlite: nothing is stored
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { headerOf, newKey, signed } from '../../../../../test/support/assertions.ts';
import { TrustedIssuers } from '../../keys/assertions/trusted-issuers.ts';
import { readKeySet } from '../../clients/key-sets.ts';
import { parseJws } from '../../keys/jws/compact.ts';
import type { SecurityProfile } from '../../profiles.ts';
import type { Server } from '../../server.ts';
import type { SingleUses } from '../../store/single-uses.ts';
import { workloadTokens } from './workload-tokens.ts';

const NOW = 1_800_000_000;
const ISSUER = 'https://app.example';
const CLUSTER = 'https://cluster.example';

// @shows AS-54.4
test('a profile allows workloads only if it names their token type as an authentication method', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-workloads-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const key = newKey('ES256');
  const file = path.join(folder, 'keys.json');
  await writeFile(file, JSON.stringify({ keys: [key.jwk] }));
  const trustedIssuers = new TrustedIssuers(
    [
      {
        issuer: CLUSTER,
        keys: { file },
        algorithms: ['ES256'],
        asserts: ['clients'],
        tenant: null,
        clockTolerance: 30,
        maximumAge: 300,
      },
    ],
    { clock: () => NOW * 1000, allowsLoopback: false, anyPort: false },
    readKeySet,
    {} as SingleUses,
  );
  const [ways, ...more] = workloadTokens({ issuer: ISSUER, trustedIssuers } as unknown as Server);
  if (ways === undefined) throw new Error('No kind of token is accepted');
  expect(more).toEqual([]);
  const workload = { issuer: CLUSTER, subject: 'reports' };
  const client = {
    id: 'a-client',
    registeredBy: 'operator',
    keys: { jwks: null, jwksUri: null, algorithm: null, workload },
  } as const;
  const claims = { iss: CLUSTER, sub: 'reports', aud: ISSUER, iat: NOW, exp: NOW + 60 };
  const token = parseJws(signed(key, headerOf(key), claims));
  const verify = (methods: readonly string[]) =>
    ways.verifierAt([])(client, client.id, token, {
      name: 'strict',
      authenticationMethods: methods,
    } as SecurityProfile);
  await expect(verify([ways.type])).resolves.toBeUndefined();
  await expect(verify(['private_key_jwt'])).rejects.toThrow('which the profile strict does not');
  const { iss: _, ...nameless } = claims;
  const unnamed = parseJws(signed(key, headerOf(key), nameless));
  await expect(ways.verifierAt([])(client, client.id, unnamed, null)).rejects.toThrow(
    'its iss is missing, or its sub is not a SPIFFE ID',
  );
});
