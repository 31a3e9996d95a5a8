import type { CommandCompletion } from '../state/commandCompletion.ts';
import { words } from '../words.ts';

export const commandListId = 'command-list';
export const commandOptionId = (index: number) => `command-${index}`;

/** Keys stay with the composer, which says by `aria-activedescendant` where they are in this list. */
export function CommandList({ completion }: { readonly completion: CommandCompletion }) {
  const options = completion.options.value;
  if (options.length === 0) return null;
  return (
    <div class="popup command-popup">
      <ul id={commandListId} role="listbox" aria-label={words.commandList}>
        {options.map(({ name, detail }, index) => (
          <li
            key={name}
            id={commandOptionId(index)}
            role="option"
            aria-selected={index === completion.active.value}
            class={index === completion.active.value ? 'active' : ''}
            onPointerMove={() => completion.point(index)}
            onPointerDown={(event) => event.preventDefault() /* the caret stays in the composer */}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => completion.complete(index)}
          >
            <span class="command-name">{name}</span>
            <span class="choice-detail">{detail}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
