import { defineFeature } from '../../feature.ts';
import { createFetchImage } from '../../http/outbound/fetch-json.ts';
import { logosShape } from './config.ts';
import { logoEndpoint } from './endpoint.ts';
import { getPicture } from './picture.ts';
import { LogoRecords } from './records.ts';

declare module '../../store/store.ts' {
  interface FeatureRecords {
    readonly logos: LogoRecords;
  }
}

const PATH = '/oauth/logo';

/** Operators can give clients a logo, which the server stores and shows. */
export const logos = defineFeature({
  name: 'logos',
  config: logosShape,
  endpoints: [
    {
      name: 'oauth_server_logo',
      path: PATH,
      methods: ['GET'],
      onlyReads: true,
      operations: async () => (await import('./operations.ts')).logoOperations,
    },
  ],
  records: (database) => ({ logos: new LogoRecords(database) }),
  start({ basePath, store, fetching }, { client_logos: isOn = false }) {
    if (!isOn) return {};
    const fetchImage = createFetchImage(fetching);
    return {
      logos: { path: `${basePath}${PATH}`, pictureOf: (named) => getPicture(named, fetchImage) },
      handlers: () => ({ oauth_server_logo: logoEndpoint(store.logos) }),
    };
  },
});
