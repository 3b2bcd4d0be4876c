import router from '@adonisjs/core/services/router';
import bcrypt from 'bcryptjs';
import { returnPath, token } from 'portico';
import { PAGES, portico, withToken } from '#services/portico_mount';
import { userByEmail } from '#services/users';

for (const page of PAGES) router.any(page, portico);

router.any(
  '/api/orders',
  withToken(() => {
    token().requireScope('orders:read');
    return { orders: [], of: token().user()?.getProfile().name ?? null };
  }),
);

router.get(
  '/login',
  ({ request }) => `<!doctype html><title>Sign in</title><form method="post">
    <input type="hidden" name="_csrf" value="${request.csrfToken}">
    <input name="email"> <input name="password" type="password"> <button>Sign in</button></form>`,
);
router.post('/login', async ({ request, response, session }) => {
  const back = returnPath(request.qs().return_to ?? null);
  const user = userByEmail(request.input('email'));
  if (user === null || !(await bcrypt.compare(request.input('password'), user.password_hash)))
    return response.redirect(`/login?return_to=${encodeURIComponent(back)}`);
  session.regenerate();
  session.put('userId', user.id);
  return response.status(303).redirect(back);
});
