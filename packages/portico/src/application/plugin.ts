import type { ConfigurationProblem, Migration } from '@portico/sql';
import type { WaitingFor } from '../authorization/waiting-for.ts';
import type { BrandedPlace, FoundBranding } from '../pages/branding.ts';
import type { ConfigSchema } from '../config.ts';
import type { SpeakingOptions } from '../pages/speaking.ts';
import type { ConfigMap, ConfigValue, Environment } from './config-map.ts';
import type { AddCommands } from './console-context.ts';
import type { Application } from './started-application.ts';

/** Configuration sections without types: any key with any value is allowed. */
export type UntypedSections = { readonly [section: string]: ConfigValue };

/**
 * A plugin of an application.
 *
 * `Sections` are the top-level configuration keys that the plugin adds, as an application writes
 * them: `Plugin<{ shop: { currency?: string } }>`. Without `Sections`, the compiler does not check
 * keys.
 */
export interface Plugin<Sections extends object = UntypedSections> {
  /** The plugin's name in lower snake case, which is also the name of its configuration section. */
  readonly name: string;
  /**
   * The plugin's default configuration. The application's values override it. Maps merge by key,
   * and arrays by position.
   */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The environment variables that `defaults` reads, each with the configuration key that the
   * variable sets. If the key is missing, the reported problem names the variable.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * The schemas of the plugin's top-level keys. A problem names its key with colons, for example
   * `shop:currency`.
   */
  readonly configuration: {
    readonly [Section in keyof Sections]: ConfigSchema<unknown, Sections[Section]>;
  };
  /** Returns the problems with combinations of keys. Called only if each key is valid by itself. */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /**
   * The `Authorization` schemes that clients use, for example Bearer. Requests with these schemes
   * use no session or cookies, so they skip the session-wide CSRF check. Default: none.
   */
  readonly tokenSchemes?: (config: ConfigMap) => readonly string[];
  /** Returns the languages and texts of the pages from the configuration. Default: only English. */
  readonly words?: (config: ConfigMap) => Pick<SpeakingOptions, 'languages' | 'own' | 'catalogs'>;
  /** Returns the branding of pages. Defaults to Portico's own design. */
  readonly branding?: (
    config: ConfigMap,
    place: Omit<BrandedPlace, 'application'>,
  ) => FoundBranding;
  /**
   * The plugin's migrations, in order. The list may be empty. A function receives the configuration
   * and returns the migrations that this configuration needs. If the configuration is unknown, the
   * function receives an empty configuration and returns the migrations that every configuration
   * needs.
   */
  readonly migrations: readonly Migration[] | ((config: ConfigMap) => readonly Migration[]);
  /**
   * The absolute path of the folder with the plugin's default views. Null if the plugin has no
   * views.
   */
  readonly views: string | null;
  /**
   * Returns why the plugin sent a user to the kit's sign-in page, so that the page can show the
   * reason. Reads the reason from `returnTo`. Returns null if this plugin did not send the user.
   */
  readonly waitingFor?: (
    application: Application,
    request: Request,
    returnTo: string,
  ) => Promise<WaitingFor | null>;
  /**
   * Adds the plugin's console commands. The function can return a promise, for example to load the
   * commands first. Portico waits for the promise.
   */
  readonly commands: (...given: Parameters<AddCommands>) => void | Promise<void>;
  /**
   * Adds routes, middleware and services while the application starts. The database schema may not
   * exist yet.
   */
  register(application: Application): void | Promise<void>;
  /**
   * Returns a warning, in one sentence, for each feature that does not work in the current setup.
   * `serve` prints and logs these warnings but still starts.
   */
  readonly warnings?: (application: Application) => readonly string[];
  /**
   * Runs the application's `register`. A plugin can use this hook to make functions such as
   * `tool()` work inside `register`.
   */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}
