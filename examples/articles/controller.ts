import type { Route, RouteHandler } from 'portico';
import type { Articles } from './articles.ts';
import { readJson, type JsonProblem } from './json-body.ts';
import { newArticle, type NewArticle } from './schemas.ts';

/** The routes of the API. They translate between HTTP and the repository of articles. */
export function articleRoutes(
  articles: Articles,
  guarded: Guard = (handler) => handler,
): readonly Route[] {
  return [
    {
      name: 'api.articles.index',
      methods: ['GET'],
      path: '/api/articles',
      handler: async () => Response.json({ data: await articles.list() }),
    },
    {
      name: 'api.articles.show',
      methods: ['GET'],
      path: '/api/articles/{id}',
      async handler({ id }) {
        const known = articleId(id);
        const article = known === null ? null : await articles.find(known);
        return article === null ? notFound() : Response.json({ data: article });
      },
    },
    {
      name: 'api.articles.store',
      methods: ['POST'],
      path: '/api/articles',
      handler: guarded(async (_, request) => {
        const input = await inputOf(request);
        if ('refusal' in input) return input.refusal;
        const article = await articles.create(input.article);
        return Response.json(
          { data: article },
          { status: 201, headers: { Location: `/api/articles/${article.id}` } },
        );
      }),
    },
    {
      name: 'api.articles.destroy',
      methods: ['DELETE'],
      path: '/api/articles/{id}',
      handler: guarded(async ({ id }) => {
        const known = articleId(id);
        const removed = known !== null && (await articles.remove(known));
        return removed ? new Response(null, { status: 204 }) : notFound();
      }),
    },
  ];
}

/** Wraps the handlers that write. In protected.ts, it checks that the request may write. */
export type Guard = (handler: RouteHandler) => RouteHandler;

const PROBLEMS: Readonly<Record<JsonProblem, readonly [status: number, error: string]>> = {
  'not JSON by its media type': [415, 'Content-Type must be application/json.'],
  malformed: [400, 'The body is malformed JSON.'],
};

/** Reads and checks a new article. The checks are in the order of API-3.6 to API-3.9. */
async function inputOf(
  request: Request,
): Promise<{ readonly article: NewArticle } | { readonly refusal: Response }> {
  const body = await readJson(request);
  if ('problem' in body) {
    const [status, error] = PROBLEMS[body.problem];
    return { refusal: Response.json({ error }, { status }) };
  }
  if (typeof body.value !== 'object' || body.value === null || Array.isArray(body.value)) {
    return {
      refusal: Response.json({ error: 'The body must be a JSON object.' }, { status: 422 }),
    };
  }
  const checked = newArticle.safeParse(body.value);
  if (checked.success) return { article: checked.data };
  const fields: Record<string, string[]> = {};
  for (const { path, message } of checked.error.issues) {
    const field = String(path[0]);
    (fields[field] ??= []).push(`${field} ${message}.`);
  }
  return {
    refusal: Response.json({ error: 'The article is not valid.', fields }, { status: 422 }),
  };
}

/** Returns the id of an article, or null if the text cannot be an id of this store. */
function articleId(id = ''): number | null {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : null;
}

function notFound(): Response {
  return Response.json({ error: 'No article with that id.' }, { status: 404 });
}
