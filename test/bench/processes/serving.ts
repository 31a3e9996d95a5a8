/** Serves the page of a chat, as the editor does beside the host that reads the chat. Argument: the chat. Question: `url`. */
import { ulid } from 'ulid';
import { PageServer } from '../../support/page/pageServer.ts';
import { answerQuestions } from '../answering.ts';

const [sessionId = ''] = process.argv.slice(2);
const started = PageServer.start();

answerQuestions({
  url: async () => (await started).url({ theme: 'dark', panelId: ulid(), sessionId }),
});
