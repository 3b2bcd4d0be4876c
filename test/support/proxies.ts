import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import path from 'node:path';
import { ROOT } from './console.ts';
import { freePort } from './free-port.ts';
import { programOf } from './extras.ts';

/** The host name in the test certificate. */
export const HOST = 'client.example';

/**
 * A proxy from `examples/deploy`. The tests change only the host, the ports and the certificate in
 * its file.
 */
export interface DeployedProxy {
  readonly port: number;
  /** Loads the file again, with this text added to each site. */
  reload(addition: string): void;
  stop(): Promise<void>;
}

export interface ProxyProgram {
  readonly name: string;
  /** The address of the caller in the tests. Each address has its own limit. */
  readonly from: string;
  /**
   * The files of `examples/deploy`: one for a separate host, and one for a path on another host.
   */
  readonly files: { readonly host: string; readonly path: string };
  /** The line that sets a header of each response, in a site. */
  readonly header: string;
  /** The name of the setting for the time in which Portico must respond. */
  readonly patience: string;
  start(
    file: string,
    folder: string,
    portico: number,
    changes?: ProxyChanges,
  ): Promise<DeployedProxy>;
}

/** What a test changes in the file, besides the host and the ports. */
export interface ProxyChanges {
  readonly certificate?: Certificate;
  /** A line of the file, and the text that replaces it. */
  readonly line?: readonly [before: string, after: string];
}

/** The paths of a certificate and its key, in PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

const tls = (name: string) => path.join(import.meta.dirname, '..', 'fixtures', 'tls', name);
const CERTIFICATE = tls('documents-certificate.pem');
/** A certificate with an elliptic-curve key. */
const OWN: Certificate = { certificate: CERTIFICATE, key: tls('documents-key.pem') };

/**
 * Creates a certificate with an RSA key. Without one, a server never offers the suites with RSA key
 * exchange.
 */
export function makeRsaCertificate(folder: string): Certificate {
  const made = { certificate: path.join(folder, 'rsa.pem'), key: path.join(folder, 'rsa-key.pem') };
  const args = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '1',
    '-subj',
    `/CN=${HOST}`,
  ];
  const { status, stderr } = spawnSync(
    'openssl',
    [...args, '-out', made.certificate, '-keyout', made.key],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(stderr);
  return made;
}

/**
 * Tries a handshake that offers only these options. Returns the agreed values, or the server's
 * alert.
 */
export function handshake(port: number, offer: readonly string[]): string {
  const args = ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', HOST, ...offer];
  const { stdout, stderr } = spawnSync('openssl', args, { input: '', encoding: 'utf8' });
  const [, agreed = '(NONE)'] = /Cipher is (\S+)/.exec(stdout) ?? [];
  if (agreed !== '(NONE)') return agreed;
  return /SSL alert number \d+/.exec(stderr)?.[0] ?? stderr;
}

/** Returns the file with each of these texts replaced. Throws if a text is missing. */
function deployed(file: string, replaced: Readonly<Record<string, string>>): string {
  let text = readFileSync(path.join(ROOT, 'examples', 'deploy', file), 'utf8');
  for (const [before, after] of Object.entries(replaced)) {
    if (!text.includes(before)) throw new Error(`examples/deploy/${file} has no ${before}`);
    text = text.replaceAll(before, after);
  }
  return text;
}

const hostOf = (file: string) =>
  file.includes('below-a-path') ? 'app.example.com' : 'auth.example.com';

async function run(child: ChildProcess, port: number): Promise<void> {
  let said = '';
  let hasEnded = false;
  child.once('close', () => (hasEnded = true));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  for (;;) {
    if (hasEnded) throw new Error(`The proxy ended with ${child.exitCode}:\n${said}`);
    const socket = connect(port, '127.0.0.1');
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = once(child, 'exit');
  child.kill('SIGTERM');
  await closed;
}

const NGINX: ProxyProgram = {
  name: 'nginx',
  from: '127.0.0.2',
  files: { host: 'nginx.conf', path: 'nginx-below-a-path.conf' },
  header: 'add_header X-Generation 2 always;',
  patience: 'proxy_read_timeout',
  async start(file, folder, portico, { certificate: { certificate, key } = OWN, line } = {}) {
    const port = await freePort();
    const main = path.join(folder, 'nginx.conf');
    const whole = (addition: string) =>
      `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events {}
      http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
      ${deployed(file, {
        'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
        [hostOf(file)]: HOST,
        '127.0.0.1:8080': `127.0.0.1:${portico}`,
        '/etc/ssl/portico/fullchain.pem': certificate,
        '/etc/ssl/portico/privkey.pem;': `${key}; ${addition}`,
        ...(line === undefined ? {} : { [line[0]]: line[1] }),
      })} }`;
    await writeFile(main, whole(''));
    const program = programOf('nginx');
    const args = ['-p', folder, '-c', main, '-e', 'stderr'];
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    await run(child, port);
    return {
      port,
      reload(addition) {
        spawnSync('sh', ['-c', 'cat > "$1"', 'sh', main], { input: whole(addition) });
        const { status, stderr } = spawnSync(program, [...args, '-s', 'reload'], {
          encoding: 'utf8',
        });
        if (status !== 0) throw new Error(stderr);
      },
      stop: () => end(child),
    };
  },
};

const CADDY: ProxyProgram = {
  name: 'Caddy',
  from: '127.0.0.3',
  files: { host: 'Caddyfile', path: 'Caddyfile-below-a-path' },
  header: 'header X-Generation 2',
  patience: 'response_header_timeout',
  async start(file, folder, portico, { certificate: { certificate, key } = OWN, line } = {}) {
    const [port, admin, http] = [await freePort(), await freePort(), await freePort()];
    const main = path.join(folder, 'Caddyfile');
    const whole = (addition: string) =>
      `{\n admin 127.0.0.1:${admin}\n auto_https disable_redirects\n http_port ${http}\n}\n` +
      deployed(file, {
        [`${hostOf(file)} {`]: `https://${HOST}:${port} {\n bind 127.0.0.1\n ${addition}`,
        'tls {': `tls ${certificate} ${key} {`,
        '127.0.0.1:8080': `127.0.0.1:${portico}`,
        ...(line === undefined ? {} : { [line[0]]: line[1] }),
      });
    await writeFile(main, whole(''));
    const program = programOf('caddy');
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    };
    const config = ['--config', main, '--adapter', 'caddyfile'];
    const child = spawn(program, ['run', ...config], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    await run(child, port);
    return {
      port,
      reload(addition) {
        spawnSync('sh', ['-c', 'cat > "$1"', 'sh', main], { input: whole(addition) });
        const { status, stderr } = spawnSync(program, ['reload', ...config], {
          env,
          encoding: 'utf8',
        });
        if (status !== 0) throw new Error(stderr);
      },
      stop: () => end(child),
    };
  },
};

export const PROXIES: readonly ProxyProgram[] = [NGINX, CADDY];

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, or several parts of it. A part is sent when the previous part has resolved. */
  readonly body?: string | readonly (string | Promise<string>)[];
  /** The address of this machine from which the request comes. */
  readonly from?: string;
  /** Called with each part of the response's body. */
  readonly hears?: (part: string) => void;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** Sends a request to the proxy, like a browser that knows the host by name. */
export async function askProxy(
  port: number,
  target: string,
  asking: Asking = {},
): Promise<Answered> {
  const { method = 'GET', headers = {}, body = [], from, hears = () => {} } = asking;
  const sent = request({
    host: '127.0.0.1',
    port,
    path: target,
    method,
    headers: { host: HOST, ...headers },
    ...(from === undefined ? {} : { localAddress: from }),
    servername: HOST,
    ca: readFileSync(CERTIFICATE),
    agent: false,
  });
  const answered = once(sent, 'response');
  // Ignore the error: the response can arrive, and the connection close, before the whole body is
  // sent.
  sent.on('error', () => {});
  for (const part of typeof body === 'string' ? [body] : body) sent.write(await part);
  sent.end();
  const [answer] = (await answered) as [IncomingMessage];
  let whole = '';
  answer.setEncoding('utf8');
  for await (const part of answer as AsyncIterable<string>) {
    whole += part;
    hears(part);
  }
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: whole };
}
