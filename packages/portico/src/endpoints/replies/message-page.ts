import type { Server } from '../../server.ts';
import { told, type PageText, type Text } from '../../pages/words.ts';
import { pageReply } from './pages.ts';
import type { Reply } from './responses.ts';

export interface MessagePage {
  readonly text: PageText;
  readonly status: number;
  readonly link: { readonly href: string; readonly text: Text };
  /** Null if the page shows no request id. */
  readonly requestId: string | null;
}

export async function messageReply(
  server: Server,
  request: Request,
  { text, status, link, requestId }: MessagePage,
): Promise<Reply> {
  const { config, speaking } = server;
  const words = await speaking.of(request);
  const data = {
    serverName: config.name,
    title: told(words, text.title),
    message: told(words, text.message),
    status,
    link: { href: link.href, text: told(words, link.text) },
    requestId,
    detail: null,
  };
  return pageReply(server, { words, view: 'oauth/error', status, data, formLeadsTo: null });
}
