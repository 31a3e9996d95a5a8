import { words } from '../words.ts';
import { Icon } from './icon.tsx';

export function Welcome() {
  return (
    <div class="welcome">
      <Icon name="comment-discussion-sparkle" />
      <h2>{words.welcomeTitle}</h2>
      <p>{words.welcomeGuide}</p>
      <p>{words.welcomeKept}</p>
    </div>
  );
}
