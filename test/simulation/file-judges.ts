import { createHash } from 'node:crypto';
import type { FileAnswer } from './attached-files.ts';
import { archiveFolder, type ChatEnded } from './chat-history.ts';
import type { Process } from './computer.ts';

interface FileLine {
  readonly path: string;
  readonly refused?: string;
  readonly file?: string;
  readonly bytes?: number;
  readonly sha256?: string;
}

/**
 * What no rule allows of attached files (docs/archive-format.md, Attached files).
 * @param texts of all versions of messages that the archive has
 */
export function judgeFiles(ended: ChatEnded, texts: readonly string[]): string[] {
  const { server, computer, runs, healed, plan } = ended;
  if (!server.files) return [];
  const files = computer.disk.files();
  const lines = (files.get(`${archiveFolder}/files.ndjson`)?.toString() ?? '')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as FileLine);
  const last = new Map(lines.map((line) => [line.path, line]));
  const named = new Set(
    texts.flatMap((text) => [...text.matchAll(/user_uploads\/([^)"<]+)/g)].map(([, path = '']) => path)),
  );
  const all = [...runs, ...healed.flatMap(([, tries]) => tries)].filter(({ line }) => line.startsWith('archive pull'));
  return [
    ...lines.flatMap((line) => untruth(line, named, ended)),
    ...[...last.values()].flatMap((line) => notAsSaid(line, files)),
    ...lacking(all, named, last, ended),
    ...all.flatMap((run) => wrongEnd(run, ended)),
    ...(isCalm(plan) ? [...askedAgain(server.files.answers), ...namedAgain(all)] : []),
  ];
}

/** A line tells of a file as the server gave it, or of one that it did not give. */
function untruth({ path, refused, bytes, sha256 }: FileLine, named: ReadonlySet<string>, ended: ChatEnded): string[] {
  const own = ended.server.files?.answers.filter((one) => one.path === path) ?? [];
  const isGiven = own.some(
    ({ content }) => content !== undefined && hashOf(content) === sha256 && content.length === bytes,
  );
  const isRefused = own.some((one) => isLack(one, ended) || isNoLack(one));
  return [
    ...(named.has(path) ? [] : [`files.ndjson has ${path}, which no message names`]),
    ...((refused === undefined ? isGiven : isRefused)
      ? []
      : [`files.ndjson says of ${path} what never was: ${refused ?? bytes}`]),
  ];
}

function notAsSaid({ path, file, sha256 }: FileLine, files: ReadonlyMap<string, Buffer>): string[] {
  const kept = files.get(`${archiveFolder}/${file}`);
  return file === undefined || (kept && hashOf(kept) === sha256) ? [] : [`${file} of ${path} is not as its line says`];
}

/** After a run that ended well, and beside which none ran later, each file is there that it could get. */
function lacking(
  all: readonly Process[],
  named: ReadonlySet<string>,
  last: ReadonlyMap<string, FileLine>,
  ended: ChatEnded,
): string[] {
  const run = all.at(-1);
  if (run?.exit !== 0 || all.some((other) => other !== run && (other.ended ?? Infinity) > run.started)) return [];
  const [line] = run.stdout.split('\n');
  const isKeeping = all.some((one) => one.line.includes('--files') && one.exit === 0);
  if (!isKeeping || !line) return [];
  const kept = [...named].filter((path) => last.get(path)?.file !== undefined);
  const row = JSON.parse(line) as { readonly files: number; readonly files_kept: number };
  const lost = [...named].filter((path) => {
    const end = endIn(run, path, ended);
    return last.get(path)?.file === undefined && !(end && isNoLack(end));
  });
  return [
    ...lost.map((path) => `a run said 0, and ${path} is not archived`),
    ...(row.files === named.size && row.files_kept === kept.length
      ? []
      : [`of ${named.size} files ${kept.length} are kept, and a run says ${line}`]),
  ];
}

function endIn(run: Process, path: string, { server }: ChatEnded): FileAnswer | undefined {
  return server.files?.answers.findLast((one) => one.client === run && one.path === path);
}

/** A file that the server no longer has, or that the account may not read. */
function isNoLack({ is }: FileAnswer): boolean {
  return is === 'missing' || is === 'unreadable';
}

/** A file that there is, and that is not kept: refused, or larger than is allowed. */
function isLack({ is, content = '' }: FileAnswer, { plan }: ChatEnded): boolean {
  return is === 'refused' || is === 'other' || content.length > (plan.sizes?.file ?? 100_000_000);
}

/** Whether a run has to end with 8, since there are files that it cannot keep. */
export function lacksFiles(run: Process, ended: ChatEnded): boolean {
  const paths = new Set(ended.server.files?.answers.map(({ path }) => path));
  return [...paths].some((path) => {
    const end = endIn(run, path, ended);
    return end !== undefined && isLack(end, ended);
  });
}

function wrongEnd(run: Process, ended: ChatEnded): string[] {
  const isSaid = run.stderr.includes('attached files that are not kept');
  const lacks = lacksFiles(run, ended);
  if (run.exit !== 0 && !isSaid) return [];
  const own = ended.server.files?.answers.filter(({ client }) => client === run) ?? [];
  const isContent = ({ call, is }: FileAnswer): boolean => call === 'content' && (is === 'refused' || is === 'missing');
  // What has an address can be had, unless it does not work twice.
  const given = [...new Set(own.map(({ path }) => path))].filter((path) => {
    const [last, ...earlier] = own.filter((one) => one.path === path).toReversed();
    // An address that got no answer in between is none that did not work.
    return last && isContent(last) && !earlier.some(isContent);
  });
  return [
    ...given.map((path) => `a run took no for an answer at the first address of ${path}`),
    ...(run.exit === 0 && lacks ? ['a run said 0, and there are files that it could not keep'] : []),
    ...(isSaid && !lacks ? [`a run says that it could not keep files that it got: ${run.stderr}`] : []),
  ];
}

function isCalm({ runs, files, sizes }: ChatEnded['plan']): boolean {
  const isUndisturbed = runs.every(
    ({ fate, options }) => Object.keys(fate ?? {}).length === 0 && options === undefined,
  );
  return isUndisturbed && (files?.mishaps ?? []).length === 0 && sizes?.file === undefined;
}

/** What is kept is not fetched again. */
function askedAgain(answers: readonly FileAnswer[]): string[] {
  const given = answers.filter(({ is }) => is === 'whole').map(({ path }) => path);
  return [...new Set(given.filter((path, at) => given.indexOf(path) < at))].map((path) => `${path} was fetched again`);
}

/** What the server no longer has is named once, unless it comes back. */
function namedAgain(all: readonly Process[]): string[] {
  const named = all.flatMap(({ stderr }) => {
    const [, names = ''] =
      /attached files that (?:the server no longer has|this account may not read): \d+ \(([^)]*)\)/.exec(stderr) ?? [];
    return names.split(', ').filter((name) => name !== '');
  });
  return [...new Set(named.filter((path, at) => named.indexOf(path) < at))].map(
    (path) => `${path} is missing, and named again`,
  );
}

export function hashOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
