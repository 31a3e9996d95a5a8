/** The models a user can pick: from the settings, with keys from VS Code's secret storage. */
import * as vscode from 'vscode';
import { ModelCatalog } from '../core/models/catalog.ts';
import type { ChatModel } from '../core/models/chatModel.ts';
import type { ModelPicker } from '../core/protocol/hostMessages.ts';
import { settings } from './contributions.ts';
import { Disposables } from './disposables.ts';
