/** What VS Code sets on a webview's page, of its default themes; the variables that the page reads. */
export type ThemeName = 'dark' | 'light' | 'highContrast';

type Variables = Readonly<Record<string, string>>;

const fonts: Variables = {
  'font-family': 'system-ui, "Segoe WPC", "Segoe UI", Ubuntu, "DejaVu Sans", sans-serif',
  'font-size': '13px',
  'editor-font-family': '"Liberation Mono", "DejaVu Sans Mono", Consolas, monospace',
  'editor-font-size': '14px',
};

const dark: Variables = {
  foreground: '#cccccc',
  descriptionForeground: '#9d9d9d',
  disabledForeground: 'rgba(204, 204, 204, 0.5)',
  errorForeground: '#f85149',
  focusBorder: '#0078d4',
  'icon-foreground': '#cccccc',
  'editor-background': '#1f1f1f',
  'editorWidget-background': '#202020',
  'editorWarning-foreground': '#cca700',
  'editorInfo-foreground': '#3794ff',
  'widget-border': '#313131',
  'widget-shadow': 'rgba(0, 0, 0, 0.36)',
  'panel-border': '#2b2b2b',
  'input-background': '#313131',
  'input-border': '#3c3c3c',
  'input-foreground': '#cccccc',
  'input-placeholderForeground': '#989898',
  'inputValidation-errorBorder': '#be1100',
  'button-background': '#0078d4',
  'button-foreground': '#ffffff',
  'button-hoverBackground': '#026ec1',
  'button-border': 'rgba(255, 255, 255, 0.07)',
  'button-secondaryBackground': '#313131',
  'button-secondaryForeground': '#cccccc',
  'button-secondaryHoverBackground': '#3c3c3c',
  'textLink-foreground': '#4daafc',
  'textLink-activeForeground': '#4daafc',
  'textCodeBlock-background': '#2b2b2b',
  'textBlockQuote-background': '#2b2b2b',
  'textBlockQuote-border': '#616161',
  'textPreformat-foreground': '#d0d0d0',
  'textPreformat-background': '#3c3c3c',
  'textSeparator-foreground': '#21262d',
  'toolbar-hoverBackground': 'rgba(90, 93, 94, 0.31)',
  'list-hoverBackground': '#2a2d2e',
  'menu-background': '#1f1f1f',
  'menu-foreground': '#cccccc',
  'menu-border': '#454545',
  'menu-selectionBackground': '#0078d4',
  'menu-selectionForeground': '#ffffff',
  'menu-separatorBackground': '#454545',
  'chat-requestBorder': 'rgba(255, 255, 255, 0.1)',
  'chat-requestBubbleBackground': 'rgba(38, 79, 120, 0.3)',
  'testing-iconPassed': '#73c991',
  'debugTokenExpression-name': '#c586c0',
  'debugTokenExpression-string': '#ce9178',
  'debugTokenExpression-boolean': '#4e94ce',
  'debugTokenExpression-number': '#b5cea8',
  'symbolIcon-functionForeground': '#b180d7',
};

const light: Variables = {
  foreground: '#3b3b3b',
  descriptionForeground: '#3b3b3b',
  disabledForeground: 'rgba(97, 97, 97, 0.5)',
  errorForeground: '#f85149',
  focusBorder: '#005fb8',
  'icon-foreground': '#3b3b3b',
  'editor-background': '#ffffff',
  'editorWidget-background': '#f8f8f8',
  'editorWarning-foreground': '#bf8803',
  'editorInfo-foreground': '#1a85ff',
  'widget-border': '#e5e5e5',
  'widget-shadow': 'rgba(0, 0, 0, 0.16)',
  'panel-border': '#e5e5e5',
  'input-background': '#ffffff',
  'input-border': '#cecece',
  'input-foreground': '#3b3b3b',
  'input-placeholderForeground': '#767676',
  'inputValidation-errorBorder': '#be1100',
  'button-background': '#005fb8',
  'button-foreground': '#ffffff',
  'button-hoverBackground': '#0258a8',
  'button-border': 'rgba(0, 0, 0, 0.1)',
  'button-secondaryBackground': '#e5e5e5',
  'button-secondaryForeground': '#3b3b3b',
  'button-secondaryHoverBackground': '#cccccc',
  'textLink-foreground': '#005fb8',
  'textLink-activeForeground': '#005fb8',
  'textCodeBlock-background': '#f8f8f8',
  'textBlockQuote-background': '#f8f8f8',
  'textBlockQuote-border': '#e5e5e5',
  'textPreformat-foreground': '#3b3b3b',
  'textPreformat-background': 'rgba(0, 0, 0, 0.12)',
  'textSeparator-foreground': '#21262d',
  'toolbar-hoverBackground': 'rgba(184, 184, 184, 0.31)',
  'list-hoverBackground': '#f2f2f2',
  'menu-background': '#ffffff',
  'menu-foreground': '#3b3b3b',
  'menu-border': '#cecece',
  'menu-selectionBackground': '#005fb8',
  'menu-selectionForeground': '#ffffff',
  'menu-separatorBackground': '#d4d4d4',
  'chat-requestBorder': 'rgba(0, 0, 0, 0.1)',
  'chat-requestBubbleBackground': 'rgba(173, 214, 255, 0.3)',
  'testing-iconPassed': '#73c991',
  'debugTokenExpression-name': '#9b46b0',
  'debugTokenExpression-string': '#a31515',
  'debugTokenExpression-boolean': '#0000ff',
  'debugTokenExpression-number': '#098658',
  'symbolIcon-functionForeground': '#652d90',
};

/** High contrast leaves most backgrounds out and draws edges. */
const highContrast: Variables = {
  foreground: '#ffffff',
  descriptionForeground: 'rgba(255, 255, 255, 0.7)',
  disabledForeground: '#a5a5a5',
  errorForeground: '#f48771',
  focusBorder: '#f38518',
  contrastBorder: '#6fc3df',
  contrastActiveBorder: '#f38518',
  'icon-foreground': '#ffffff',
  'editor-background': '#000000',
  'editorWidget-background': '#0c141f',
  'widget-border': '#6fc3df',
  'panel-border': '#6fc3df',
  'input-background': '#000000',
  'input-border': '#6fc3df',
  'input-foreground': '#ffffff',
  'input-placeholderForeground': 'rgba(255, 255, 255, 0.7)',
  'button-foreground': '#ffffff',
  'button-border': '#6fc3df',
  'button-secondaryForeground': '#ffffff',
  'textLink-foreground': '#21a6ff',
  'textLink-activeForeground': '#21a6ff',
  'textCodeBlock-background': '#000000',
  'textPreformat-foreground': '#000000',
  'textPreformat-background': '#ffffff',
  'menu-background': '#000000',
  'menu-foreground': '#ffffff',
  'menu-border': '#6fc3df',
  'debugTokenExpression-name': '#ffffff',
  'debugTokenExpression-string': '#f48771',
  'debugTokenExpression-boolean': '#75bdfe',
  'debugTokenExpression-number': '#89d185',
};

const themes: Readonly<Record<ThemeName, { readonly bodyClass: string; readonly variables: Variables }>> = {
  dark: { bodyClass: 'vscode-dark', variables: dark },
  light: { bodyClass: 'vscode-light', variables: light },
  highContrast: { bodyClass: 'vscode-high-contrast', variables: highContrast },
};

export const themeNames: readonly ThemeName[] = ['dark', 'light', 'highContrast'];

export function bodyClass(theme: ThemeName): string {
  return themes[theme].bodyClass;
}

/** The variables, and the rules that VS Code gives every webview and the page has to undo. */
export function themeCss(theme: ThemeName): string {
  const lines = Object.entries({ ...fonts, ...themes[theme].variables }).map(
    ([name, value]) => `--vscode-${name}: ${value};`,
  );
  return `html { ${lines.join(' ')} scrollbar-color: auto; }
body { padding: 0 20px; margin: 0; background: transparent; }
a, a code { color: var(--vscode-textLink-foreground); }
a:hover { color: var(--vscode-textLink-activeForeground); }
code { font-family: monospace; color: var(--vscode-textPreformat-foreground);
  background-color: var(--vscode-textPreformat-background); padding: 1px 3px; border-radius: 4px; }
pre code { padding: 0; }
blockquote { background: var(--vscode-textBlockQuote-background); border-color: var(--vscode-textBlockQuote-border); }
kbd { color: inherit; }`;
}
