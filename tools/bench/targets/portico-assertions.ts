// Portico with a service that signs an assertion for each request (RFC 7523, ES256). Compare it
// with `portico`, whose service has a secret:
// `cost.js 'client-credentials token' portico portico-assertions`
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { authorizationServerOf } from 'portico';
import { runTarget, type Place, type Seeded } from '../target.ts';
import { application, seed as seedWithSecrets, serve } from './portico-application.ts';

const CHANGES = { private_key_jwt: true };

async function seed(place: Place): Promise<Seeded> {
  const seeded = await seedWithSecrets(place);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const opened = await application(place, CHANGES);
  const { clients, issuer } = authorizationServerOf(opened);
  const { client } = await clients.create({
    name: 'Bench',
    grants: ['client_credentials'],
    scopes: [seeded.scopes.service],
    jwks: { keys: [createPublicKey(privateKey).export({ format: 'jwk' })] },
  });
  await opened.close();
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signs = { pem, audience: issuer };
  return { ...seeded, service: { id: client.id, secret: '', signs } };
}

await runTarget({ seed, serve: (place) => serve(place, CHANGES) });
