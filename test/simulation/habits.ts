import { json, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { SandboxRequest } from '../../src/sandbox/request.ts';

/** What a licensing server always does, and an ordinary one does not. */
export interface Habits {
  /** A filter by user shows each name that contains that text. */
  readonly finds?: 'parts';
  /** Lists show keys with signs in the place of all but their ends, or the ends alone. */
  readonly keys?: 'masked' | 'ends';
  /** Lists, filtered or not, are made of so many licenses, those that were created last. */
  readonly newest?: number;
  /** Between these milliseconds after the beginning lists show nothing. */
  readonly gaps?: readonly (readonly [from: number, to: number])[];
}

type Row = Readonly<Record<string, unknown>>;

/**
 * An array of licenses as a server of these habits answers it.
 * @param elapsed milliseconds since the beginning
 */
export function answerWith(
  { finds, keys, newest, gaps = [] }: Habits,
  request: SandboxRequest,
  elapsed: number,
  answer: (request: SandboxRequest) => SandboxAnswer,
): SandboxAnswer {
  if (request.method !== 'GET' || !request.path.endsWith('/license/')) return answer(request);
  const query = new URLSearchParams(request.query);
  const user = query.get('remote_user') ?? '';
  const isFiltered = query.has('remote_user');
  const isCompared = finds === 'parts' || newest !== undefined;
  if (isCompared) query.delete('remote_user');
  const listed = answer({ ...request, query });
  const body: unknown = listed.status === 200 ? JSON.parse(listed.body) : undefined;
  if (!Array.isArray(body)) return listed;
  const isFound = ({ remote_user }: Row): boolean => {
    const [name, sought] = [String(remote_user).toLowerCase(), user.toLowerCase()];
    return !isFiltered || !isCompared || (finds === 'parts' ? name.includes(sought) : name === sought);
  };
  const isGap = gaps.some(([from, to]) => from <= elapsed && elapsed < to);
  const rows = isGap ? [] : (body as Row[]).toSorted(byAge).slice(newest === undefined ? 0 : -newest);
  const shown = rows.filter(isFound).map((row) => (keys ? hidden(row, keys) : row));
  // A cache in front of it says how old the answer is.
  return { ...json(listed.status, shown), headers: listed.headers };
}

function byAge(one: Row, other: Row): number {
  return String(one['created']).localeCompare(String(other['created']));
}

/** The row with a part of its key. */
function hidden(row: Row, keys: NonNullable<Habits['keys']>): Row {
  const end = String(row['license_code']).slice(-4);
  return { ...row, license_code: keys === 'masked' ? `****${end}` : end };
}
