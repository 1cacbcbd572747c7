import type { Process } from './computer.ts';
import type { Ended } from './licensing-history.ts';
import type { SentChange, ServedFields } from './licensing-server.ts';
import { historyLines } from './word-judges.ts';

/** What runs printed of licenses that they changed, and what the histories tell, is what the server has of it. */
export function judgeChanges(ended: Ended): string[] {
  return [...ended.runs, ...ended.healed.flatMap(([, tries]) => tries)]
    .flatMap((run) => notAsPrinted(run, ended))
    .concat(notAsTold(ended));
}

interface PrintedChange extends ServedFields {
  readonly license_code: string;
  readonly status: string;
}

const changing = new Set(['changed', 'retired', 'undone', 'resized']);

/** Rows of licenses that the run says it changed. A row of `apply` has its license in a member. */
function printedBy({ stdout, stderr, line }: Process): PrintedChange[] {
  const isResized = line.startsWith('license ensure') && /^resized /m.test(stderr);
  return stdout
    .split('\n')
    .slice(0, -1)
    .flatMap((text) => {
      const row = JSON.parse(text) as Partial<PrintedChange> & { readonly license?: Partial<PrintedChange> | null };
      const change = { status: isResized ? 'resized' : '', ...row, ...row.license };
      return changing.has(change.status) && change.license_code !== undefined ? [change as PrintedChange] : [];
    });
}

/** What a run printed of a license is there when it ends, unless another run has changed it since. */
function notAsPrinted(run: Process, { plan, server }: Ended): string[] {
  const { ended = Infinity, line } = run;
  // An answer about another license names the one whose key it has; that to a change is not believed.
  const isOther = plan.mishaps?.some(({ method, reply }) => method !== 'PATCH' && reply.startsWith('other-'));
  if (line.includes('--dry-run') || isOther) return [];
  return printedBy(run).flatMap((printed) => {
    const { license_code, status, remote_user, size_allowance } = printed;
    const done = carriedOut(server.changes, license_code);
    const since = done.findLastIndex(({ after }) => isSame(after, printed));
    const others = done.slice(since + 1).filter(({ client, at }) => client === run && at <= ended);
    if (since >= 0 && others.length === 0) return [];
    return [
      `"${line}" says ${status} of ${license_code}: ${remote_user} ${size_allowance}, which the server never had`,
    ];
  });
}

/** Of each change that a history tells the server has a request with that user and size, and it had those before. */
function notAsTold({ computers, server: { changes } }: Ended): string[] {
  return computers.flatMap(({ name, disk, share }) =>
    historyLines([...disk.files(), ...(share?.files() ?? [])]).flatMap((text) => {
      const told = JSON.parse(text) as ToldChange;
      if (told.event !== 'changed' || told.license_code_end === undefined) return [];
      const end = told.license_code_end;
      const isRight = changes.some((sent) => sent.code.endsWith(end) && isAsked(sent, told) && wasBefore(sent, told));
      return isRight ? [] : [`the history of ${name} tells ${text}, and the server has no such request`];
    }),
  );

  /** Whether the license had then what the history tells of before; without a name it had the asked one. */
  function wasBefore({ code, asked, done }: SentChange, told: ToldChange): boolean {
    const { remote_user_before = asked.remote_user, size_allowance_before } = told;
    // A request that changes nothing, and is lost, is shown by what another one changed.
    const states = carriedOut(changes, code).flatMap(({ before, after }) => (done ? [before] : [before, after]));
    return states.some(
      (before) =>
        (remote_user_before ?? before.remote_user) === before.remote_user &&
        (size_allowance_before ?? before.size_allowance) === before.size_allowance,
    );
  }
}

interface ToldChange extends Partial<ServedFields> {
  readonly event: string;
  readonly license_code_end?: string;
  readonly remote_user_before?: string;
  readonly size_allowance_before?: number;
}

/** Whether the history tells what the request asked for. */
function isAsked({ asked }: SentChange, { remote_user, size_allowance }: ToldChange): boolean {
  return (
    (asked.remote_user ?? remote_user) === remote_user && (asked.size_allowance ?? size_allowance) === size_allowance
  );
}

interface Done {
  readonly client: Process;
  readonly at: number;
  readonly before: ServedFields;
  readonly after: ServedFields;
}

/** The changes of a license in the order in which the server carried them out. */
function carriedOut(changes: readonly SentChange[], license_code: string): Done[] {
  return changes
    .flatMap(({ code, client, done }) => (code === license_code && done ? [{ client, ...done }] : []))
    .sort((one, other) => one.at - other.at);
}

function isSame(one: ServedFields, other: ServedFields): boolean {
  return one.remote_user === other.remote_user && one.size_allowance === other.size_allowance;
}
