import { redirectUriProblem } from 'portico/extension';
import { z } from 'zod';

const redirectUri = z
  .string({ error: 'must be a callback URI' })
  .refine(isExactHttps, "must be an https callback URI, exactly as the vendor's console shows it");

/**
 * Whether this redirect URI can be registered and uses https. Rejects http loopback URIs, although
 * they can be registered, because a vendor cannot reach them.
 */
function isExactHttps(value: string): boolean {
  return redirectUriProblem(value) === null && new URL(value).protocol === 'https:';
}

/**
 * The schema of the section `assistant`. It does not check the directory listing, which is checked
 * when you export it or run the doctor.
 */
export const assistantConfiguration = z.strictObject({
  account_linking: z.boolean({ error: 'must be true or false' }).default(false),
  redirect_uris: z
    .array(redirectUri, { error: "must be a list of the vendor's callback URIs" })
    .default([]),
  user_scopes: z
    .array(z.string({ error: 'must be a scope name' }), { error: 'must be a list of scope names' })
    .min(1, 'must contain at least one scope')
    .default(['mcp:tools']),
  listing: z
    .record(z.string(), z.unknown(), {
      error: 'must be an object; for an example, see docs/voice-assistant.md',
    })
    .optional(),
});

/** The validated section `assistant`. */
export type AssistantConfig = z.output<typeof assistantConfiguration>;

/**
 * The settings in an application's section `assistant`. A missing or undefined setting gets its
 * default value.
 */
export interface AssistantConfigInput {
  /** Whether users can link their accounts to the assistant. Default: false. */
  readonly account_linking?: boolean | undefined;
  /**
   * The vendor's callback URIs, exactly as the vendor's console shows them. Required for account
   * linking.
   */
  readonly redirect_uris?: readonly string[] | undefined;
  /**
   * The scopes of the account-linking client. They must be the same as
   * `mcp:oauth:scopes_supported`, in the same order. Default: `['mcp:tools']`.
   */
  readonly user_scopes?: readonly string[] | undefined;
  /**
   * The listing for the vendor's directory. Portico checks the listing when you export it or run
   * the doctor.
   */
  readonly listing?: Readonly<Record<string, unknown>> | undefined;
}
