import type { BorrowedDatabase, Migration, OpenedDatabase } from '@portico/sql';
import type { Branding } from '../pages/branding.ts';
import type { ConfigSchema } from '../config.ts';
import type { ClosableLog } from '../host/log.ts';
import type { Telemetry } from '../measuring.ts';
import type { ConfigMap, Environment } from './config-map.ts';
import type { AddCommands } from './console-context.ts';
import type { KitConfig } from './keys.ts';
import type { Plugin } from './plugin.ts';
import type { Application } from './started-application.ts';

/**
 * An application that has not been started. It contains only data and functions, and no open files
 * or connections.
 */
export interface ApplicationDefinition {
  /**
   * The folder of the application, which contains `.env`, `storage`, `logs` and `views`. By
   * default, the console uses the folder of the package.json it finds, and servers use the working
   * directory. Set this option if your server starts in another directory. In bundled code, do not
   * use `import.meta.dirname` here, because it is undefined there.
   */
  readonly directory?: string | undefined;
  /** The configuration of the application. It overrides the plugins' defaults. */
  readonly config: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The schemas for the application's own top-level keys. Keys without a schema are not checked,
   * and stay unchanged.
   */
  readonly configuration?: Readonly<Record<string, ConfigSchema>>;
  /**
   * The application's own database pool or file, as `fromPostgres(pool)`, `fromMysql(pool)` or
   * `fromSqlite(db)`. It is used instead of `database_url`.
   */
  readonly database?: BorrowedDatabase;
  /**
   * The plugins, in order. If two plugins set the same default, the later plugin's default applies.
   */
  readonly plugins?: readonly Plugin[];
  /**
   * The framework that serves the application, for example `@portico/kit`. Omit this property if
   * you mount Portico into your application.
   */
  readonly framework?: Framework;
  /**
   * The migrations of the application. Those of the framework, the plugins and the application are
   * applied together, in the order of their names.
   */
  readonly migrations?: readonly Migration[];
  /**
   * Receives the measurements of plugins, for example `opentelemetry()` from `portico/telemetry`.
   * Default: nothing is measured.
   */
  readonly telemetry?: Telemetry;
  /** The folder with the application's views. Default: `views` in the application's folder. */
  readonly views?: string;
  /** Adds the application's console commands. */
  readonly commands?: AddCommands;
  /**
   * Adds the application's routes and event listeners. Called after all plugins have registered.
   */
  readonly register?: (application: Application) => void | Promise<void>;
}

/** The environment and the validated configuration of an application. */
export interface Configuration {
  /**
   * The environment variables. Variables of the process override those in `.env` or `.env.local`.
   */
  readonly env: Environment;
  /** `dev` or `prod`, from the variable `APP_ENV`. */
  readonly mode: Application['mode'];
  /** The absolute path of the application's storage folder. */
  readonly storageDirectory: string;
  /** The complete validated configuration, including default values. */
  readonly config: ConfigMap;
  /** The kit's own settings. */
  readonly kit: KitConfig;
  /** The branding of the pages, or null for Portico's own design. */
  readonly branding: Branding | null;
}

/**
 * What an application needs to start: its configuration and open resources, such as the database.
 */
export interface ApplicationParts {
  /** The application's definition. */
  readonly definition: ApplicationDefinition;
  /** The application's configuration. */
  readonly configuration: Configuration;
  /** The open log, which writes to `log:path`. */
  readonly log: ClosableLog;
  /** The open database. */
  readonly database: OpenedDatabase;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a random number from 0 to less than 1. */
  readonly random: () => number;
}

/**
 * Creates a complete application with accounts, sessions and routes. `@portico/kit` implements this
 * interface.
 */
export interface Framework {
  /** Returns the framework's migrations that this definition needs. */
  migrations(definition: ApplicationDefinition): readonly Migration[];
  /** Returns the framework's console commands, for example `serve`. */
  commands(plugins: readonly Plugin[]): readonly AddCommands[];
  /** Creates the application and registers its parts. */
  start(parts: ApplicationParts): Promise<Application>;
}
