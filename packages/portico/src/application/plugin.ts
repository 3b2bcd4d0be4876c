import type { ConfigurationProblem, Migration } from '@portico/sql';
import type { WaitingFor } from '../authorization/waiting-for.ts';
import type { BrandedPlace, FoundBranding } from '../pages/branding.ts';
import type { ConfigSchema } from '../config.ts';
import type { SpeakingOptions } from '../pages/speaking.ts';
import type { ConfigMap, ConfigValue, Environment } from './config-map.ts';
import type { AddCommands } from './console-context.ts';
import type { Application } from './started-application.ts';

/** Configuration sections whose types are not declared. Any key with any value is allowed. */
export type UntypedSections = { readonly [section: string]: ConfigValue };

/**
 * A plugin, which adds a part to an application.
 *
 * `Sections` contains the top-level configuration keys that the plugin adds, as an application
 * writes them: `Plugin<{ shop: { currency?: string } }>`. Without it, TypeScript does not check the
 * keys.
 */
export interface Plugin<Sections extends object = UntypedSections> {
  /** The name of the plugin and of its configuration section, in lowercase with underscores. */
  readonly name: string;
  /**
   * The plugin's default configuration. The application's values override it. Maps are merged by
   * key, and arrays by position.
   */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The environment variables that `defaults` reads, each with the key that it sets. If the key is
   * missing, the error message names the variable.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * The schemas of the plugin's top-level keys. Error messages join nested keys with colons, for
   * example `shop:currency`.
   */
  readonly configuration: {
    readonly [Section in keyof Sections]: ConfigSchema<unknown, Sections[Section]>;
  };
  /** Returns problems with combinations of keys. Called only if each key alone is valid. */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /**
   * The `Authorization` schemes for access tokens besides Bearer, for example DPoP. Such requests
   * use no session or cookies, so they need no CSRF check. Default: none.
   */
  readonly tokenSchemes?: (config: ConfigMap) => readonly string[];
  /** Returns the languages and texts of pages from the configuration. Default: only English. */
  readonly words?: (config: ConfigMap) => Pick<SpeakingOptions, 'languages' | 'own' | 'catalogs'>;
  /** Returns the branding of pages. Default: Portico's own design. */
  readonly branding?: (
    config: ConfigMap,
    place: Omit<BrandedPlace, 'application'>,
  ) => FoundBranding;
  /**
   * The plugin's migrations, applied in the order of their names. A function receives the
   * configuration and returns the migrations that it needs. Without a known configuration, the
   * function receives an empty one and returns what every configuration needs.
   */
  readonly migrations: readonly Migration[] | ((config: ConfigMap) => readonly Migration[]);
  /** The absolute path of the folder with the plugin's default views, or null if it has none. */
  readonly views: string | null;
  /**
   * Returns the application that waits for the user to sign in and return to `returnTo`. The kit's
   * sign-in page can then show it. Returns null if this plugin did not send the user to the page.
   */
  readonly waitingFor?: (
    application: Application,
    request: Request,
    returnTo: string,
  ) => Promise<WaitingFor | null>;
  /**
   * Adds the plugin's console commands. Portico waits for a returned promise, for example to load
   * the commands first.
   */
  readonly commands: (...given: Parameters<AddCommands>) => void | Promise<void>;
  /**
   * Adds routes, middleware and services while the application starts. The database schema may not
   * exist yet.
   */
  register(application: Application): void | Promise<void>;
  /**
   * Returns warnings about features that do not work in this setup, one sentence each. `serve`
   * prints and logs them, but still starts.
   */
  readonly warnings?: (application: Application) => readonly string[];
  /**
   * Runs around the application's `register` and must call it. A plugin can make functions such as
   * `tool()` work inside `register`.
   */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}
