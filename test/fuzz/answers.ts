import fc from 'fast-check';
import { judge } from './judge.ts';
import { openMutatingServer } from './mutating-server.ts';
import { mutations, type Mutation } from './mutation.ts';

/** A command line whose answers are changed. */
export interface AnswerCase {
  readonly line: readonly string[];
  readonly changes: readonly Mutation[];
  /** The first answer that is changed. */
  readonly from: number;
}

const code = '0191A-86552-95939-DF69B';

/** Every command that asks a server, each call of both APIs at least once. */
const lines: readonly (readonly string[])[] = [
  ['license', 'list'],
  ['license', 'list', '--remote-user', 'physio-7731'],
  ['license', 'view', code],
  ['license', 'view', '--remote-user', 'physio-7731'],
  ['license', 'create', '--remote-user', 'ada', '--size-allowance', '4'],
  ['license', 'edit', code, '--size-allowance', '9'],
  ['license', 'ensure', '--remote-user', 'ada', '--size-allowance', '4'],
  ['license', 'ensure', '--remote-user', 'physio-7731', '--size-allowance', '9'],
  ['license', 'apply', '-', '--input-format', 'csv'],
  ['license', 'audit'],
  ['first-activation', 'D422CD000302'],
  ['first-activation', 'audit', '-', '--input-format', 'csv'],
  ['messages', 'fetch'],
  ['messages', 'fetch', '--all', '--channel', 'general'],
  ['messages', 'fetch', '--ids', '1001,1002'],
  ['topic', 'delete', 'general', 'lunch', '--confirm', 'lunch'],
  ['settings', 'set', 'color_scheme=dark'],
  ['settings', 'set', 'full_name=Mara'],
  ['view', 'pin', 'inbox'],
  ['view', 'rename', 'narrow/is/alerted', 'Alerts'],
  ['snippet', 'rm', '1'],
  ['auth', 'status'],
  ['doctor'],
];

const formats = [
  [],
  ['-o', 'json'],
  ['-o', 'ndjson'],
  ['-o', 'table'],
  ['-o', 'csv'],
  ['-o', 'yaml'],
  ['--trace'],
  ['-q'],
];

const limits = ['--timeout', '250ms', '--deadline', '4s', '--retries', '1'];

export const answerCases: fc.Arbitrary<AnswerCase> = fc.record({
  line: fc
    .tuple(fc.constantFrom(...lines), fc.constantFrom(...formats))
    .map(([command, format]) => [...command, ...format, ...limits]),
  changes: mutations,
  from: fc.constantFrom(0, 0, 0, 1, 2),
});

const csv = 'remote_user,size_allowance\nzed,4\nphysio-7731,9\n';
const sensors = 'mac_address,remote_user\nD422CD000301,clinic-north/ward-3\n';

/** What is wrong with how the command takes its answers. */
export async function tryAnswers({ line, changes, from }: AnswerCase): Promise<string[]> {
  const server = await openMutatingServer(changes, from);
  try {
    const { CHATELAINE_API_KEY = '', CHATELAINE_CHAT_API_KEY = '', CHATELAINE_CHAT_EMAIL = '' } = server.env;
    const basic = Buffer.from(`${CHATELAINE_CHAT_EMAIL}:${CHATELAINE_CHAT_API_KEY}`).toString('base64');
    const stdin = line[0] === 'license' ? csv : line[0] === 'first-activation' ? sensors : '';
    const isEchoed = changes.some(({ kind }) => kind === 'echo');
    const secrets = [CHATELAINE_API_KEY, CHATELAINE_CHAT_API_KEY, basic];
    return await judge({ line, stdin, env: server.env, secrets, isEchoed });
  } finally {
    await server.close();
  }
}
