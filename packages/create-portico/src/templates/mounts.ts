// How to mount Portico in each framework: the route files to write, and the lines that the user
// adds.
import type { Detected } from '../detect.ts';
import type { Framework } from '../frameworks.ts';

/** A file to write. The path is relative to the application's folder and uses `/`. */
export interface WrittenFile {
  readonly path: string;
  readonly text: string;
}

/** Lines that the user must add to an existing file of the application. */
export interface Edit {
  /** The path of the file, or a description of it. */
  readonly where: string;
  readonly lines: readonly string[];
}

/** Where the host file is, and how to import files of the application. */
export interface Place {
  /** The path of the host file, such as `src/portico.ts`. */
  readonly host: string;
  /**
   * The file extension in the application's imports, such as `.ts`. Empty if imports have no
   * extension.
   */
  readonly imported: string;
  readonly detected: Detected;
}

export interface Mount {
  readonly files: readonly WrittenFile[];
  readonly edits: readonly Edit[];
}

const START = 'your main file, after your session and before your routes';

/** Returns the files and edits that mount Portico, for each framework. */
export const MOUNTS: Readonly<Record<Framework, (place: Place) => Mount>> = {
  express(place) {
    if (place.detected.modules === 'commonjs' && place.detected.language === 'javascript')
      return {
        files: [],
        edits: [
          {
            where: START,
            lines: [
              "const { portico } = require('portico/express');",
              `const ready = require('./${imported(place)}').startPortico().then((server) => portico(server));`,
              'app.use((req, res, next) => ready.then((mount) => mount(req, res, next), next));',
            ],
          },
        ],
      };
    return mountedBy(place, 'express', 'app.use(portico(await startPortico()));');
  },
  koa: (place) => mountedBy(place, 'koa', 'app.use(portico(await startPortico()));'),
  hono: (place) => mountedBy(place, 'hono', 'app.use(portico(await startPortico()));'),
  fastify: (place) =>
    mountedBy(place, 'fastify', 'await fastify.register(portico(await startPortico()));'),
  node(place) {
    const { files, edits } = mountedBy(
      place,
      'node',
      'const mount = portico(await startPortico());',
    );
    const handle = 'if (await mount.handle(request, response)) return;';
    return {
      files,
      edits: [...edits, { where: 'the beginning of your request listener', lines: [handle] }],
    };
  },
  nest: (place) => ({
    files: [],
    edits: [
      {
        where: 'src/app.module.ts',
        lines: [
          "import { PorticoModule } from 'portico/nest';",
          `import { startPortico } from './${imported(place)}';`,
          'PorticoModule.forRootAsync({ useFactory: startPortico }), // in imports: […]',
        ],
      },
    ],
  }),
  next(place) {
    const root = place.host.startsWith('src/') ? 'src/app' : 'app';
    const extension = place.detected.language === 'typescript' ? 'ts' : 'js';
    const text = `import { handlers } from '../../../lib/portico';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlers;
`;
    return {
      files: ['oauth', '.well-known'].map((folder) => ({
        path: `${root}/${folder}/[...portico]/route.${extension}`,
        text,
      })),
      edits: [],
    };
  },
  sveltekit: (place) => ({
    files: [
      {
        path: `src/hooks.server.${place.detected.language === 'typescript' ? 'ts' : 'js'}`,
        text: hooks(place),
      },
    ],
    edits: [
      {
        where:
          'the sveltekit() call in vite.config, or kit in svelte.config.js. The hook in src/hooks.server checks the origin of forms instead',
        lines: ["csrf: { trustedOrigins: ['*'] },"],
      },
      {
        where: 'the same file, if it uses adapter-auto, because Portico needs a Node server',
        lines: ["import adapter from '@sveltejs/adapter-node';"],
      },
    ],
  }),
  'react-router': (place) => ({
    files: [
      {
        path: `app/routes/portico.${place.detected.language === 'typescript' ? 'ts' : 'js'}`,
        text: `«import type { LoaderFunctionArgs } from 'react-router';
»import { portico } from '../portico.server${place.imported}';

async function answer({ request, context }«: LoaderFunctionArgs»)«: Promise<Response>» {
  const { endpoints } = await portico();
  return (await endpoints(request, context)) ?? new Response('Not found', { status: 404 });
}

export { answer as loader, answer as action };
`,
      },
    ],
    edits: [
      {
        where: 'app/routes.ts',
        lines: ['.well-known/*', 'oauth/*'].map(
          (route, index) =>
            `route('${route}', 'routes/portico.${place.detected.language === 'typescript' ? 'ts' : 'js'}', { id: 'portico-${index === 0 ? 'well-known' : 'oauth'}' }),`,
        ),
      },
    ],
  }),
};

const imported = ({ host, imported: extension }: Place) =>
  `${host.slice(host.lastIndexOf('/') + 1).replace(/\.[a-z]+$/, '')}${extension}`;

function mountedBy(place: Place, framework: string, call: string): Mount {
  const where = place.detected.modules === 'commonjs' ? `${START}, in an async function` : START;
  const lines =
    place.detected.modules === 'commonjs' && place.detected.language === 'javascript'
      ? [
          `const { portico } = require('portico/${framework}');`,
          `const { startPortico } = require('./${imported(place)}');`,
        ]
      : [
          `import { portico } from 'portico/${framework}';`,
          `import { startPortico } from './${imported(place)}';`,
        ];
  return { files: [], edits: [{ where, lines: [...lines, call] }] };
}

function hooks({ detected, imported: extension }: Place): string {
  const isNew = (detected.major ?? 2) >= 3;
  return `«import type { Handle } from '${isNew ? '@sveltejs/kit/hooks' : '@sveltejs/kit'}';
»import { building } from '${isNew ? '$app/env' : '$app/environment'}';
import { portico } from './lib/server/portico${extension}';

const FORMS = /^(application\\/x-www-form-urlencoded|multipart\\/form-data|text\\/plain)\\b/i;

/** Checks what SvelteKit checks if it does not trust all origins. */
function isForeignForm(request«: Request», origin«: string»)«: boolean» {
  const type = request.headers.get('content-type');
  return (
    ['POST', 'PUT', 'PATCH', 'DELETE'].includes(request.method) &&
    (type === null || FORMS.test(type)) &&
    request.headers.get('origin') !== origin
  );
}

export const handle«: Handle» = async ({ event, resolve }) => {
  if (building) return resolve(event); // SvelteKit is prerendering a page
  const { server, endpoints } = await portico();
  const answer = await endpoints(event.request, event);
  if (answer !== null) return answer;
  if (isForeignForm(event.request, server.origin))
    return new Response(\`Cross-site \${event.request.method} form submissions are forbidden\`, {
      status: 403,
    });
  return resolve(event);
};
`;
}
