/** One of the editor's own icons; always decoration, its meaning is said by the element around it. */
export function Icon({ name, spins = false }: { readonly name: string; readonly spins?: boolean }) {
  return <span class={`codicon codicon-${name}${spins ? ' spin' : ''}`} aria-hidden="true" />;
}
