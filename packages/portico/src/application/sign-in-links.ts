import { z } from 'zod';

/** Matches the path of a page on this origin. */
const OWN_PATH = /^\/(?!\/)[\w.~!$&()*+,;=:@%/?#-]*$/;

const HTTPS = /^https:\/\/[^\s\\]+$/;

function leadsSomewhere(href: string): boolean {
  if (OWN_PATH.test(href)) return true;
  const url = HTTPS.test(href) ? URL.parse(href) : null;
  return url !== null && url.username === '' && url.password === '';
}

const MESSAGE = 'must be an https URL, or a path such as /terms';
const link = z.string({ error: MESSAGE }).refine(leadsSomewhere, MESSAGE);

export const signInLinksSchema = z.strictObject(
  { forgot_password: link.optional(), terms: link.optional() },
  { error: 'must be an object { forgot_password, terms }' },
);

/** The validated `sign_in_links` section. */
export type SignInLinks = z.output<typeof signInLinksSchema>;
