import { Icon } from './icon.tsx';

interface IconButtonProps {
  readonly label: string;
  readonly icon: string;
  readonly isDisabled: boolean;
  readonly run: () => void;
}

export function IconButton({ label, icon, isDisabled, run }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      disabled={isDisabled}
      onClick={run}
    >
      <Icon name={icon} />
    </button>
  );
}
