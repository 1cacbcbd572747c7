import { isObject } from '../core/json.ts';
import type {
  Activation,
  ChannelRecord,
  LicenseRecord,
  MessageRecord,
  Organization,
  SavedSnippet,
  TopicPolicy,
  User,
  ViewRecord,
} from './records.ts';
import { createTable, type Change, type Table } from './table.ts';

/** Everything that the two services know. Rows are never changed in place: a changed row is put again. */
export interface State {
  readonly licenses: Table<string, LicenseRecord>;
  readonly activations: Table<string, Activation>;
  readonly users: Table<number, User>;
  readonly channels: Table<number, ChannelRecord>;
  readonly messages: Table<number, MessageRecord>;
  readonly topicPolicies: Table<string, TopicPolicy>;
  readonly views: Table<string, ViewRecord>;
  readonly snippets: Table<number, SavedSnippet>;
  /** Last numbers given out, by name. */
  readonly counters: Table<string, number>;
  /** One row, under `chat`. */
  readonly organization: Table<string, Organization>;
}

export interface Store {
  readonly state: State;
  /** The changes since the last `keep` or `undo`: one record of the log. */
  changes(): readonly Change[];
  /** Makes the changes final. */
  keep(): void;
  /** Takes them back. */
  undo(): void;
  /**
   * Applies records of the log and ignores anything else. Applying a record twice changes nothing. `{ reset: true }` says
   * that the log was restarted: everything goes back to the fixed data.
   */
  replay(records: readonly unknown[]): void;
}

/** `fill` makes the fixed data: once at the start, and again after a reset. */
export function createStore(fill: (state: State) => void): Store {
  const journal: { change: Change; before: unknown }[] = [];
  const note = (change: Change, before: unknown) => void journal.push({ change, before });
  const state: State = {
    licenses: createTable('licenses', note),
    activations: createTable('activations', note),
    users: createTable('users', note),
    channels: createTable('channels', note),
    messages: createTable('messages', note),
    topicPolicies: createTable('topicPolicies', note),
    views: createTable('views', note),
    snippets: createTable('snippets', note),
    counters: createTable('counters', note),
    organization: createTable('organization', note),
  };
  const begin = () => {
    for (const table of tablesOf(state).values()) table.clear();
    fill(state);
    journal.splice(0);
  };
  begin();
  return {
    state,
    changes: () => journal.map(({ change }) => change),
    keep: () => void journal.splice(0),
    undo: () => {
      for (const { change, before } of journal.splice(0).reverse()) play(state, { ...change, value: before });
    },
    replay: (records) => {
      for (const record of records) {
        if (isReset(record)) begin();
        else for (const change of changesOf(record)) play(state, change);
      }
    },
  };
}

type Playable = Pick<Table<string | number, unknown>, 'play' | 'clear'>;

function tablesOf(state: State): ReadonlyMap<string, Playable> {
  return new Map(Object.entries<Playable>({ ...state }));
}

function play(state: State, { table, key, value }: Change): void {
  tablesOf(state).get(table)?.play(key, value);
}

function changesOf(record: unknown): Change[] {
  return Array.isArray(record) ? record.filter(isChange) : [];
}

function isReset(record: unknown): boolean {
  return isObject(record) && record['reset'] === true;
}

function isChange(value: unknown): value is Change {
  return isObject(value) && 'table' in value && 'key' in value && 'value' in value;
}
