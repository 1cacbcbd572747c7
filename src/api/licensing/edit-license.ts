import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { type Answer, foreignBody } from '../http/answer.ts';
import type { Path } from '../http/call.ts';
import { saysError } from './answer-error.ts';
import { differencesFrom, textOf, type EditedFields, type License } from './license.ts';
import { errorInside, findLicense, isNothing, refuse, type LicensingLine } from './license-answer.ts';

export interface Editing {
  readonly open: () => Promise<LicensingLine>;
  readonly view: (code: string) => Promise<License>;
  readonly pathOf: (code: string) => Path;
}

/**
 * Changes a license and compares the answer with what was asked for. After a difference, or an error inside a success, the license is
 * read back once (docs/exactly-once.md, What a write answers).
 * @throws Failure not_found; rejected naming what the license still says otherwise
 */
export async function editLicense(
  method: 'PUT' | 'PATCH',
  code: string,
  fields: EditedFields,
  { open, view, pathOf }: Editing,
): Promise<License> {
  const line = await open();
  const answer = await line.send({ method, path: pathOf(code), json: fields, repeat: 'safe' });
  refuse(answer, 'no license has this code');
  if (isNothing(answer)) return { key: code, fields: { license_code: code, ...fields } };
  if (answer.body === undefined) throw foreignBody(answer, 'the licensing API');
  const refused = saysError(answer.body, 'license') ? errorInside(answer) : undefined;
  const answered = editedLicense(answer, code, line);
  const differences = refused ? [] : differencesFrom(fields, answered);
  if (!refused && differences.length === 0) return answered;
  return readBack(refused ?? unchanged(differences, answer), () => view(code), fields);
}

/** The answered license; one without a key is that of the path. */
function editedLicense({ body }: Answer, code: string, { key_field }: LicensingLine): License {
  const license = findLicense(body, key_field);
  return { key: license?.key ?? code, fields: license?.fields ?? (isObject(body) ? body : { license_code: code }) };
}

function unchanged(differences: readonly string[], { http }: Answer): Failure {
  return new Failure('rejected', `the server answered the change with ${differences.join(', ')}`, { http });
}

/** Settles a change by reading the license: what was asked for must be there now. A license that cannot be read settles nothing. */
async function readBack(refused: Failure, view: () => Promise<License>, fields: EditedFields): Promise<License> {
  try {
    const license = await view();
    if (hasAll(license, fields)) return license;
    const differences = differencesFrom(fields, license);
    if (differences.length === 0) throw refused;
    throw new Failure(
      'rejected',
      `${refused.message}; read back, the license has ${differences.join(', ')}`,
      refused.details,
    );
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    throw cause.kind === 'rejected' ? cause : refused;
  }
}

function hasAll(license: License, fields: EditedFields): boolean {
  return (['remote_user', 'app_code', 'size_allowance'] as const).every(
    (name) => fields[name] === undefined || textOf(license, name) === String(fields[name]),
  );
}
