/** Each licensing URL, and the meaning of its answers. */
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { isPage } from '../http/answer.ts';
import { path } from '../http/request.ts';
import type { Path } from '../http/call.ts';
import { type Creation, creationFrom, type Edit, editedFrom, signsOfAnother } from './license-writes.ts';
import { licenseNames, textOf, type EditedFields, type License } from './license.ts';
import { isNothing, licenseOf, refuse, refuseError, refuseOther, type LicensingConnection } from './license-answer.ts';
import { listPages, matches, parametersOf, type Extent, type LicenseFilter } from './license-list.ts';
import { licenses, pageReader } from './list-page.ts';

type Opening = () => Promise<LicensingConnection>;
export type Attempt = () => Promise<void>;

export type LicensingApi = ReturnType<typeof licensingApi>;

/** @param random uniform in [0, 1): for a name that no user has */
export function licensingApi(open: Opening, random: () => number) {
  const readPage = pageReader(open);
  const pages = (filter: LicenseFilter, extent: Extent) => listPages(readPage, filter, extent);
  return {
    /** POST, sent once, `before` right before each attempt. @throws Failure where certainly nothing was created */
    create: (fields: LicenseFields, before?: Attempt) => createLicense(open, fields, before),

    /** All pages, filtered again by exact text. @throws Failure incomplete; with `part` only for a later page */
    async *list(filter: LicenseFilter = {}, extent: Extent = 'whole'): AsyncGenerator<License> {
      for await (const { rows } of pages(filter, extent))
        for (const license of rows) {
          if (!matches(license, filter)) continue;
          if (filter.remote_user !== undefined && textOf(license, 'remote_user') === undefined) throw ofOthers(filter);
          yield license;
        }
    },

    /** The pages with every row, those of other users too. @throws Failure as `list` */
    pages,

    /** A name that no user has, and whose response shows what the filter does. */
    nobody: () => `chatelaine-control-${Math.floor(random() * 2 ** 52).toString(36)}`,

    /** GET of a license. @throws Failure not_found; rejected where the answer is twice another license than `before` */
    view: (code: string, before?: License) => withoutCode(code, () => viewTwice(open, code, before)),

    /** PATCH, or PUT of all fields. @throws Failure not_found; rejected where the license differs afterwards */
    update: (asked: Edit) => withoutCode(asked.code, () => edit(open, asked)),

    /** The earliest license that activated the sensor, if any. @throws Failure not_found where an HTML page answers */
    firstActivation: (asked: AskedSensor) => firstActivation(open, asked),
  };
}

/** The call of a write, with the fields of the table alone: a row of a roster may have other columns. */
function writeCall(method: 'POST' | 'PUT' | 'PATCH', url: Path, fields: EditedFields, before?: Attempt) {
  const json: Readonly<Record<string, unknown>> = Object.fromEntries(licenseNames.map((name) => [name, fields[name]]));
  return { method, path: url, json, repeat: 'if unprocessed', outlasts: 'interruption', before } as const;
}

async function createLicense(open: Opening, fields: LicenseFields, before?: Attempt): Promise<Creation> {
  const connection = await open();
  try {
    return creationFrom(await connection.send(writeCall('POST', licenses, fields, before)), fields, connection);
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'unknown') return { state: 'unanswered', failure: cause };
    throw cause;
  }
}

async function edit(open: Opening, asked: Edit): Promise<License> {
  const { method = 'PATCH', attempt } = asked;
  const connection = await open();
  const answer = await connection.send(writeCall(method, licensePath(asked.code), asked.fields, attempt));
  return editedFrom(answer, asked, connection, () => view(open, asked.code));
}

async function view(open: Opening, code: string): Promise<License> {
  const connection = await open();
  const answer = await connection.send({ method: 'GET', path: licensePath(code), repeat: 'safe' });
  refuse(answer, 'no license has this code');
  refuseError(answer, 'license');
  return licenseOf(answer, connection);
}

/** Views a license, and once more where the answer is about another one: a cache may have mixed them up. */
async function viewTwice(open: Opening, code: string, before?: License): Promise<License> {
  let signs: string[] = [];
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const license = await view(open, code);
    signs = signsOfAnother(license, { code, fields: {}, before });
    if (signs.length === 0) return license;
  }
  throw new Failure('rejected', `the server returned another license for this key: ${signs.join(', ')}`, {
    hint: 'The response was not used. Check the server, and any cache between it and this machine.',
  });
}

interface AskedSensor {
  readonly mac_address: string;
  readonly app_code?: number | undefined;
}

async function firstActivation(open: Opening, asked: AskedSensor): Promise<License | undefined> {
  const { mac_address, app_code } = asked;
  const query = parametersOf({ mac_address, app_code });
  const connection = await open();
  const answer = await connection.send({ method: 'GET', path: path`/v1/first-activation/`, query, repeat: 'safe' });
  // Under a wrong base URL, which answers with pages, no sensor would seem to be activated.
  if (answer.status === 404 && !isPage(answer)) return undefined;
  refuse(answer, `no license has activated the sensor ${mac_address}`);
  refuseError(answer, 'first activation');
  if (isNothing(answer)) return undefined;
  const license = licenseOf(answer, connection);
  refuseOther(answer, license, asked);
  return license;
}

function ofOthers({ remote_user = '' }: LicenseFilter): Failure {
  return new Failure('incomplete', `the licenses that the server shows for '${remote_user}' may be of other users`, {
    hint: 'They have no name. Check the complete list: chatelaine license list.',
    retryable: false,
  });
}

/** A shorter text is no license code that a server would give, and may be a part of any word. */
const minCodeChars = 6;

/** Hides the code in failures: servers repeat it in their words, and errors are kept in logs and summaries. */
async function withoutCode<T>(code: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const server = cause instanceof Failure ? cause.details.server : undefined;
    if (!(cause instanceof Failure) || code.length < minCodeChars || !server?.msg?.includes(code)) throw cause;
    const hidden = (text: string): string => text.replaceAll(code, '[license_code]');
    const details = { ...cause.details, server: { ...server, msg: hidden(server.msg) } };
    throw new Failure(cause.kind, hidden(cause.message), details);
  }
}

function licensePath(code: string): Path {
  return path`/v1/license/${{ name: 'license_code', value: code }}/`;
}
