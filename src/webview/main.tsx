/** The page's entry: builds the model from what the host wrote into the document, and shows it. */
import { options, render } from 'preact';
import { ulid } from 'ulid';
import { connectToHost } from './host.ts';
import { readPageConfig } from './pageConfig.ts';
import { Page } from './state/page.ts';
import { Panel } from './view/panel.tsx';

const longestFrameMs = 100;

/** At most one render per frame however fast tokens come; the timer is for pages that get no frames. */
options.debounceRendering = (renderAll) => {
  let isDone = false;
  const run = () => {
    if (isDone) return;
    isDone = true;
    renderAll();
  };
  requestAnimationFrame(run);
  setTimeout(run, longestFrameMs);
};

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element with the id "root".');
const page = new Page(connectToHost(), readPageConfig(document.body), ulid);
render(<Panel page={page} />, root);
page.start();
