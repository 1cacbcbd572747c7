import { html, json, proxyPage, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { SandboxRequest } from '../../src/sandbox/request.ts';
import type { Process, World } from './computer.ts';
import type { Reply } from './network.ts';

/** A request for the temporary address of a file, or for the file. */
type FileCall = 'address' | 'content';

/** `foreign`: an address of another server; `page`: a 200 with a page to sign in; `blank`: one without a body. */
export const fileReplies = [
  ...(['dropped', 'nothing', 'cut', '500', '502', '504', '429', '403', '404', 'foreign', 'page', 'blank'] as const),
] as const;

/** What befalls one request: the `nth` (from 1) of its kind. */
interface FileMishap {
  readonly call: FileCall;
  readonly nth: number;
  readonly reply: (typeof fileReplies)[number];
}

/** What happens to a file before the `nth` request of that kind is answered. */
interface FileDeed {
  readonly does: 'vanish' | 'return' | 'change';
  readonly file: number;
  readonly on: Pick<FileMishap, 'call' | 'nth'>;
}

export interface FilesPlan {
  /** The messages name so many files in turn; each edit, and each later message, names another one. */
  readonly count: number;
  readonly mishaps?: readonly FileMishap[];
  readonly deeds?: readonly FileDeed[];
}

/** How a client's request about a file ended. */
export interface FileAnswer {
  readonly client: Process;
  readonly path: string;
  readonly call: FileCall;
  readonly is: 'whole' | 'missing' | 'unreadable' | 'refused' | 'other' | 'open';
  /** What was sent whole. */
  readonly content?: string;
}

export type FileServer = ReturnType<typeof fileServer>;

const pathOf = (file: number): string => `2/ab/x${file}/notes-${file}.txt`;

/** The attached files of the chat server, which can vanish, come back, and change. */
export function fileServer(world: World, { count, mishaps = [], deeds = [] }: FilesPlan) {
  let [left, due] = [mishaps, deeds];
  let others = count;
  const calls = { address: 0, content: 0 };
  const [gone, versions] = [new Set<string>(), new Map<string, number>()];
  const answers: FileAnswer[] = [];
  const happen = ({ does, file }: FileDeed): void => {
    const path = pathOf(file % count);
    if (does === 'vanish') gone.add(path);
    else gone.delete(path);
    if (does === 'change') versions.set(path, (versions.get(path) ?? 1) + 1);
    world.tell('people', () => `${does}: the file ${path}`);
  };
  const contentOf = (path: string): string => {
    const line = `version ${versions.get(path) ?? 1} of ${path}\n`;
    return line.repeat(1 + (Number(/\d+/.exec(path.slice(5))?.[0] ?? 0) % 9));
  };
  /** @param made what the server answers where nothing befalls it */
  const answerOf = (call: FileCall, path: string, made: SandboxAnswer, mishap: FileMishap | undefined): Reply => {
    const { reply = 'made' } = mishap ?? {};
    if (reply === 'dropped' || reply === 'nothing') return { kind: reply };
    if (reply === '429') return { kind: 'answer', answer: json(429, { result: 'error' }, { 'retry-after': '1.5' }) };
    if (reply === '500' || reply === '502' || reply === '504')
      return { kind: 'answer', answer: proxyPage(Number(reply)) };
    if (reply === '403' || reply === '404')
      return { kind: 'answer', answer: html(Number(reply), '<p>There is no such file for you</p>') };
    const isThere = made.status === 200 && !gone.has(path);
    if (reply === 'foreign' && call === 'address' && isThere)
      return { kind: 'answer', answer: json(200, { result: 'success', url: 'https://elsewhere.test/notes.txt' }) };
    if (!isThere) return { kind: 'answer', answer: made.status === 200 ? html(404, '<p>File not found</p>') : made };
    if (call === 'content' && reply === 'page') return { kind: 'answer', answer: html(200, '<title>Sign in</title>') };
    if (call === 'content' && reply === 'blank') return { kind: 'answer', answer: { ...made, body: '' } };
    const answer = call === 'content' ? { ...made, body: contentOf(path) } : made;
    return { kind: reply === 'cut' ? 'cut' : 'answer', answer };
  };
  return {
    answers,
    /** What the text of a message says where it names that file. */
    named: (file: number): string => `see [notes](/user_uploads/${pathOf(file)})`,
    /** The next file that no message names. */
    next: (): number => (others += 1) - 1,
    /** Every later request is answered as it should be. */
    heal(): void {
      [left, due] = [[], []];
    },
    /** Answers a request about a file; undefined for any other. */
    take(request: SandboxRequest, client: Process, answer: () => SandboxAnswer): Reply | undefined {
      const [, token, address] =
        /^\/user_uploads\/temporary\/([^/:]+):|^\/api\/v1\/user_uploads\/(\d+\/.+)$/.exec(request.path) ?? [];
      if (token === undefined && address === undefined) return undefined;
      const call = token === undefined ? 'address' : 'content';
      const path = address ?? Buffer.from(token ?? '', 'base64url').toString();
      const nth = (calls[call] += 1);
      for (const deed of due) if (deed.on.call === call && deed.on.nth === nth) happen(deed);
      const mishap = left.find((one) => one.call === call && one.nth === nth);
      const reply = answerOf(call, path, answer(), mishap);
      const is = endOf(reply, call, mishap?.reply);
      if (call === 'content' || is !== 'whole')
        answers.push({
          ...{ client, path, call, is },
          ...('answer' in reply && is === 'whole' ? { content: reply.answer.body } : {}),
        });
      return reply;
    },
  };
}

function endOf(reply: Reply, call: FileCall, mishap: FileMishap['reply'] | undefined): FileAnswer['is'] {
  if (reply.kind !== 'answer') return 'open';
  const { status } = reply.answer;
  const isOther = call === 'address' ? mishap === 'foreign' : mishap === 'page' || mishap === 'blank';
  if (status === 200 && isOther) return call === 'address' ? 'refused' : 'other';
  if (status === 200) return 'whole';
  if (status === 404) return 'missing';
  // A 500 is about this file; a server that is down answers 502 to 504.
  if (status === 500) return 'other';
  if (status !== 403) return 'open';
  return call === 'address' ? 'unreadable' : 'refused';
}
