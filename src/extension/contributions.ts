/** The names that package.json and the code share, in one typed table; a test holds it against package.json. */

export const commands = {
  newChat: 'holdfast.newChat',
  openLastChat: 'holdfast.openLastChat',
  openChat: 'holdfast.openChat',
  archiveChat: 'holdfast.archiveChat',
  archiveAndStartNew: 'holdfast.archiveAndStartNew',
  reopenChat: 'holdfast.reopenChat',
  deleteChat: 'holdfast.deleteChat',
  branchChat: 'holdfast.branchChat',
  compactChat: 'holdfast.compactChat',
  showMoreChats: 'holdfast.showMoreChats',
  refreshChats: 'holdfast.refreshChats',
  setApiKey: 'holdfast.setApiKey',
  verifyStore: 'holdfast.verifyStore',
  showStorage: 'holdfast.showStorage',
  bringInChats: 'holdfast.bringInChats',
  bringInChat: 'holdfast.bringInChat',
  openChatFolder: 'holdfast.openChatFolder',
  removeChatFolder: 'holdfast.removeChatFolder',
} as const;

export const section = 'holdfast';

/** Keys below the section. */
export const settings = {
  providers: 'providers',
  idleMinutes: 'lifecycle.idleMinutes',
  graceSeconds: 'lifecycle.graceSeconds',
  maximumChatsInMemory: 'lifecycle.maximumChatsInMemory',
  storageFolder: 'storageFolder',
} as const;

export const chatListView = 'holdfast.chats';
export const chatPanelType = 'holdfast.chat';
/** Panels on chats of other chat folders. */
export const otherChatPanelType = 'holdfast.otherFolderChat';
