/** Makes a text box as high as its text; the style sheet sets the limit. */
export function fitHeight(area: HTMLTextAreaElement): void {
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight}px`;
}
