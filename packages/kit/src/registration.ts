import type { Middleware, Route } from '../../portico/src/application/contracts.ts';
import { Routes } from './http/routes.ts';

/** Takes what plugins register, and after them the application. */
export class Registration {
  readonly routes: Routes;
  /** Around the application's own routes, outermost first. */
  readonly middlewares: Middleware[] = [];
  #phase: 'plugin' | 'application' | 'started' = 'plugin';
  /** Added when all others are. */
  readonly #yielding: (readonly [Route, 'plugin' | 'application'])[] = [];

  /** `removed` is what a proxy takes away from the paths of requests before they arrive. */
  constructor(removed: string) {
    this.routes = new Routes(removed);
  }

  addRoute(route: Route): void {
    const phase = this.#openPhase('A route');
    if (route.yields === true) this.#yielding.push([route, phase]);
    else this.routes.add(route, phase);
  }

  /** Adds a route of the kit that yields to all others. */
  addLast(route: Route): void {
    this.#yielding.push([route, 'plugin']);
  }

  addMiddleware(middleware: Middleware): void {
    this.#openPhase('A middleware');
    this.middlewares.push(middleware);
  }

  /** From now on the application registers its own parts. */
  beginOwn(): void {
    this.#phase = 'application';
  }

  /** Adds the routes that yield to others, and takes nothing any more. */
  end(): void {
    for (const [route, phase] of this.#yielding) {
      if (!this.routes.has(route.name) && !this.routes.answers(route.path)) this.routes.add(route, phase);
    }
    this.#phase = 'started';
  }

  #openPhase(what: string): 'plugin' | 'application' {
    if (this.#phase !== 'started') return this.#phase;
    throw new Error(`${what} can only be added while the application registers its parts`);
  }
}
