import { defineFeature } from '../../feature.ts';
import { createFetchJson } from '../../http/outbound/fetch-json.ts';
import { Assertions } from './assertions.ts';
import { ClientKeySource } from './client-keys.ts';
import { privateKeyJwtShape } from './config.ts';

/** Clients can authenticate with signed assertions (RFC 7523 section 2.2). */
export const privateKeyJwt = defineFeature({
  name: 'private_key_jwt',
  config: privateKeyJwtShape,
  start(server, { private_key_jwt: isOn = false }) {
    if (!isOn) return {};
    const newFetchJson = () => createFetchJson(server.fetching);
    return {
      usesOnce: true,
      clientAssertions: (source) =>
        new Assertions(server, new ClientKeySource(newFetchJson, source, server.clock)),
    };
  },
});
