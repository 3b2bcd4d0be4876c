import { Html } from './html.ts';

/**
 * The styles of the administrator's pages. Colors and shapes match the server's other pages
 * (`views/oauth/layout.eta`), but the content is wider.
 */
export const STYLES = new Html(`
      :root {
        color-scheme: light dark;
        --page: #f3f1ec;
        --card: #fffefb;
        --ink: #1d2320;
        --soft: #55605a;
        --line: #d6d2c6;
        --field: #8b8f86;
        --accent: #1f5c4d;
        --accent-hover: #17483c;
        --accent-ink: #ffffff;
        --accent-page: #eaf1ee;
        --alert: #8f2318;
        --alert-hover: #6f1a12;
        --alert-ink: #ffffff;
        --alert-page: #fbeeea;
      }
      @media (prefers-color-scheme: dark) {
        :root {
          --page: #141816;
          --card: #1c2220;
          --ink: #ecefe9;
          --soft: #a9b4ac;
          --line: #36403b;
          --field: #7d8a82;
          --accent: #8fd3bd;
          --accent-hover: #b2e3d3;
          --accent-ink: #0d211b;
          --accent-page: #25332e;
          --alert: #ffb4a6;
          --alert-hover: #ffcfc5;
          --alert-ink: #33100a;
          --alert-page: #3a201b;
        }
      }
      * { box-sizing: border-box; }
      html { font: 100%/1.5 ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; }
      body { margin: 0 auto; max-width: 64rem; padding: 1.5rem 1rem; background: var(--page); color: var(--ink); overflow-wrap: anywhere; }
      header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0.25rem 1.5rem; margin: 0 0 1rem; }
      header p { margin: 0; }
      nav { flex-basis: 100%; margin-top: 0.5rem; }
      nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem; margin: 0; padding: 0; list-style: none; }
      nav a { display: block; padding: 0.5rem 0.75rem; border-radius: 0.5rem; text-decoration: none; font-size: 0.9375rem; }
      nav a:hover { background: var(--accent-page); }
      nav a[aria-current] { background: var(--accent); color: var(--accent-ink); font-weight: 600; }
      main { padding: 2rem 1.75rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.875rem; }
      main:focus { outline: none; }
      main > :last-child { margin-bottom: 0; }
      footer { margin-top: 1rem; }
      .host { font-size: 0.875rem; font-weight: 600; letter-spacing: 0.01em; color: var(--accent); }
      .brand { display: inline-block; max-width: 12rem; max-height: 2rem; margin-inline-end: 0.625rem; vertical-align: middle; }
      h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; font-weight: 650; }
      h2 { margin: 2rem 0 0.5rem; font-size: 1.125rem; font-weight: 600; }
      p { margin: 0 0 1rem; max-width: 44rem; }
      .soft { color: var(--soft); font-size: 0.9375rem; }
      a { color: var(--accent); }
      code { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: 0.9375em; }
      .facts { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: 0.375rem 1.5rem; margin: 0 0 1rem; }
      .facts dt { color: var(--soft); font-size: 0.9375rem; }
      .facts dd { margin: 0; min-width: 0; }
      .facts ul { margin: 0; padding: 0; list-style: none; }
      .rows { margin: 0 0 1.25rem; padding: 0; list-style: none; border-top: 1px solid var(--line); }
      .rows > li { padding: 0.875rem 0; border-bottom: 1px solid var(--line); }
      .rows h2, .rows h3 { margin: 0; font-size: 1rem; }
      .rows p { margin: 0.125rem 0 0; }
      .rows form { margin-top: 0.5rem; }
      .head { display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: baseline; }
      .badge { display: inline-block; padding: 0 0.5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: 0.8125rem; font-weight: 600; color: var(--soft); }
      .badge.good { color: var(--accent); }
      .badge.bad { color: var(--alert); }
      .notice, .alert { padding: 0.75rem 1rem; border: 1px solid var(--accent); border-radius: 0.5rem; background: var(--accent-page); }
      .alert { border-color: var(--alert); color: var(--alert); background: var(--alert-page); }
      .secret { display: block; margin-top: 0.5rem; padding: 0.75rem 1rem; border: 1px dashed var(--field); border-radius: 0.5rem; user-select: all; }
      label, legend { display: block; margin: 1rem 0 0.375rem; padding: 0; font-weight: 600; font-size: 0.9375rem; }
      fieldset legend { margin-top: 0; }
      .head strong { font-size: 1.125rem; }
      fieldset { margin: 1.25rem 0 0; padding: 0; border: 0; min-width: 0; }
      .choice { display: flex; gap: 0.625rem; align-items: baseline; margin: 0; padding: 0.25rem 0; font-weight: 400; }
      .choice input { flex: none; width: 1.125rem; height: 1.125rem; min-height: 0; margin: 0; transform: translateY(0.1875rem); accent-color: var(--accent); }
      input, select, textarea {
        width: 100%;
        max-width: 36rem;
        min-height: 2.75rem;
        padding: 0.5rem 0.75rem;
        font: inherit;
        color: inherit;
        background: var(--card);
        border: 1px solid var(--field);
        border-radius: 0.5rem;
      }
      textarea { display: block; min-height: 6rem; }
      .hint { margin: 0.25rem 0 0; color: var(--soft); font-size: 0.875rem; }
      .empty { padding: 1.25rem; border: 1px dashed var(--line); border-radius: 0.75rem; max-width: none; color: var(--soft); }
      .person { display: flex; flex-wrap: wrap; gap: 0.125rem 0.625rem; align-items: baseline; max-width: none; }
      .person > a, .person > strong { font-weight: 600; }
      .mail { color: var(--soft); }
      .held { display: grid; grid-template-columns: 1fr auto; gap: 0.25rem 1.5rem; align-items: start; }
      .held > div { min-width: 0; }
      .held > form { margin: 0; }
      .held p { max-width: none; }
      time { white-space: nowrap; }
      .scopes code { display: inline-block; margin: 0.125rem 0; padding: 0 0.4375rem; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--page); font-size: 0.875rem; }
      .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); gap: 0.75rem; margin: 0 0 1.25rem; padding: 0; list-style: none; }
      .tiles a { display: flex; flex-direction: column; height: 100%; padding: 0.875rem 1rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--page); text-decoration: none; color: var(--soft); font-size: 0.9375rem; }
      .tiles a:hover { border-color: var(--accent); background: var(--accent-page); }
      .tiles strong { font-size: 1.75rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; color: var(--ink); }
      .search { margin: 0 0 1.25rem; max-width: 36rem; }
      .search label { margin-top: 0; }
      .search > div { display: flex; gap: 0.5rem; }
      .search input { flex: 1; min-width: 0; }
      .more { margin: 0 0 1.5rem; padding: 0.625rem 1rem; border: 1px solid var(--line); border-radius: 0.75rem; }
      .more summary { cursor: pointer; font-weight: 600; font-size: 0.9375rem; color: var(--accent); }
      .more .filters { margin-bottom: 0.375rem; }
      .filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); gap: 0 1rem; align-items: end; margin-bottom: 1.5rem; }
      main > form:last-child > .choices { margin-bottom: 0; }
      .filters button { margin-top: 0.75rem; }
      .choices { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1.25rem 0; padding: 0; list-style: none; }
      button, .button {
        display: inline-block;
        min-height: 2.75rem;
        padding: 0.5rem 1.25rem;
        font: inherit;
        font-weight: 600;
        text-decoration: none;
        border: 1px solid var(--accent);
        border-radius: 0.5rem;
        cursor: pointer;
        background: transparent;
        color: var(--accent);
      }
      button:hover, .button:hover { background: var(--accent-page); }
      .primary { background: var(--accent); color: var(--accent-ink); }
      .primary:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
      .danger { background: var(--alert); border-color: var(--alert); color: var(--alert-ink); }
      .danger:hover { background: var(--alert-hover); border-color: var(--alert-hover); }
      .skip { position: absolute; left: -100vw; padding: 0.5rem 1rem; background: var(--card); }
      .skip:focus { left: 1rem; top: 0.5rem; z-index: 1; }
      .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
      :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
      @media (max-width: 40rem) {
        main { padding: 1.25rem 1rem; }
        .facts { grid-template-columns: 1fr; gap: 0; }
        .facts dd { margin-bottom: 0.75rem; }
        .held { grid-template-columns: 1fr; }
        .held > form { margin-top: 0.5rem; }
        .tiles { grid-template-columns: 1fr 1fr; }
      }
      @media (forced-colors: active) { main, button, .button, .badge { border-color: currentColor; } nav a[aria-current] { outline: 2px solid; } }
    `);
