import {
  Body,
  Controller,
  Get,
  Header,
  Module,
  Post,
  Query,
  Redirect,
  Req,
  type INestApplication,
  type Type,
} from '@nestjs/common';
import { mcpServerOf } from '@portico/mcp';
import { PorticoModule, RequireScope } from 'portico/nest';
import { authorizationServerOf } from 'portico';
import type { Users } from '../../../examples/express/users.ts';
import {
  defineOrders,
  loginPage,
  orders,
  prepared,
  readLogin,
  type Login,
  type Mount,
  type OwnSession,
} from './application.ts';

// Applies decorators as functions, because these sources contain no decorator syntax.

function decorate(type: Type, name: string, ...decorators: readonly MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name);
  if (descriptor === undefined) throw new Error(`${type.name} has no ${name}`);
  for (const each of decorators) each(type.prototype as object, name, descriptor);
}

class Orders {
  list() {
    return orders();
  }
}
Controller('orders')(Orders);
decorate(Orders, 'list', Get(), RequireScope('orders:read'));

/** How people sign in on one of Nest's platforms. */
export interface SigningIn<Context> extends OwnSession<Context> {
  begin(context: Context, userId: number): void | Promise<void>;
}

/** The application's own sign-in page. */
function signInPage<Context>(users: Users, own: SigningIn<Context>): Type {
  class SignIn {
    page(returnTo?: string) {
      return loginPage(returnTo);
    }
    async signIn(form: Login, context: Context) {
      const { user, location } = readLogin(users, form);
      if (user !== null) await own.begin(context, user.id);
      return { url: location, statusCode: 303 };
    }
  }
  Controller('login')(SignIn);
  decorate(SignIn, 'page', Get(), Header('Content-Type', 'text/html; charset=utf-8'));
  Query('return_to')(SignIn.prototype, 'page', 0);
  decorate(SignIn, 'signIn', Post(), Redirect());
  Body()(SignIn.prototype, 'signIn', 0);
  Req()(SignIn.prototype, 'signIn', 1);
  return SignIn;
}

/** Mounts Portico in an application on Nest. `create` chooses the platform. */
export function mountInNest<Context>(
  own: SigningIn<Context>,
  create: (module: Type) => Promise<INestApplication>,
): Mount['start'] {
  return (extra = {}, options = {}) =>
    prepared(
      { extra, options },
      (users, signers) => defineOrders<Context>(users, own, signers),
      async (application, users, port) => {
        const server = authorizationServerOf(application);
        class App {
          readonly server = server;
        }
        Module({
          imports: [PorticoModule.forRoot({ server, more: [mcpServerOf(application)] })],
          controllers: [Orders, signInPage(users, own)],
        })(App);
        const app = await create(App);
        app.setGlobalPrefix('api', { exclude: ['login'] });
        await app.listen(port, '127.0.0.1');
        return { close: () => app.close() };
      },
    );
}

export const QUIET = { logger: false, forceCloseConnections: true } as const;
