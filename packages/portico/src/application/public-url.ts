import { z, type ZodType } from 'zod';
import { basePathProblems } from '../http/base-path.ts';
import { isLoopback } from '../http/loopback.ts';

/** The message for a `public_url` that is allowed only in development. */
export const HTTP_NEEDS_DEV = 'must be https (http is allowed only on loopback with APP_ENV=dev)';

/**
 * `public_url` must be an absolute https origin. With `APP_ENV=dev`, http is also allowed on
 * loopback.
 */
export function publicUrlSchema(mode: 'dev' | 'prod'): ZodType<string> {
  const hint = 'set it to the origin that people use, such as https://app.example.com';
  return z
    .string({
      error: ({ input }) =>
        input === undefined ? `is missing; ${hint}` : `must be an absolute https origin; ${hint}`,
    })
    .superRefine((value, context) => {
      const problem = publicUrlProblem(value, mode);
      if (problem !== null) context.addIssue({ code: 'custom', message: `${problem}; ${hint}` });
    });
}

/** `base_path`: the path prefix of all endpoints below the origin of `public_url`. */
export const basePathSchema: ZodType<string> = z
  .string({ error: 'must be a path such as /auth, or empty' })
  .superRefine((value, context) => {
    for (const message of basePathProblems(value)) context.addIssue({ code: 'custom', message });
  });

function publicUrlProblem(value: string, mode: 'dev' | 'prod'): string | null {
  if (!URL.canParse(value)) return 'is not an absolute URL';
  const url = new URL(value);
  if (url.protocol === 'http:') {
    if (!isLoopback(url)) return 'must be https';
    if (mode !== 'dev') return HTTP_NEEDS_DEV;
  } else if (url.protocol !== 'https:') {
    return 'must be https';
  }
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  // An origin has no path, but allow one slash at the end.
  if (value !== url.origin && value !== `${url.origin}/`)
    return `must be an origin without a path: use ${url.origin}`;
  return null;
}
