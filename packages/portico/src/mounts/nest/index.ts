/** Mounts Portico in a Nest application, on Express or Fastify. */
import {
  Dependencies,
  type DynamicModule,
  type FactoryProvider,
  type ModuleMetadata,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import type { Express } from 'express';
import type { FastifyInstance } from 'fastify';
import { portico as expressPortico } from '../express/index.ts';
import { portico as fastifyPortico } from '../fastify/index.ts';
import type { Mountable } from '../fetch/index.ts';
import type { AuthorizationServer } from '../../index.ts';
import { AUTHORIZATION_SERVER, PorticoFilter } from './protection.ts';

export type { Mountable } from '../fetch/index.ts';
export {
  AtResource,
  AUTHORIZATION_SERVER,
  CurrentToken,
  PorticoFilter,
  PorticoGuard,
  PorticoInterceptor,
  RequireScope,
} from './protection.ts';

/** The options of `PorticoModule`. */
export interface PorticoOptions {
  /** The server. In providers, inject it as `AUTHORIZATION_SERVER`. */
  readonly server: AuthorizationServer;
  /** Other servers to mount, for example an McpServer. */
  readonly more?: readonly Mountable[];
  /** Called when the application shuts down. Close the resources of the factory here. */
  readonly close?: () => Promise<void>;
}

/** The options of `forRootAsync`, with a factory that receives providers of your application. */
export interface PorticoAsyncOptions
  extends
    Pick<ModuleMetadata, 'imports'>,
    Pick<FactoryProvider<PorticoOptions>, 'inject' | 'useFactory'> {}

const OPTIONS = Symbol('portico/nest: options');

/**
 * Adds the endpoints at the root of the application, after all of its middleware. Also adds the
 * providers that `@RequireScope()` needs.
 *
 * @example
 * const imports = [PorticoModule.forRoot({ server, more: [mcp] })];
 */
export class PorticoModule implements OnModuleInit, OnApplicationShutdown {
  readonly #modules: ModuleRef;
  readonly #http: HttpAdapterHost;
  /** Nest calls this constructor. */
  constructor(modules: ModuleRef, http: HttpAdapterHost) {
    this.#modules = modules;
    this.#http = http;
  }
  /** Creates the module with an existing server. */
  static forRoot(options: PorticoOptions): DynamicModule {
    return PorticoModule.forRootAsync({ useFactory: () => options });
  }
  /**
   * Creates the module with a server that a factory builds from your providers. These must not be
   * request-scoped.
   */
  static forRootAsync({
    imports = [],
    inject = [],
    useFactory,
  }: PorticoAsyncOptions): DynamicModule {
    return {
      module: PorticoModule,
      global: true,
      imports,
      providers: [
        { provide: OPTIONS, inject, useFactory },
        {
          provide: AUTHORIZATION_SERVER,
          inject: [OPTIONS],
          useFactory: ({ server }: PorticoOptions) => server,
        },
        { provide: APP_FILTER, useClass: PorticoFilter },
      ],
      exports: [AUTHORIZATION_SERVER],
    };
  }
  /** Nest calls this method after it has set up middleware and controllers. */
  async onModuleInit(): Promise<void> {
    const { server, more = [] } = this.#options();
    // Null in an application context without HTTP, for example in a command.
    const adapter = this.#http.httpAdapter as HttpAdapterHost['httpAdapter'] | null | undefined;
    const type = adapter?.getType() ?? '';
    if (type === 'express') adapter?.getInstance<Express>().use(expressPortico(server, ...more));
    else if (type === 'fastify')
      await adapter?.getInstance<FastifyInstance>().register(fastifyPortico(server, ...more));
    else if (type !== '')
      throw new Error(`portico/nest works with Express and Fastify, not with '${type}'`);
  }
  /** Nest calls this method when the application shuts down. */
  async onApplicationShutdown(): Promise<void> {
    await this.#options().close?.();
  }
  // Do not inject the options. If they depended on a request-scoped provider, Nest would never call
  // the hooks of the module. `get` throws instead.
  #options(): PorticoOptions {
    return this.#modules.get<PorticoOptions>(OPTIONS);
  }
}
Dependencies(ModuleRef, HttpAdapterHost)(PorticoModule);
