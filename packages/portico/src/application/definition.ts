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
 * An application before it starts. It contains only data and functions. No files or connections are
 * open yet.
 */
export interface ApplicationDefinition {
  /**
   * The application's folder, which contains `.env`, `storage`, `logs` and `views`. By default, the
   * console uses the folder of the package.json that it has found, and servers use the current
   * folder. Set this option if your server starts in another folder. In bundled code, do not use
   * `import.meta.dirname` for it, because its value is undefined there.
   */
  readonly directory?: string | undefined;
  /** The application's configuration. Overrides the plugins' defaults. */
  readonly config: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The schemas of the application's own top-level keys. Portico does not check keys without a
   * schema, and passes them on unchanged.
   */
  readonly configuration?: Readonly<Record<string, ConfigSchema>>;
  /**
   * The application's own database pool or file, instead of `database_url`: `fromPostgres(pool)`,
   * `fromMysql(pool)` or `fromSqlite(db)`.
   */
  readonly database?: BorrowedDatabase;
  /** The plugins, in order. A later plugin's defaults override an earlier plugin's. */
  readonly plugins?: readonly Plugin[];
  /**
   * A framework that serves the application, for example `@portico/kit`. Do not set this property
   * if the application mounts Portico.
   */
  readonly framework?: Framework;
  /** The application's own migrations. Portico applies them after the plugins' migrations. */
  readonly migrations?: readonly Migration[];
  /**
   * Receives the plugins' measurements, for example `opentelemetry()` from `portico/telemetry`. By
   * default, Portico measures nothing.
   */
  readonly telemetry?: Telemetry;
  /** The folder of the application's own views. Defaults to `views` in the application's folder. */
  readonly views?: string;
  /** The application's own console commands. */
  readonly commands?: AddCommands;
  /**
   * Adds the application's routes and event listeners. Called after the plugins have registered.
   */
  readonly register?: (application: Application) => void | Promise<void>;
}

/** The configuration that an application starts with. */
export interface Configuration {
  /** The environment. Variables of the process override variables in `.env` or `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`. */
  readonly mode: Application['mode'];
  /** The absolute path of the application's storage folder. */
  readonly storageDirectory: string;
  /** The whole validated configuration, including defaults. */
  readonly config: ConfigMap;
  /** The kit's own settings. */
  readonly kit: KitConfig;
  /** The branding of pages. Null means Portico's own design. */
  readonly branding: Branding | null;
}

/** The configuration and resources that an application starts with. */
export interface ApplicationParts {
  /** The application's definition. */
  readonly definition: ApplicationDefinition;
  /** The application's configuration. */
  readonly configuration: Configuration;
  /** The open log of `log:path`. */
  readonly log: ClosableLog;
  /** The open store. */
  readonly database: OpenedDatabase;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/**
 * Builds a complete application with accounts, sessions and routes from a definition.
 * `@portico/kit` implements this interface.
 */
export interface Framework {
  /** Returns the framework's migrations that the definition needs. */
  migrations(definition: ApplicationDefinition): readonly Migration[];
  /** Returns the framework's console commands, for example `serve`. */
  commands(plugins: readonly Plugin[]): readonly AddCommands[];
  /** Builds the application and registers its parts. */
  start(parts: ApplicationParts): Promise<Application>;
}
