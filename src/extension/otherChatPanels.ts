/**
 * Panels on chats of other chat folders: the same page, read-only, with **Bring In**. The page remembers which panel it is;
 * which chat of which folder that panel shows is remembered here, for the workspace.
 */
import { ulid } from 'ulid';
import * as v from 'valibot';
import * as vscode from 'vscode';
import type { HostMessage } from '../core/protocol/hostMessages.ts';
import { pageStateSchema, type PageMessage } from '../core/protocol/pageMessages.ts';
import { FollowedChat } from '../core/runtime/followedChat.ts';
import { describeStoreProblem, messageOf } from '../core/runtime/problems.ts';
import type { Viewer } from '../core/runtime/viewer.ts';
import { chatTitle } from '../core/session/title.ts';
import { mergeRecords } from '../core/store/transfer/merge.ts';
import { readRecords } from '../core/store/transfer/records.ts';
import { otherChatPanelType } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import { Disposables } from './disposables.ts';
import { openLink } from './links.ts';
import type { OtherFolders } from './otherFolders.ts';
import { showPage } from './panelPage.ts';
import type { ChatPanels } from './panels.ts';
import type { SmallMemory } from './smallMemory.ts';

const key = 'holdfast.otherChatPanels';
const chatSchema = v.object({ folder: v.string(), sessionId: v.string() });
type OtherChat = Readonly<v.InferOutput<typeof chatSchema>>;
/** By panel id. */
const storedSchema = v.fallback(v.record(v.string(), chatSchema), {});

export interface OtherChatPanelsServices {
  readonly core: CoreAccess;
  readonly folders: OtherFolders;
  readonly panels: ChatPanels;
  /** The editor's memory of this extension for the workspace. */
  readonly memory: SmallMemory;
  /** The folder of the built assets. */
  readonly distribution: vscode.Uri;
  readonly log: (line: string) => void;
}

export class OtherChatPanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #services: OtherChatPanelsServices;
  readonly #panels = new Map<
    string,
    { readonly panel: vscode.WebviewPanel; readonly chat: OtherChat | null }
  >();
  readonly #disposables = new Disposables();

  constructor(services: OtherChatPanelsServices) {
    this.#services = services;
    this.#disposables.add(vscode.window.registerWebviewPanelSerializer(otherChatPanelType, this));
  }

  /** Shows the chat: in the panel that already does, else in a new one. */
  async open(chat: OtherChat, title: string): Promise<void> {
    const shown = this.#showing(chat)[0];
    if (shown !== undefined) {
      shown.reveal();
      return;
    }
    const panelId = ulid();
    await this.#remember({ ...this.#remembered, [panelId]: chat });
    const column = vscode.ViewColumn.Active;
    this.#add(vscode.window.createWebviewPanel(otherChatPanelType, title, column), panelId, chat);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const parsed = v.safeParse(pageStateSchema, state);
    const panelId = parsed.success ? parsed.output.panelId : ulid();
    this.#add(panel, panelId, this.#remembered[panelId] ?? null);
  }

  /** Copies the chat into the window's own folder, by id, and shows it there in the place of the read-only panels. Rejects with StoreErrors. */
  async bringIn(chat: OtherChat): Promise<void> {
    const { core, folders, panels, log } = this.#services;
    const { store } = await core.get();
    await folders.read(chat.folder, (reader) =>
      mergeRecords(store, () => readRecords(reader, log, chat.sessionId)),
    );
    const replaced = this.#showing(chat);
    panels.open(chat.sessionId);
    for (const panel of replaced) panel.dispose();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  get #remembered(): Readonly<Record<string, OtherChat>> {
    return v.parse(storedSchema, this.#services.memory.get(key));
  }

  async #remember(chats: Readonly<Record<string, OtherChat>>): Promise<void> {
    await this.#services.memory.set(key, chats);
  }

  #showing({ folder, sessionId }: OtherChat): vscode.WebviewPanel[] {
    return [...this.#panels.values()]
      .filter(({ chat }) => chat?.folder === folder && chat.sessionId === sessionId)
      .map(({ panel }) => panel);
  }

  #add(panel: vscode.WebviewPanel, panelId: string, chat: OtherChat | null): void {
    this.#panels.set(panelId, { panel, chat });
    const shown = new OtherChatPanel(this.#services, this, panel, chat);
    panel.onDidDispose(() => {
      shown.dispose();
      this.#panels.delete(panelId);
      const { [panelId]: closed, ...others } = this.#remembered;
      if (closed === undefined) return;
      this.#remember(others).then(undefined, (error: unknown) =>
        this.#services.log(`panel ${panelId} is not forgotten: ${messageOf(error)}`),
      );
    });
    showPage(panel, this.#services, { panelId, sessionId: chat?.sessionId ?? '' }, (message) =>
      shown.handle(message),
    );
  }
}

/** One such panel: a viewer of a chat that only others change. */
class OtherChatPanel implements Viewer {
  readonly isPanel = true;
  readonly #services: OtherChatPanelsServices;
  readonly #panels: OtherChatPanels;
  readonly #panel: vscode.WebviewPanel;
  readonly #chat: OtherChat | null;
  #loading: Promise<FollowedChat> | null = null;
  #shown: FollowedChat | null = null;
  #isGone = false;

  constructor(
    services: OtherChatPanelsServices,
    panels: OtherChatPanels,
    panel: vscode.WebviewPanel,
    chat: OtherChat | null,
  ) {
    this.#services = services;
    this.#panels = panels;
    this.#panel = panel;
    this.#chat = chat;
  }

  receive(message: HostMessage): void {
    void this.#panel.webview.postMessage(message);
  }

  isVisible(): boolean {
    return this.#panel.visible;
  }

  reclaimed(): void {
    // It has no runtime that could be given back.
  }

  /** What a page can ask of a chat that is only read; its words and wishes to write are not taken. */
  async handle(message: PageMessage): Promise<void> {
    try {
      switch (message.type) {
        case 'ready':
          return await this.#ready();
        case 'ping':
          return this.receive({ type: 'pong', nonce: message.nonce });
        case 'loadOlder':
          return this.#shown?.loadOlder(this, message.before);
        case 'bringIn':
          if (this.#chat !== null) await this.#panels.bringIn(this.#chat);
          return;
        case 'openLink': {
          const problem = await openLink(message.href, this.#panel.viewColumn);
          if (problem !== null) this.receive({ type: 'notice', message: problem });
          return;
        }
        case 'copy':
          await vscode.env.clipboard.writeText(message.text);
          return;
        case 'reloadWindow':
          await vscode.commands.executeCommand('workbench.action.reloadWindow');
          return;
        case 'draft':
        case 'keptWords':
          return; // a page says where it stands as well; nothing can be typed
        default:
          this.receive({ type: 'notice', message: 'This chat is read-only here: bring it in to go on.' });
      }
    } catch (error) {
      this.receive({ type: 'notice', message: describeStoreProblem(error).message });
    }
  }

  /** The panel is gone. */
  dispose(): void {
    this.#isGone = true;
    this.#shown?.dispose();
    if (this.#chat !== null) this.#services.folders.letGo(this.#chat.folder, this);
  }

  /** A page that asks again while the chat is being read waits for the same reading. */
  async #ready(): Promise<void> {
    try {
      this.#loading ??= this.#load();
      const shown = await this.#loading;
      if (this.#isGone) return;
      this.#panel.title = chatTitle(shown.session);
      shown.attach(this);
    } catch (error) {
      this.#loading = null;
      if (!this.#isGone) this.receive({ type: 'unavailable', problem: describeStoreProblem(error) });
    }
  }

  async #load(): Promise<FollowedChat> {
    if (this.#chat === null) {
      throw new Error(
        'It is not known which chat this panel showed. Close it and open the chat from the list.',
      );
    }
    const { folder, sessionId } = this.#chat;
    const store = await this.#services.folders.use(folder, this);
    if (this.#isGone) throw new Error('This panel was closed while its chat was read.');
    this.#shown = new FollowedChat({
      store,
      sessionId,
      runtimeId: ulid(),
      onChange: (session) => {
        this.#panel.title = chatTitle(session);
      },
    });
    return this.#shown;
  }
}
