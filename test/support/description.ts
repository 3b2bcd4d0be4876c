/** The OpenAPI description (`oauth_server:openapi`), for test/support/described-answers.ts. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiText } from '../../tools/scripts/openapi.ts';

interface Described {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Responses } | undefined>>>
  >;
}
type Responses = Readonly<
  Record<string, { readonly content?: Readonly<Record<string, object>> } | undefined>
>;

const text = await openApiText();
const description = JSON.parse(text) as Described;
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
ajv.addSchema(JSON.parse(text) as object, 'openapi');

/** Endpoints that an application can define itself. */
const OWN = /^\/health\//;
const paths = Object.keys(description.paths).filter((path) => !OWN.test(path));

const pointer = (...parts: readonly string[]) =>
  parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');

/** Returns what is wrong with a response, or null if the description contains it. */
export async function undescribed(
  method: string,
  url: string,
  response: Response,
): Promise<string | null> {
  const { pathname } = new URL(url);
  const path = paths.find((each) => pathname.endsWith(each));
  const operation =
    path === undefined ? undefined : description.paths[path]?.[method.toLowerCase()];
  if (path === undefined || operation === undefined) return null;
  // A framework, or a server that is not Portico, made this response.
  if (!response.headers.has('x-request-id')) return null;
  const status = String(response.status);
  const described = operation.responses[status];
  // The application itself responds if the endpoint is off, does not have this method, or if the
  // application's own CSRF check rejects the request.
  if (described === undefined && /^40[345]$/.test(status)) return null;
  if (described === undefined) return `${method} ${path}: the status ${status} is not described`;
  const { content = {} } = described;
  const body = await response.clone().text();
  if (body === '') return null;
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const found = Object.keys(content).find(
    (each) => each === type || each === type.replace(/\/.*/, '/*'),
  );
  if (found === undefined) return `${method} ${path} ${status}: ${type} is not described`;
  if (type !== 'application/json') return null;
  const reference = pointer(
    'paths',
    path,
    method.toLowerCase(),
    'responses',
    status,
    'content',
    type,
    'schema',
  );
  const validate = ajv.getSchema(`openapi#/${reference}`);
  if (validate === undefined) throw new Error(`The description has no ${reference}`);
  const isValid = validate(JSON.parse(body));
  return isValid ? null : `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}`;
}
