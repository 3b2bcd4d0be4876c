import { assistant } from '@portico/assistant';
import { databaseAccounts, defineApplication } from '@portico/kit';
import { mcp, tool } from '@portico/mcp';
import { oauthServer } from 'portico';
import { addSeed } from './seed.ts';
import { MyAccount } from './tools/my-account.ts';
import { ServiceStatus } from './tools/service-status.ts';

/**
 * An application with tools for a voice assistant. Everyone may use the public tool. The personal
 * tool is for people who have linked their account.
 */
export default defineApplication({
  directory: import.meta.dirname,
  // PUBLIC_URL, ASSISTANT_MCP_RESOURCE and ASSISTANT_NAME are in .env. The plugin derives the other
  // settings from them.
  config: (env) => ({
    assistant: {
      account_linking: env['ASSISTANT_REDIRECT_URI'] !== undefined,
      // Copy the vendor's callback exactly as the vendor's console shows it. You cannot guess it.
      redirect_uris:
        env['ASSISTANT_REDIRECT_URI'] === undefined ? [] : [env['ASSISTANT_REDIRECT_URI']],
      listing: {
        name: { value: 'Kitchen' },
        shortDescription: 'Ask whether the kitchen is open.',
        fullDescription:
          'Ask whether the kitchen takes orders, and, with your account linked, who you are there.',
        examplePhrases: [
          'Is the kitchen open?',
          'Ask Kitchen for its status',
          'Who am I at Kitchen?',
        ],
        privacyAndCompliance: {
          privacyPolicyUrl: 'https://kitchen.example/privacy',
          termsOfUseUrl: 'https://kitchen.example/terms',
        },
        mediaAssets: {
          icons: {
            light: [64, 72, 88, 126, 180, 241].map((size) => ({
              size,
              uri: `https://kitchen.example/icons/${size}.png`,
            })),
          },
          carouselImages: [
            {
              size: '600x900',
              uri: 'https://kitchen.example/images/carousel.png',
              altText: 'A kitchen with its lights on',
            },
          ],
        },
      },
    },
  }),
  plugins: [oauthServer(), mcp(), assistant()],
  accounts: ({ database, passwordHasher }) => [databaseAccounts({ database, passwordHasher })],
  commands: addSeed,
  register() {
    tool().register(new ServiceStatus());
    tool().register(new MyAccount());
  },
});
