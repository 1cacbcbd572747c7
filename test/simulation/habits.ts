import { json, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { SandboxRequest } from '../../src/sandbox/request.ts';

/** What a licensing server always does, and an ordinary one does not. */
export interface Habits {
  /** A filter by user shows each name that contains that text. */
  readonly finds?: 'parts';
  /** Lists show keys with signs in the place of all but their ends, or the ends alone. */
  readonly keys?: 'masked' | 'ends';
}

type Row = Readonly<Record<string, unknown>>;

/** An array of licenses as a server of these habits answers it. */
export function answerWith(
  { finds, keys }: Habits,
  request: SandboxRequest,
  answer: (request: SandboxRequest) => SandboxAnswer,
): SandboxAnswer {
  if (request.method !== 'GET' || !request.path.endsWith('/license/')) return answer(request);
  const query = new URLSearchParams(request.query);
  const user = query.get('remote_user') ?? '';
  if (finds === 'parts') query.delete('remote_user');
  const listed = answer({ ...request, query });
  const body: unknown = listed.status === 200 ? JSON.parse(listed.body) : undefined;
  if (!Array.isArray(body)) return listed;
  const isFound = ({ remote_user }: Row): boolean =>
    finds !== 'parts' || String(remote_user).toLowerCase().includes(user.toLowerCase());
  return json(
    listed.status,
    (body as Row[]).filter(isFound).map((row) => (keys ? hidden(row, keys) : row)),
  );
}

/** The row with a part of its key. */
function hidden(row: Row, keys: NonNullable<Habits['keys']>): Row {
  const end = String(row['license_code']).slice(-4);
  return { ...row, license_code: keys === 'masked' ? `****${end}` : end };
}
