/** The models a user can pick: endpoints from the settings, their keys from VS Code's secret storage. */
import * as vscode from 'vscode';
import { makeModelCatalog, type ModelCatalog } from '../core/models/catalog.ts';
import type { ChatModel } from '../core/models/chatModel.ts';
import { makeMissingModel } from '../core/models/missingModel.ts';
import type { ModelPicker } from '../core/protocol/hostMessages.ts';
import { section, settings } from './contributions.ts';
import { Disposables } from './disposables.ts';

export class Models implements vscode.Disposable {
  readonly #secrets: vscode.SecretStorage;
  readonly #disposables = new Disposables();
  readonly #changed = this.#disposables.add(new vscode.EventEmitter<undefined>());
  readonly onDidChange = this.#changed.event;
  #catalog: ModelCatalog | null = null;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
    this.#disposables.add(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration(`${section}.${settings.providers}`)) return;
        this.#catalog = null;
        this.#changed.fire(undefined);
      }),
    );
  }

  /** The model of a chat; null means the default. One that is not configured any more answers with what to do. */
  model(modelId: string | null): ChatModel {
    const id = modelId ?? this.defaultModelId();
    return this.#current().model(id) ?? makeMissingModel(id);
  }

  picker(modelId: string | null): ModelPicker {
    const { choices, problems } = this.#current();
    const selectedId = modelId ?? this.defaultModelId();
    const isThere = choices.some((choice) => choice.id === selectedId);
    const missing = { id: selectedId, name: selectedId, detail: 'Not in your settings any more' };
    return {
      choices: [...choices, ...(isThere ? [] : [missing])],
      selectedId,
      problem: problems.length === 0 ? null : problems.join(' '),
    };
  }

  /** The first configured model; the offline guide when there is none. */
  defaultModelId(): string {
    const first = this.#current().choices[0];
    if (first === undefined) throw new Error('The catalog holds no model.');
    return first.id;
  }

  /** Asks for a provider's key and stores it; an empty answer removes it. */
  async askForKey(): Promise<void> {
    const { providers } = this.#current();
    if (providers.length === 0) {
      const open = 'Open Settings';
      const message = 'No endpoint is configured yet. Add one to the setting holdfast.providers first.';
      if ((await vscode.window.showInformationMessage(message, open)) === open) {
        const name = `${section}.${settings.providers}`;
        await vscode.commands.executeCommand('workbench.action.openSettings', name);
      }
      return;
    }
    const picked = await vscode.window.showQuickPick(
      providers.map((provider) => ({ label: provider.name, description: provider.baseUrl, provider })),
      { title: 'Set API Key', placeHolder: 'For which endpoint?' },
    );
    if (picked === undefined) return;
    const key = await vscode.window.showInputBox({
      title: `API key for ${picked.label}`,
      prompt: 'Kept in the secret storage of VS Code. Leave it empty to remove the stored key.',
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) return;
    const secret = secretName(picked.provider.apiKeyName);
    if (key.trim() === '') await this.#secrets.delete(secret);
    else await this.#secrets.store(secret, key.trim());
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #current(): ModelCatalog {
    this.#catalog ??= makeModelCatalog({
      providers: vscode.workspace.getConfiguration(section).get<unknown>(settings.providers),
      apiKey: async (name) => (await this.#secrets.get(secretName(name))) ?? null,
    });
    return this.#catalog;
  }
}

function secretName(apiKeyName: string): string {
  return `holdfast.apiKey.${apiKeyName}`;
}
