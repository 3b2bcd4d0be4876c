// Start it with `npm run example:jwt`.
import { startApplication } from 'portico';
import definition, { theTokens, theUsers } from './app.ts';
import { createWeb } from './web.ts';

const application = await startApplication(definition);
const port = Number(application.env['PORT'] ?? 8087);
createWeb(theUsers(), theTokens(), application).listen(port, '127.0.0.1', () => {
  process.stdout.write(
    `${application.publicUrl}: sign in as ada@example.com with the password portico\n`,
  );
});
