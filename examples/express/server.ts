// Start it with `npm run example:express`.
import { randomBytes } from 'node:crypto';
import { startApplication } from 'portico';
import definition, { theUsers } from './app.ts';
import { createWeb } from './web.ts';

const application = await startApplication(definition);
const port = Number(application.env['PORT'] ?? 8085);
const secret = application.env['SESSION_SECRET'] ?? randomBytes(32).toString('hex');
createWeb(theUsers(), application, secret).listen(port, '127.0.0.1', () => {
  process.stdout.write(
    `${application.publicUrl}: sign in as ada@example.com with the password portico\n`,
  );
});
