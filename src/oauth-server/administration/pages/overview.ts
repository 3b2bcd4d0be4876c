import { markup, type Content } from '../markup.ts';
import type { Page } from '../page.ts';
import { code, facts } from '../shown.ts';

/** GET /oauth/admin: what this server is, and where everything else is. */
export const overview: Page = {
  async show({ parts: { server }, links }) {
    const { registration = 'off', client_id_metadata_documents: documents = false, profile } = server.config;
    const ways: readonly (readonly [href: string, text: string, about: string])[] = [
      [links.clients, 'Applications', 'look at one, give it a new secret, end it'],
      [
        links.access,
        'Who holds access',
        'what people have allowed, by application, person, scope and use; and its end',
      ],
      [links.rotations, 'Open rotations', 'secrets that were replaced and are still accepted'],
      [links.keys, 'Signing keys', 'what ID tokens are signed with'],
      ...(registration === 'off'
        ? []
        : [
            [
              links.registration,
              'Registration',
              'the tokens with which applications register themselves',
            ] as const,
          ]),
      [links.audit, 'Audit', 'what happened, and who did it, as far as it is kept here'],
      [links.doctor, 'Doctor', 'examines every part of this server, and changes nothing'],
    ];
    return {
      title: 'Overview',
      body: markup`
      ${facts([
        ['Issuer', code(server.issuer)],
        ['Profile', profile ?? null],
        ['Applications come', howTheyCome(registration, documents !== false)],
      ])}
      <ul class="rows" role="list">${ways.map(
        ([href, text, about]) => markup`
        <li><h2 class="head"><a href="${href}">${text}</a></h2><p class="soft">${about}</p></li>`,
      )}
      </ul>
      <p class="soft">The console does the same: <code>npx portico --help</code>. What is done here is in the audit log, with who did it.</p>`,
    };
  },
};

function howTheyCome(registration: string, documents: boolean): Content {
  const ways = [
    'by an operator',
    ...(registration === 'open' ? ['by themselves, anybody'] : []),
    ...(registration === 'initial_access_token' ? ['by themselves, with an initial access token'] : []),
    ...(documents ? ['as documents'] : []),
  ];
  return ways.join('; ');
}
