import { defineApplication } from '@portico/kit';
import {
  type Environment,
  type Plugin,
  oauthServer,
  type oauthServerConfiguration,
  type OAuthServerConfigInput,
} from 'portico';
import { assistant } from '@portico/assistant';
import { mcp, type mcpConfiguration, type McpConfigInput } from '@portico/mcp';
import { z } from 'zod';

/**
 * Configurations of an application that must compile, and configurations that must not. `npm run
 * types` checks this.
 */

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;
export const sections: {
  readonly oauth_server: Same<
    keyof OAuthServerConfigInput,
    keyof z.input<typeof oauthServerConfiguration>
  >;
  readonly mcp: Same<keyof McpConfigInput, keyof z.input<typeof mcpConfiguration>>;
} = { oauth_server: true, mcp: true };

declare const untyped: Plugin;
declare const typed: Plugin<{ billing: { currency: string; rates?: { vat: number } } }>;
const derived = {
  name: 'shop',
  defaults: {},
  configuration: {
    shop: z.strictObject({ currency: z.string(), open: z.array(z.enum(['monday', 'sunday'])) }),
  },
  migrations: [],
  views: null,
  commands: () => {},
  register: () => {},
};

export const allowed = [
  defineApplication({ config: {} }),
  defineApplication({
    directory: import.meta.dirname,
    config: {
      public_url: 'https://app.example',
      log: { level: 'info' },
      oauth_server: {
        name: 'App',
        scopes: { 'a:read': 'Read', 'a:write': { label: 'Write', permission: 'edit' } },
        claims: (user) => ({ nickname: user.getProfile().name }),
      },
      mcp: { oauth: { scopes_supported: ['mcp:tools'] } },
      assistant: { listing: { any: { thing: 1 } } },
    },
    plugins: [oauthServer(), mcp(), assistant()],
  }),
  defineApplication({
    config: (env) => ({
      public_url: env['PUBLIC_URL'],
      oauth_server: { name: env['NAME'], claims: (user) => ({ nickname: user.getProfile().name }) },
      csrf_exempt_routes: { hook: true },
      log: { level: env['DEBUG'] === undefined ? 'info' : 'debug' },
    }),
    plugins: [oauthServer()],
  }),
  // Sections of the application's own plugins. The type comes from the plugin or from its schema.
  // Otherwise, any value is allowed.
  defineApplication({ config: { billing: { rates: {} } }, plugins: [typed] }),
  defineApplication({
    config: () => ({ shop: { open: ['sunday'] } }),
    plugins: [derived, oauthServer()],
  }),
  defineApplication({ config: () => ({ anything: { at: 'all' } }), plugins: [untyped, mcp()] }),
  // The application's own key, with a schema.
  defineApplication({
    config: () => ({ imprint: { city: 'Turin' } }),
    configuration: { imprint: z.strictObject({ city: z.string() }) },
    plugins: [mcp()],
  }),
  defineApplication({
    config(env: Environment) {
      const publicUrl = env['PUBLIC_URL'];
      return { public_url: publicUrl, oauth_server: { audience: `${publicUrl}/mcp` } };
    },
    plugins: [oauthServer()],
  }),
];

/** A function may declare any map as its result, because the keys are then unknown. */
export const untold = (config: () => Readonly<Record<string, unknown>>) =>
  defineApplication({ config, plugins: [oauthServer()] });

export const refused = [
  // @ts-expect-error -- public_ur1 is misspelled
  defineApplication({ config: { public_ur1: 'https://app.example' } }),
  // @ts-expect-error -- public_ur1 is misspelled, next to a known key
  defineApplication({ config: () => ({ body_limit: 1, public_ur1: 'https://app.example' }) }),
  // @ts-expect-error -- acess_token_ttl is misspelled
  defineApplication({ config: { oauth_server: { acess_token_ttl: 1 } }, plugins: [oauthServer()] }),
  defineApplication({
    // @ts-expect-error -- acess_token_ttl is misspelled, without another key
    config: () => ({ oauth_server: { acess_token_ttl: 1 } }),
    plugins: [oauthServer()],
  }),
  defineApplication({
    // @ts-expect-error -- acess_token_ttl is misspelled, next to a known key
    config: (env) => ({ oauth_server: { name: env['NAME'], acess_token_ttl: 1 } }),
    plugins: [oauthServer()],
  }),
  defineApplication({
    // @ts-expect-error -- permision is misspelled, in a map that accepts any name
    config: () => ({ oauth_server: { scopes: { a: { label: 'A', permision: 'b' } } } }),
    plugins: [oauthServer()],
  }),
  // @ts-expect-error -- no plugin adds the section mcp
  defineApplication({ config: () => ({ body_limit: 1, mcp: {} }), plugins: [oauthServer()] }),
  defineApplication({
    // @ts-expect-error -- steaming is misspelled; an untyped plugin does not change the type of mcp
    config: { mcp: { transport: { steaming: true } } },
    plugins: [untyped, mcp()],
  }),
  defineApplication({
    // @ts-expect-error -- user_scope is misspelled
    config: () => ({ assistant: { account_linking: true, user_scope: ['a'] } }),
    plugins: [oauthServer(), mcp(), assistant()],
  }),
  // @ts-expect-error -- curency is misspelled
  defineApplication({ config: () => ({ shop: { open: [], curency: 'EUR' } }), plugins: [derived] }),
  // @ts-expect-error -- vta is misspelled
  defineApplication({ config: { billing: { rates: { vta: 1 } } }, plugins: [typed] }),
  defineApplication({
    // @ts-expect-error -- citty is misspelled
    config: () => ({ imprint: { citty: 'Turin' } }),
    configuration: { imprint: z.strictObject({ city: z.string() }) },
  }),
  // @ts-expect-error -- neither a plugin nor the application declares this key
  defineApplication({ config: { imprint: { city: 'Turin' } } }),
  // @ts-expect-error -- loud is not a level
  defineApplication({ config: () => ({ log: { level: 'loud' } }) }),
  // @ts-expect-error -- a number is not a name
  defineApplication({ config: { oauth_server: { name: 5 } }, plugins: [oauthServer()] }),
];
