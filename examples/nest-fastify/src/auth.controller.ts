// Signs people in. The session is an encrypted cookie.
import { Body, Controller, Get, Header, Inject, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { returnPath } from 'portico';
import type {} from './session.js';
import { UsersService } from './users.service.js';

@Controller()
export class AuthController {
  constructor(@Inject(UsersService) private readonly users: UsersService) {}

  @Get('login')
  @Header('Content-Type', 'text/html; charset=utf-8')
  page(@Query('return_to') returnTo?: string) {
    const action = `/login?${new URLSearchParams({ return_to: returnPath(returnTo ?? null) })}`;
    return `<!doctype html><title>Sign in</title><form method="post" action="${action}">
      <label>Email <input name="email"></label> <label>Password <input name="password" type="password"></label>
      <button>Sign in</button></form>`;
  }

  @Post('login')
  async signIn(
    @Query('return_to') returnTo: string | undefined,
    @Body() form: { readonly email?: string; readonly password?: string },
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    // Another site must not sign people in to its own account.
    if (/^(cross|same)-site$/.test(request.headers['sec-fetch-site'] ?? ''))
      return reply.code(403).send();
    const user = await this.users.withPassword(form.email ?? '', form.password ?? '');
    const back = returnPath(returnTo ?? null);
    if (user === null) return reply.redirect(`/login?return_to=${encodeURIComponent(back)}`, 303);
    request.session.set('userId', user.id);
    return reply.redirect(back, 303);
  }

  @Get()
  home(@Req() request: FastifyRequest) {
    const id = request.session.get('userId');
    return `${(id === undefined ? null : this.users.byId(id))?.name ?? 'No one'} is signed in`;
  }
}
