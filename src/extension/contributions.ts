/** The names that package.json and the code share, in one typed table; a test holds it against package.json. */

export const commands = {
  newChat: 'holdfast.newChat',
  openLastChat: 'holdfast.openLastChat',
  openChat: 'holdfast.openChat',
  archiveChat: 'holdfast.archiveChat',
  reopenChat: 'holdfast.reopenChat',
  refreshChats: 'holdfast.refreshChats',
  setApiKey: 'holdfast.setApiKey',
} as const;

export const settings = { section: 'holdfast', providers: 'providers' } as const;

export const chatListView = 'holdfast.chats';
export const chatPanelType = 'holdfast.chat';
