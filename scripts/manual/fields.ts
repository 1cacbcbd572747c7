import { namesOf } from '../../src/output/columns.ts';
import type { CommandSurface } from '../../src/commands/surface.ts';
import type { Chapter } from './roff.ts';

/** The meaning of a field on the pages that have it. A meaning for one noun or command is under its name. */
const meanings: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  account: {
    archive: 'address of the chat account that pulled the archive',
    '': 'who ran the command: the account of this computer, and the user of SUDO_USER',
  },
  added: 'messages that this pull added',
  advice: 'what to do about it',
  api_key: 'the key',
  app_code: { auth: 'code of the application', '': 'the application that the license is for' },
  app_code_before: 'the application before this command',
  archive: 'folder of the archive',
  arrived: 'messages that arrived during the deletion',
  at_least: 'true: the deletion was interrupted, and deleted counts only what was confirmed',
  back: 'messages that are visible again',
  base_url: 'the server, if several applications are queried',
  change: {
    'license apply': 'the size before and after, as in 3 -> 5',
    '': 'what happened: created, found, resized 3 -> 5, renamed …, unknown',
  },
  channel: 'name of the channel',
  check: 'what was checked',
  command: 'the command of the run',
  commands: 'every command, with arguments, options, formats, fields and examples',
  complete: 'whether the last pull reached the end of its selection',
  computer: 'name of the computer',
  data: 'file with what was changed in the embedded sandbox',
  deeper: 'messages that a call deleted although they were not read right before it',
  default: 'whether it is the default of its kind',
  deleted: 'messages that were deleted',
  detail: { license: 'the finding in words', '': 'more about it' },
  edited: 'messages that were edited since they were archived',
  email: 'address of the chat account',
  error: 'why the row failed',
  exit_codes: 'every exit code, with its name and meaning',
  file: 'file of the archive',
  files: 'attached files that the messages name',
  files_kept: 'attached files that the archive keeps',
  finding:
    'one of several-licenses, shared-key, similar-name, bad-name, bad-size; with a roster missing, unexpected, other-size',
  first_id: 'id of the first message',
  first_message_id: 'id of the first message of the channel',
  first_time: 'time of the first message',
  first_user: 'user whose license activated the sensor first',
  folder: 'folder of the archive',
  fragment: 'part of the URL that names the view',
  gone: 'messages that are no longer visible',
  groups: 'the nouns, with what they are for',
  help: 'what the setting does',
  host: 'name of the computer',
  id: { snippet: 'id of the snippet', '': 'id of the message' },
  ids: 'ids of the messages',
  is_pinned: 'whether the view is pinned',
  key: { auth: 'where the key comes from: one of stored, command, environment, sandbox, unusable' },
  kind: 'licensing or chat',
  last_id: 'id of the last message',
  last_pull: 'when the last pull ended',
  last_time: 'time of the last message',
  chat: 'site, email and api_key of the chat account',
  ledger: 'the ledger, without a password',
  licensing: 'base_url, app_code and api_key of the application',
  level: 'feature level from which a server has the setting',
  license: {
    'license apply': 'the license as the server sent it',
    'license audit': 'the license as the server sent it',
  },
  license_code: 'the license key, whatever the server calls the field',
  license_code_end: 'last four characters of the key',
  mac_address: 'the sensor',
  messages: {
    'archive pull': 'messages in the archive',
    'archive list': 'messages in the archive',
    'archive verify': 'messages in the archive',
    '': 'messages in the topic, before a deletion',
  },
  moved: 'messages that were moved to another topic or channel',
  name: { settings: 'name of the setting', view: 'name of the view', channel: 'name of the channel' },
  open: 'answered requests whose license no list shows',
  options: 'the options of every command',
  origin: 'the server',
  pending: 'requests without a response',
  pid: 'process id',
  problem: 'what is wrong',
  profile: 'name of the profile',
  read_only: 'whether writes are refused',
  remote_user: 'the user',
  remote_user_before: 'the user before this command',
  resolved: 'whether the topic is marked as resolved',
  run: 'name of the run, for license undo',
  saved_snippet_id: 'id of the snippet',
  selection: 'what the archive selects, as given',
  since: 'when the run began',
  site: 'URL of the chat server',
  size_allowance: 'largest number of sensors in one measurement',
  size_allowance_before: 'the size before this command',
  state: 'one of active, ended',
  status: {
    archive: 'what happened to the archive of the channel',
    auth: 'what happened to the profile; of auth status: ok, refused, unreachable, unusable, failed',
    doctor: 'one of ok, note, problem',
    'first-activation': 'one of activated, never-activated, error; in an audit ok, lent, never-activated, error',
    'license apply':
      'one of created, resized, unchanged, failed, unknown; in a plan create, resize, retire, unchanged, failed',
    license: 'one of changed, created, retired, resized, undone, unchanged',
    ledger: 'whether the tables were created',
    sandbox: 'reset',
    settings: 'one of set, ignored, confirmation_sent',
    snippet: 'one of deleted, missing',
    topic: 'one of deleted, incomplete, unseen, held; in the history also unfinished',
    view: 'one of pinned, hidden, renamed, unchanged, ignored',
  },
  stream_id: 'id of the channel',
  subject: { doctor: 'file, server or profile that was checked', '': 'topic, as the server calls it' },
  time: { messages: 'time of the message, RFC 3339', archive: 'time of the message, RFC 3339', '': 'when it happened' },
  topic_name: 'name of the topic',
  type: { settings: 'kind of value' },
  under_way: 'requests that have not ended',
  unseen: 'messages that disappeared without proof of deletion',
  url: { auth: 'URL of the server', '': 'link of the message in the web app' },
  value: 'the value on the wire',
  value_name: 'name of the value',
  values: 'the values that settings set accepts',
  version: 'version of the tables in the database',
};

/** Fields that have the server's name and meaning. */
const ofServer =
  /^(license_key|code|key|license|type|created|timestamp|sender_\w+|display_recipient|content|content_type|recipient_id|avatar_url|client|flags|is_me_message|last_\w+_timestamp|edit_history|reactions|submessages|topic_links|match_\w+|title|date_created|description|invite_only)$/;

/** Columns and JSON keys of a command, as `commands -o json` lists them. */
export function fieldsChapter({ name, show, fields = [] }: CommandSurface): Chapter | undefined {
  const names = [...new Set([...namesOf(show ?? {}), ...fields])];
  if (names.length === 0) return undefined;
  const known = names.flatMap((field) => {
    const text = meaningOf(field, name);
    return text === undefined ? [] : [{ term: field, text: sentence(text) }];
  });
  const passed = names.filter((field) => meaningOf(field, name) === undefined);
  return {
    title: 'Fields',
    blocks: [
      { text: 'For --fields, --sort and --jq, and as keys of -o json.' },
      ...(known.length > 0 ? [{ entries: known }] : []),
      ...(passed.length > 0 ? [{ text: `As the server sends them: ${passed.join(', ')}.` }] : []),
    ],
  };
}

/** The meaning of a field on the page of a command; undefined for a field of the server. */
function meaningOf(field: string, command: string): string | undefined {
  const row = meanings[field];
  const [noun = ''] = command.split(' ');
  const text = typeof row === 'string' ? row : (row?.[command] ?? row?.[noun] ?? row?.['']);
  if (text === undefined && !ofServer.test(field)) throw new Error(`${command}: the field ${field} has no meaning`);
  return text;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
