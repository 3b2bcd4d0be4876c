import type { ConfigurationProblem, Migration } from '@portico/sql';
import type { WaitingFor } from '../authorization/waiting-for.ts';
import type { BrandedPlace, FoundBranding } from '../branding.ts';
import type { ConfigSchema } from '../config.ts';
import type { SpeakingOptions } from '../words/speaking.ts';
import type { ConfigMap, ConfigValue, Environment } from './config-map.ts';
import type { AddCommands } from './console-context.ts';
import type { Application } from './started-application.ts';

/** Configuration sections without types. They accept any key with any value. */
export type UntypedSections = { readonly [section: string]: ConfigValue };

/**
 * A plugin of an application.
 *
 * `Sections` are the top-level configuration keys that the plugin adds, as an application writes
 * them: `Plugin<{ shop: { currency?: string } }>`. If you leave `Sections` out, the compiler does
 * not check keys.
 */
export interface Plugin<Sections extends object = UntypedSections> {
  /** The plugin's name, in lower snake case. Its configuration section has the same name. */
  readonly name: string;
  /**
   * The plugin's default configuration. The application's values override it. Maps merge by key,
   * and arrays by position.
   */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The environment variables that `defaults` reads, each with the configuration key that it sets.
   * If a variable is not set, the report of the problem names it.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /** The schemas of the plugin's top-level keys. Problems name the key in colon form. */
  readonly configuration: {
    readonly [Section in keyof Sections]: ConfigSchema<unknown, Sections[Section]>;
  };
  /**
   * Returns problems of keys that do not work together. Portico calls it only if each key is valid
   * by itself.
   */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /**
   * The `Authorization` schemes of client requests, such as Bearer. These requests have no session
   * and no cookies, and skip the session-wide CSRF check. Defaults to no schemes.
   */
  readonly tokenSchemes?: (config: ConfigMap) => readonly string[];
  /**
   * Returns the page languages and texts from the configuration. By default, pages are only in
   * English.
   */
  readonly words?: (config: ConfigMap) => Pick<SpeakingOptions, 'languages' | 'own' | 'catalogs'>;
  /** Returns the branding of pages. Defaults to Portico's own design. */
  readonly branding?: (
    config: ConfigMap,
    place: Omit<BrandedPlace, 'application'>,
  ) => FoundBranding;
  /**
   * The plugin's schema migrations, in order. There may be none. A function receives the
   * configuration, and returns the migrations that it needs. If the configuration is not known, the
   * function receives an empty one. It then returns the migrations that every configuration needs.
   */
  readonly migrations: readonly Migration[] | ((config: ConfigMap) => readonly Migration[]);
  /** The absolute path of the plugin's default views. Null if the plugin has none. */
  readonly views: string | null;
  /**
   * Reads from `returnTo` why the plugin sent a person to the kit's sign-in page, so that the page
   * can show the reason. Returns null if this plugin did not send the person.
   */
  readonly waitingFor?: (
    application: Application,
    request: Request,
    returnTo: string,
  ) => Promise<WaitingFor | null>;
  /**
   * Adds the plugin's console commands. It may return a promise, so that it can load the commands
   * first. Portico waits for the promise.
   */
  readonly commands: (...given: Parameters<AddCommands>) => void | Promise<void>;
  /**
   * Adds routes, middleware and services while the application starts. The database schema may not
   * exist yet.
   */
  register(application: Application): void | Promise<void>;
  /**
   * Returns one sentence for each thing that does not work in the current setup. `serve` prints and
   * logs these warnings, and still starts.
   */
  readonly warnings?: (application: Application) => readonly string[];
  /**
   * Runs the application's `register`. Use this to make functions such as `tool()` work inside
   * `register`.
   */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}
