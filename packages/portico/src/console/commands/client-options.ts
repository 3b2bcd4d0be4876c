import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { ConsoleContext } from '../../application/console-context.ts';
import {
  MARKED,
  type FieldShape,
  type FurtherValues,
  type MetadataField,
} from '../../store/further-metadata.ts';
import type { ClientRegistration } from '../../clients/registration.ts';
import { RegistrationError } from '../../errors.ts';

/** Reads the options that several client commands share. */

/** Collects the values of an option that can be repeated. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/**
 * Collects the values of an option that can be repeated. Commas or spaces separate several values
 * in one.
 */
export function collectList(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(/[\s,]+/).filter((item) => item !== '')];
}

/** A scheme in `--allow-scheme` makes attacks possible, so each one causes a warning. */
export function warnOfSchemes(context: ConsoleContext, schemes: readonly string[] = []): void {
  for (const scheme of schemes) {
    context.note(
      `Warning: any program on the device can register ${scheme}: and receive this ` +
        `application's responses. With PKCE, that program cannot use ` +
        "a code that it did not request. But it can send requests with this application's " +
        'client id.',
    );
  }
}

/**
 * Returns the logo in `--logo`. The server fetches a URL later. Throws a RegistrationError if a
 * file cannot be read.
 */
export async function namedLogo(
  logo: string | undefined,
): Promise<{ readonly logo?: Uint8Array; readonly logoUri?: string }> {
  if (logo === undefined) return {};
  if (/^https?:/i.test(logo)) return { logoUri: logo };
  try {
    return { logo: await readFile(logo) };
  } catch (cause) {
    throw new RegistrationError(`The logo ${logo} cannot be read; check the path of the file`, {
      cause,
    });
  }
}

type NamedKeys = Pick<
  ClientRegistration,
  'jwks' | 'jwksUri' | 'tokenEndpointAuthSigningAlg' | 'workload'
>;

/** Reads `--jwks` and `--jwks-alg`. Throws a RegistrationError if the key file cannot be read. */
export async function namedKeys({
  jwks,
  jwksAlg,
}: {
  readonly jwks?: string;
  readonly jwksAlg?: string;
}): Promise<NamedKeys> {
  const algorithm = jwksAlg === undefined ? {} : { tokenEndpointAuthSigningAlg: jwksAlg };
  if (jwks === undefined) return algorithm;
  if (/^https?:/i.test(jwks)) return { ...algorithm, jwksUri: jwks };
  try {
    return { ...algorithm, jwks: JSON.parse(await readFile(jwks, 'utf8')) as unknown };
  } catch (cause) {
    throw new RegistrationError(
      `The key set ${jwks} cannot be read: there is no such file, or it is not valid JSON`,
      {
        cause,
      },
    );
  }
}

/** Reads `--workload` and `--subject`. Throws a RegistrationError if only one is present. */
export async function namedWorkload({
  workload: issuer,
  subject,
}: {
  readonly workload?: string;
  readonly subject?: string;
}): Promise<NamedKeys> {
  if (issuer === undefined && subject === undefined) return {};
  if (issuer === undefined || subject === undefined)
    throw new RegistrationError('Use --workload and --subject together');
  return { workload: { issuer, subject } };
}

/** Joins names, for example `RS256, ES256 or EdDSA`. */
export function joinAlternatives(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]+)$/, ' or $1');
}

/**
 * Returns commander's name for an option, for example `allowScheme` for `--allow-scheme <scheme>`.
 */
export function optionName(flag: string): string {
  const [name = ''] = flag.slice(2).split(' ');
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Adds options for the fields of features. `says` extends the help text of options with a value.
 * With `canUnmark`, every flag also gets a `--no-…` option.
 */
export function addFieldOptions(
  command: Command,
  fields: readonly MetadataField[],
  says: (text: string, shape: FieldShape) => string,
  canUnmark: boolean,
): void {
  for (const { option, shape = 'texts' } of fields) {
    if (option === undefined) continue;
    if (shape !== 'flag') command.option(option.flag, says(option.says, shape), collect);
    else command.option(option.flag, option.says);
    if (shape === 'flag' && canUnmark)
      command.option(option.flag.replace('--', '--no-'), `undo ${option.flag}`);
  }
}

/**
 * Reads the options for the fields of features. Ignores empty values, so one empty value means an
 * empty list.
 */
export function namedFields(
  fields: readonly MetadataField[],
  options: object,
): { readonly metadata?: FurtherValues } {
  const given = Object.entries(options);
  const named = fields.flatMap(({ name, option, shape }) => {
    if (option === undefined) return [];
    const [, values] = given.find(([key]) => key === optionName(option.flag)) ?? [];
    if (shape === 'flag')
      return typeof values === 'boolean' ? [[name, values ? [MARKED] : []] as const] : [];
    if (!Array.isArray(values)) return [];
    return [[name, values.filter((value): value is string => value !== '')] as const];
  });
  return named.length === 0 ? {} : { metadata: Object.fromEntries(named) };
}
