import type { Chapter } from './rule.ts';

export const configuration: Chapter = {
  source: 'Document 1',
  about: 'Configuration and scopes',
  rules: [
    {
      section: 'Configuration: public_url',
      rule: 'It has to be set, to an absolute https origin and nothing more (http only for this machine, in development).',
      tests: [
        'test/console.test.ts > the service refuses to start, naming each key and what to do > everything missing, all at once',
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [http://app.example.com]',
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [https://app.example.com/path]',
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [app.example.com]',
      ],
    },
    {
      section: 'Configuration: name',
      rule: 'Without a name the service refuses to start.',
      tests: [
        'test/console.test.ts > the service refuses to start, naming each key and what to do > everything missing, all at once',
      ],
    },
    {
      section: 'Configuration: name',
      rule: 'The name is for people: they see it, and no issuer, client id, redirect URI, subject or metadata holds it.',
      tests: [
        'test/authorization-request.test.ts > the pages > say who asks, as whom, for what, and where the answer goes',
        'test/openid-connect.test.ts > oauth4webapi > discovers both documents, and the key of the ID token is in the key set',
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
        'test/console.test.ts > oauth:client:create > prints the client by the names of RFC 7591, and nothing else on standard output',
      ],
    },
    {
      section: 'Configuration: scopes',
      rule: 'They have to be set; what is malformed is named, key by key.',
      tests: [
        'test/console.test.ts > the service refuses to start, naming each key and what to do > everything missing, all at once',
        'test/console.test.ts > the service refuses to start, naming each key and what to do > everything malformed, all at once',
      ],
    },
    {
      section: 'Configuration: scopes',
      rule: "An object's permission is what the person must hold.",
      tests: [
        'test/token-accessor.test.ts > a token that does not reach: 403 > the person no longer holds the permission behind the scope',
      ],
    },
    {
      section: 'Configuration: scopes',
      rule: "Without a permission in the object, the scope's name is the permission.",
      tests: [
        'test/configuration.test.ts > oauth_server:scopes > of an object without a permission, the scope itself is the permission',
      ],
    },
    {
      section: 'Configuration: scopes',
      rule: "A plain string is the label, and the scope's name the permission.",
      tests: [
        'test/token-accessor.test.ts > a token that does not reach: 403 > a scope given as a plain string is the permission itself',
        'test/authorization-request.test.ts > the pages > say who asks, as whom, for what, and where the answer goes',
      ],
    },
    {
      section: 'Configuration: audience',
      rule: 'Left empty, there is one API and tokens carry no target.',
      tests: [
        'test/configuration.test.ts > what is left out of oauth_server > has the defaults of the document',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
      ],
    },
    {
      section: 'Configuration: audience',
      rule: 'When it is set, a token for any other target is none.',
      tests: [
        'test/states-and-transitions.test.ts > Errors, with an audience > token granted for a target other than the configured audience: treated as no token',
        'test/token-endpoint.test.ts > a configured audience > a token granted before the audience was configured is no token',
      ],
    },
    {
      section: 'Configuration: login_route',
      rule: 'By default the route named login is found.',
      tests: [
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > on the way to signing in',
        'test/configuration.test.ts > what is left out of oauth_server > has the defaults of the document',
      ],
    },
    {
      section: 'Configuration: login_route',
      rule: 'It may name another route or path.',
      tests: ['test/configuration.test.ts > oauth_server:login_route > %j is where people sign in'],
    },
    {
      section: 'Configuration: routes',
      rule: 'With false no endpoint is registered; all stay reachable through the services.',
      tests: [
        'test/configuration.test.ts > oauth_server:routes > false registers no endpoint; they stay reachable through the services, and token() works',
      ],
    },
    {
      section: 'Configuration: claims',
      rule: "What the function returns is added to the profile's claims and replaces none.",
      tests: [
        'test/configuration.test.ts > oauth_server:claims > are added and never replace; a claim without a scope is dropped, also one returned by accident',
      ],
    },
    {
      section: 'Configuration: key_path',
      rule: 'The keys are in storage/oauth/keys unless it says otherwise.',
      tests: [
        'test/configuration.test.ts > oauth_server:key_path > is oauth/keys in the storage unless said otherwise',
        'test/configuration.test.ts > what is left out of oauth_server > has the defaults of the document',
      ],
    },
    {
      section: 'Configuration: key_path',
      rule: 'Servers that share the directory share the keys.',
      tests: [
        'test/configuration.test.ts > oauth_server:key_path > is shared: a key that one process generates signs in all of them, without a restart',
      ],
    },
    {
      section: 'Configuration: csrf_exempt_routes',
      rule: 'Plugins add to the map side by side, and the application switches one entry off by its name.',
      tests: [
        'src/host/config.test.ts > merging configuration > several plugins contribute to one map without overwriting each other, and the application switches one off',
        'test/configuration.test.ts > csrf_exempt_routes > an application switches one entry off by name, and the others stay',
      ],
    },
    {
      section: 'Configuration: lifetimes',
      rule: 'Each lifetime ends what it is for.',
      tests: [
        'test/configuration.test.ts > the lifetimes > are what is configured',
        'test/configuration.test.ts > the lifetimes > end what they are for: consent_ttl, code_ttl, access_token_ttl, refresh_token_ttl',
      ],
    },
    {
      section: 'Scope rules 1',
      rule: 'A client asks for scopes, a person holds permissions, and both are looked at.',
      tests: [
        'test/token-accessor.test.ts > a token that does not reach: 403 > the token lacks the scope',
        'test/token-accessor.test.ts > a token that does not reach: 403 > the person no longer holds the permission behind the scope',
        'test/consent.test.ts > only what was shown is granted > a scope whose permission the person lacks is neither asked for nor granted',
      ],
    },
    {
      section: 'Scope rules 2',
      rule: 'openid, profile and email are built in, cannot be configured, and need no permission.',
      tests: [
        'test/console.test.ts > the service refuses to start, naming each key and what to do > everything malformed, all at once',
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
    {
      section: 'Scope rules 3',
      rule: "Only the granted scopes release claims: email its two, profile the profile's.",
      tests: [
        'test/configuration.test.ts > oauth_server:claims > are released by the granted scopes only',
        'test/openid-connect.test.ts > UserInfo > answers GET and POST alike: JSON with the subject of the ID token, not to be stored',
      ],
    },
    {
      section: 'Scope rules 3',
      rule: 'A claim without a scope of OpenID Connect is dropped, also one returned by accident.',
      tests: [
        'test/configuration.test.ts > oauth_server:claims > are added and never replace; a claim without a scope is dropped, also one returned by accident',
      ],
    },
    {
      section: 'Scope rules 4',
      rule: 'Claims are those of getProfile() and of oauth_server:claims; the consent screen shows the same profile.',
      tests: [
        'test/configuration.test.ts > oauth_server:claims > are added and never replace; a claim without a scope is dropped, also one returned by accident',
        'test/authorization-request.test.ts > the pages > say who asks, as whom, for what, and where the answer goes',
      ],
    },
    {
      section: 'Scope rules 4',
      rule: 'Where neither says anything, an ID token still carries sub.',
      tests: [
        'test/another-host.test.ts > an application that does not use the kit > offers the whole flow by its contract alone; where it says nothing of a person, an ID token still carries sub',
      ],
    },
  ],
};
