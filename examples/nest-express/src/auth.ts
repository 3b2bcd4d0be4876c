// Signs people in, as in Nest's documentation: with passport-local and a session.
import {
  Controller,
  Get,
  Header,
  Injectable,
  Module,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { AuthGuard, PassportModule, PassportSerializer, PassportStrategy } from '@nestjs/passport';
import type { Request, Response } from 'express';
import { Strategy } from 'passport-local';
import { returnPath } from 'portico';
import { UsersModule } from './users.module.js';
import { UsersService, type User } from './users.service.js';

@Injectable()
export class LocalStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly users: UsersService) {
    super({ usernameField: 'email' });
  }
  async validate(email: string, password: string) {
    return (await this.users.withPassword(email, password)) ?? false;
  }
}

@Injectable()
export class SessionSerializer extends PassportSerializer {
  constructor(private readonly users: UsersService) {
    super();
  }
  serializeUser(user: User, done: (error: Error | null, id: number) => void) {
    done(null, user.id);
  }
  deserializeUser(id: number, done: (error: Error | null, user: User | false) => void) {
    const user = this.users.byId(id);
    done(null, user !== null && user.suspended === 0 ? user : false);
  }
}

@Injectable()
class LoginGuard extends AuthGuard('local') {
  async canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<Request>();
    // Another site must not sign people in to its own account.
    if (/^(cross|same)-site$/.test(request.get('sec-fetch-site') ?? '')) return false;
    await super.canActivate(context);
    await super.logIn(request);
    return true;
  }
}

@Controller()
export class AuthController {
  @Get('login')
  @Header('Content-Type', 'text/html; charset=utf-8')
  page(@Query('return_to') returnTo?: string) {
    const action = `/login?${new URLSearchParams({ return_to: returnPath(returnTo ?? null) })}`;
    return `<!doctype html><title>Sign in</title><form method="post" action="${action}">
      <label>Email <input name="email"></label> <label>Password <input name="password" type="password"></label>
      <button>Sign in</button></form>`;
  }

  @Post('login')
  @UseGuards(LoginGuard)
  signIn(@Query('return_to') returnTo: string | undefined, @Res() response: Response) {
    response.redirect(303, returnPath(returnTo ?? null));
  }

  @Get()
  home(@Req() request: Request) {
    return `${(request.user as User | undefined)?.name ?? 'No one'} is signed in`;
  }
}

@Module({
  imports: [PassportModule.register({ session: true }), UsersModule],
  controllers: [AuthController],
  providers: [LocalStrategy, SessionSerializer],
})
export class AuthModule {}
