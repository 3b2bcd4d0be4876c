import { fieldsOf, type Browser } from '../browser.ts';
import type { World } from '../world.ts';
import { authorizationOf, codeOf, signedIn } from './granting.ts';
import { but, BYTES, newClient, post, SAME_WAY, type Fields, type Row } from './row.ts';

interface OfForms {
  readonly name: string;
  readonly action: string;
  /** Returns the hidden fields of the form, and the text of its button. */
  readonly shown: (world: World, browser: Browser) => Promise<Fields>;
  readonly field: string;
  readonly status: number;
}

function ofForms({ name, action, shown, field, status }: OfForms): Row {
  return {
    name: `CSRF token, ${name}`,
    classes: BYTES,
    must: ['createHmac sha256', 'timingSafeEqual 43'],
    ...SAME_WAY,
    async prepare(world) {
      const browser = await signedIn(world);
      const fields = await shown(world, browser);
      const token = fields[field] ?? '';
      if (token.length !== 43) throw new Error(`The form of ${name} has no token`);
      const headers = { Cookie: browser.cookies(), Origin: world.url };
      const request = (value: string) => () =>
        post(world, action, { ...fields, [field]: value }, headers);
      return { requests: [request(but(token, 0)), request(but(token, -1))], status };
    },
  };
}

export const FORMS: readonly Row[] = [
  ofForms({
    name: 'consent',
    action: '/oauth/authorize',
    status: 400,
    field: 'csrf_token',
    shown: async (world, browser) => ({
      ...fieldsOf(await browser.get(authorizationOf(await newClient(world)))),
      decision: 'allow',
    }),
  }),
  ofForms({
    name: 'applications',
    action: '/oauth/applications',
    status: 400,
    field: 'csrf_token',
    shown: async (world, browser) => {
      const client = await newClient(world);
      await codeOf(world, client, browser);
      return fieldsOf(await browser.get('/oauth/applications'), client.id);
    },
  }),
  ofForms({
    name: 'the administrator’s pages',
    action: '/oauth/admin/client',
    status: 400,
    field: 'csrf_token',
    shown: async (world, browser) => {
      const { id } = await newClient(world);
      return {
        ...fieldsOf(await browser.get(`/oauth/admin/client?id=${id}&ask=revoke`), 'revoke'),
        id,
      };
    },
  }),
  ofForms({
    name: 'the kit’s own forms',
    action: '/logout',
    status: 403,
    field: '_csrf',
    shown: async (_, browser) => fieldsOf(await browser.get('/'), '/logout'),
  }),
];
