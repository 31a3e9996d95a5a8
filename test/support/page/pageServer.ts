import { createServer, type Server, type ServerResponse } from 'node:http';
import { bundlePage, type Asset } from './bundle.ts';
import { bodyClass, themeCss, type ThemeName } from './themes.ts';

export interface PageRequest {
  readonly theme: ThemeName;
  readonly panelId: string;
  readonly sessionId: string;
}

const nonce = 'testNonce';
const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  ttf: 'font/ttf',
};

/** What VS Code gives a page, as far as a page can see; the rest is on the tests' side (fakeHost.ts). */
const apiScript = `
  let isTaken = false;
  window.acquireVsCodeApi = () => {
    if (isTaken) throw new Error('An instance of the VS Code API has already been acquired');
    isTaken = true;
    return {
      postMessage: (message) => void window.postToFakeHost(structuredClone(message)),
      getState: () => JSON.parse(sessionStorage.getItem('state') ?? 'null') ?? undefined,
      setState: (state) => sessionStorage.setItem('state', JSON.stringify(state)),
    };
  };
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    window.violations.push(event.violatedDirective + ' ' + event.blockedURI);
  });
`;

/** Serves the built page on the loopback interface, under the panel's own policy. */
export class PageServer {
  readonly #server: Server;
  readonly #origin: string;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#origin = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<PageServer> {
    const assets = await bundlePage();
    const server = createServer((request, response) => {
      answer(assets, new URL(request.url ?? '/', 'http://127.0.0.1'), response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The page server has no port');
    return new PageServer(server, address.port);
  }

  url(request: PageRequest): string {
    const query = new URLSearchParams({ ...request });
    return `${this.#origin}/?${query.toString()}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

function answer(assets: readonly Asset[], url: URL, response: ServerResponse): void {
  if (url.pathname === '/') {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(html(url.searchParams));
    return;
  }
  if (url.pathname === '/theme.css') {
    response.setHeader('Content-Type', 'text/css');
    response.end(themeCss(themeOf(url.searchParams)));
    return;
  }
  const asset = assets.find((candidate) => `/${candidate.name}` === url.pathname);
  if (asset === undefined) {
    response.statusCode = 404;
    response.end();
    return;
  }
  response.setHeader('Content-Type', contentTypes[asset.name.replace(/^.*\./, '')] ?? 'text/plain');
  response.end(asset.contents);
}

function html(query: URLSearchParams): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
  ].join('; ');
  const theme = themeOf(query);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="/theme.css?theme=${theme}">
<link rel="stylesheet" href="/styles.css">
<title>Holdfast Chat</title>
<script nonce="${nonce}">${apiScript}</script></head>
<body class="${bodyClass(theme)}" data-panel-id="${escape(query.get('panelId'))}"
  data-session-id="${escape(query.get('sessionId'))}">
<div id="root"></div><script type="module" nonce="${nonce}" src="/main.js"></script></body></html>`;
}

function themeOf(query: URLSearchParams): ThemeName {
  const theme = query.get('theme');
  return theme === 'light' || theme === 'highContrast' ? theme : 'dark';
}

function escape(text: string | null): string {
  return (text ?? '').replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
