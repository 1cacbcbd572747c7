import type { Sandbox } from '../helpers/sandbox.ts';
import { repeatable, chatOnce, helpful, optionalFirst, pages, topicPost, viewRename } from './expected.ts';
import { testFaults, type Row } from './matrix.ts';

type State = Sandbox['state'];

const mara = (state: State) => state.users().find(({ user_id }) => user_id === 8);
const view = (state: State, fragment: string) =>
  state.views().find((row) => row.user_id === 8 && row.fragment === fragment);

const color = {
  line: 'settings set color_scheme=dark',
  isDone: (state: State) => mara(state)?.settings['color_scheme'] === 2,
};
const topic = {
  line: 'topic delete general lunch --confirm lunch --no-archive',
  isDone: (state: State) => state.topic('general', 'lunch').length === 0,
};
const rename = {
  line: 'view rename narrow/is/alerted Zed',
  isDone: (state: State) => view(state, 'narrow/is/alerted')?.name === 'Zed',
  allOrNothing: true,
};

const cases: readonly Row[] = [
  { line: 'messages fetch', target: 'GET *', expected: pages },
  { line: 'messages fetch --channel firmware --all', target: 'GET *', expected: pages },
  { line: 'messages fetch --ids 1001,1002', target: 'GET *', expected: repeatable },
  { ...color, target: 'GET *', expected: helpful },
  { ...color, target: 'PATCH *', expected: repeatable },
  {
    line: 'settings set email=new@harbour.example',
    target: 'PATCH *',
    isDone: (state) => mara(state)?.pending_email === 'new@harbour.example',
    allOrNothing: true,
    expected: chatOnce,
  },
  {
    line: 'settings set --from -',
    stdin: 'old_password=sandbox-password-of-mara\nnew_password=correct-horse-battery-42\n',
    target: 'PATCH *',
    isDone: (state) => mara(state)?.password === 'correct-horse-battery-42',
    allOrNothing: true,
    expected: chatOnce,
  },
  { ...topic, target: 'POST *', expected: topicPost },
  { ...topic, target: '*', expected: optionalFirst },
  {
    line: 'view pin narrow/is/starred',
    target: 'PATCH *',
    isDone: (state) => view(state, 'narrow/is/starred')?.is_pinned === true,
    expected: repeatable,
  },
  {
    line: 'view hide inbox',
    target: '*',
    isDone: (state) => view(state, 'inbox')?.is_pinned === false,
    expected: repeatable,
  },
  { ...rename, target: 'PATCH *', expected: viewRename },
  {
    line: 'snippet rm 1',
    target: 'DELETE *',
    isDone: (state) => state.snippets().every(({ id }) => id !== 1),
    expected: repeatable,
  },
  { line: 'auth status', target: 'GET /api/*', expected: repeatable },
];

testFaults(cases);
