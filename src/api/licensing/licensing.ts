import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { isPage } from '../http/answer.ts';
import { path } from '../http/request.ts';
import type { Path } from '../http/call.ts';
import { type Creation, creationFrom, editedFrom, signsOfAnother, unanswered } from './license-writes.ts';
import { licenseNames, textOf, type EditedFields, type License } from './license.ts';
import { isNothing, licenseOf, refuse, refuseError, refuseOther, type LicensingConnection } from './license-answer.ts';
import { type Heard, listRows, matches, parametersOf, type Extent, type LicenseFilter } from './license-list.ts';
import { licenses, pageReader, type ReadPage } from './list-page.ts';

type BeforeAttempt = () => Promise<void>;

export type LicensingApi = ReturnType<typeof licensingApi>;

/** Each licensing URL, and the meaning of its answers. @param random uniform in [0, 1): for a name that no user has */
export function licensingApi(open: () => Promise<LicensingConnection>, random: () => number) {
  const readPage = pageReader(open);
  const look = async (code: string): Promise<License> => {
    const connection = await open();
    const answer = await connection.send({ method: 'GET', path: licensePath(code), repeat: 'safe' });
    refuse(answer, 'no license has this code');
    refuseError(answer, 'license');
    return licenseOf(answer, connection);
  };
  /** @throws Failure not_found; rejected where it is answered with another license than that `before`, twice */
  const view = (code: string, before?: License): Promise<License> =>
    withoutCode(code, async () => {
      let signs: string[] = [];
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const license = await look(code);
        signs = signsOfAnother(license, { code, fields: {}, before });
        if (signs.length === 0) return license;
      }
      throw new Failure('rejected', `the server answers for this license with another license: ${signs.join(', ')}`, {
        hint: 'Nothing of it is used. Check the server, and any cache between it and this machine.',
      });
    });
  const edit = (method: 'PUT' | 'PATCH', code: string, fields: EditedFields, was?: License, before?: BeforeAttempt) =>
    withoutCode(code, async () => {
      const [connection, url] = [await open(), licensePath(code)];
      const answer = await connection.send({
        method,
        path: url,
        json: bodyOf(fields),
        repeat: 'if unprocessed',
        outlasts: 'interruption',
        before,
      });
      return editedFrom(answer, { code, fields, before: was }, connection, () => look(code));
    });
  return {
    /** POST, sent once, `before` right before each attempt. @throws Failure where certainly nothing was created */
    async create(fields: LicenseFields, before?: () => Promise<void>): Promise<Creation> {
      const connection = await open();
      try {
        const answer = await connection.send({
          method: 'POST',
          path: licenses,
          json: bodyOf(fields),
          repeat: 'if unprocessed',
          outlasts: 'interruption',
          before,
        });
        return creationFrom(answer, fields, connection);
      } catch (cause) {
        if (cause instanceof Failure && cause.kind === 'unknown') return unanswered(cause);
        throw cause;
      }
    },

    /** All pages, filtered again by exact text. @throws Failure incomplete; with `part` only for a later page */
    async *list(filter: LicenseFilter = {}, extent: Extent = 'whole', heard?: Heard): AsyncGenerator<License> {
      let isProved = filter.remote_user === undefined;
      for await (const license of listRows(readPage, filter, extent, heard)) {
        if (!matches(license, filter)) continue;
        if (!isProved && textOf(license, 'remote_user') === undefined) {
          await refuseOtherUsers(readPage, filter, randomName(random));
          isProved = true;
        }
        yield license;
      }
    },

    /** Every row of the response, those of other users too. @throws Failure as `list` */
    rows: (filter: LicenseFilter, extent: Extent, heard?: Heard) => listRows(readPage, filter, extent, heard),

    nobody: () => randomName(random),

    view,

    /** PUT: the whole license. @throws Failure not_found; rejected where the license differs afterwards */
    replace: (code: string, license: LicenseFields, was?: License, before?: BeforeAttempt) =>
      edit('PUT', code, license, was, before),

    /** PATCH: only the fields given. @throws Failure not_found; rejected where the license differs afterwards */
    update: (code: string, fields: EditedFields, was?: License, before?: BeforeAttempt) =>
      edit('PATCH', code, fields, was, before),

    /** The earliest license that activated the sensor, if there is one. @throws Failure not_found: a page answers */
    async firstActivation(asked: { readonly mac_address: string; readonly app_code?: number | undefined }) {
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
    },
  };
}

/**
 * A row without a name is of the user who was asked for if a name that nobody has, and the asked one without its last
 * letter, bring no rows. @throws Failure incomplete where they do
 */
async function refuseOtherUsers(readPage: ReadPage, { remote_user = '', app_code }: LicenseFilter, nobody: string) {
  for (const name of [nobody, Array.from(remote_user).slice(0, -1).join('')])
    for await (const _row of name === '' ? [] : listRows(readPage, { remote_user: name, app_code }, 'part'))
      throw new Failure('incomplete', `the licenses that the server shows for '${remote_user}' may be of other users`, {
        hint: 'They have no name, and the server does not find users exactly. Look at the whole list: chatelaine license list.',
        retryable: false,
      });
}

/** A name that no user has, and whose response shows what the filter does. */
function randomName(random: () => number): string {
  const part = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(36)
      .padStart(7, '0');
  return `chatelaine-control-${part()}${part()}`;
}

/** The fields of the table alone: a row of a roster may have other columns. */
function bodyOf(fields: EditedFields): Readonly<Record<string, unknown>> {
  return Object.fromEntries(licenseNames.map((name) => [name, fields[name]]));
}

/** A shorter text is no license code that a server would give, and may be a part of any word. */
const minCodeChars = 6;

/** Servers repeat the code in their own words, and errors are in logs and summaries. */
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
