/**
 * How the flat rows of a chat are laid out: turns (a prompt and what followed), in them messages and folded earlier
 * attempts. Holds ids only, so that streaming text never changes it.
 */
import type { Message } from '../../core/session/model.ts';

export interface Row {
  readonly id: string;
  readonly role: Message['role'];
}

/** `earlier`: rows that a retry replaced. */
export interface Section {
  readonly kind: 'rows' | 'earlier';
  readonly rows: readonly Row[];
}

export interface TurnLayout {
  readonly id: string;
  readonly sections: readonly Section[];
  /** The same for the same layout: a turn with an equal signature is kept as it is. */
  readonly signature: string;
}

/** Turns as before where nothing changed, by identity, so that only changed ones render. */
export function layOut(messages: readonly Message[], previous: readonly TurnLayout[]): TurnLayout[] {
  const known = new Map(previous.map((turn) => [turn.id, turn]));
  return groupByPrompt(messages).map((rows) => {
    const turn = makeTurn(rows);
    const before = known.get(turn.id);
    return before?.signature === turn.signature ? before : turn;
  });
}

/** The row by which a tool call shows its result, per call id. */
export function findResults(messages: readonly Message[]): Map<string, string> {
  return new Map(
    messages.flatMap((message) =>
      message.role === 'tool' && message.toolCallId !== null
        ? [[message.toolCallId, message.id] as const]
        : [],
    ),
  );
}

function groupByPrompt(messages: readonly Message[]): Message[][] {
  const calls = new Set(messages.flatMap((message) => message.toolCalls.map((call) => call.id)));
  const groups: Message[][] = [];
  for (const message of messages) {
    if (message.copyOf !== null) continue;
    // The result is shown in the card of its call; one whose call is on an older page stands for itself.
    if (message.role === 'tool' && message.toolCallId !== null && calls.has(message.toolCallId)) continue;
    const last = groups.at(-1);
    if (message.role === 'user' || last === undefined) groups.push([message]);
    else last.push(message);
  }
  return groups;
}

function makeTurn(messages: readonly Message[]): TurnLayout {
  const sections: { kind: Section['kind']; rows: Row[] }[] = [];
  for (const { id, role, active } of messages) {
    const kind = active ? 'rows' : 'earlier';
    const last = sections.at(-1);
    if (last?.kind === kind) last.rows.push({ id, role });
    else sections.push({ kind, rows: [{ id, role }] });
  }
  const signature = sections
    .map(({ kind, rows }) => `${kind}:${rows.map((row) => row.id).join(',')}`)
    .join(';');
  return { id: messages[0]?.id ?? '', sections, signature };
}
