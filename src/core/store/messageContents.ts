/**
 * What a message says, apart from what it is: text, reasoning and tool calls. Small contents stand in the row; large ones in a
 * blob, and then the columns hold only what came since: the text is the blob's text and the column's behind it.
 */
import * as v from 'valibot';
import { toolCallSchema, type Message, type ToolCall } from '../session/model.ts';
import { BlobUnreadableError } from './blobFile.ts';
import { fitsInFrame } from './frame.ts';
import type { ReadTransaction, Row, WriteTransaction } from './transaction.ts';

export interface Contents extends Pick<Message, 'text' | 'reasoning'> {
  readonly toolCalls: readonly ToolCall[];
}

/**
 * What to do about contents in a blob: `read` it, and if that fails say so in the message; `require` it, and throw
 * BlobUnreadableError if that fails; `leave` it where it is, unless the message is still streaming and grows.
 */
export type ContentsWish = 'read' | 'require' | 'leave';

/** Bytes of contents for which a file is never worth it: its name takes a good part of them. */
const alwaysInline = 512;

/** In the order of the statements that set them. */
export const contentColumns = 'blob, content, reasoning, tool_calls';
export type ContentValues = readonly [
  blob: string | null,
  content: string,
  reasoning: string,
  toolCalls: string | null,
];

const rowSchema = v.object({
  status: v.string(),
  blob: v.nullable(v.string()),
  content: v.string(),
  reasoning: v.string(),
  tool_calls: v.nullable(v.string()),
});
type ContentRow = v.InferOutput<typeof rowSchema>;

const callsSchema = v.pipe(v.string(), v.parseJson(), v.array(toolCallSchema));

/** Throws BlobUnreadableError if the contents are required and cannot be read. */
export function contentsOf(
  reader: ReadTransaction,
  row: Row,
  wish: ContentsWish,
): Pick<Message, 'text' | 'reasoning' | 'toolCalls' | 'contents'> {
  const columns = v.parse(rowSchema, row);
  const { blob, status } = columns;
  if (blob === null) return { ...joined(columns, []), contents: 'here' };
  if (wish === 'leave' && status !== 'streaming') return { ...joined(columns, []), contents: 'left' };
  try {
    return { ...joined(columns, reader.readBlob(blob)), contents: 'here' };
  } catch (error) {
    if (wish === 'require' || !(error instanceof BlobUnreadableError)) throw error;
    return { ...joined(columns, []), contents: 'unreadable' };
  }
}

function joined(
  { content, reasoning, tool_calls }: ContentRow,
  [text = '', thought = '', calls = '']: string[],
): Pick<Message, 'text' | 'reasoning' | 'toolCalls'> {
  const toolCalls = tool_calls ?? calls;
  return {
    text: text + content,
    reasoning: thought + reasoning,
    toolCalls: toolCalls === '' ? [] : v.parse(callsSchema, toolCalls),
  };
}

/** The values with which a row keeps these contents: in the frame while there is room in it, else in a blob. Throws StoreErrors. */
export function contentValues(writer: WriteTransaction, contents: Contents): ContentValues {
  const { text, reasoning } = contents;
  const calls = callsToJson(contents.toolCalls);
  const isSmall = fitsInFrame([text, reasoning, calls], Math.max(writer.room, alwaysInline));
  if (isSmall) return [null, text, reasoning, calls];
  return [writer.keepBlob(textsOf(contents)), '', '', null];
}

/** Contents as a blob holds them. */
export function textsOf({ text, reasoning, toolCalls }: Contents): string[] {
  return [text, reasoning, callsToJson(toolCalls) ?? ''];
}

export function callsToJson(calls: Contents['toolCalls']): string | null {
  return calls.length === 0 ? null : JSON.stringify(calls);
}
