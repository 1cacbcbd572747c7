import { Failure, unless } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { isPage } from '../http/answer.ts';
import { path } from '../http/request.ts';
import type { Deciding, Path } from '../http/call.ts';
import { type Creation, creationFrom, editedFrom, signsOfAnother, unanswered } from './license-writes.ts';
import {
  differencesFrom,
  licenseNames,
  type EditedFields,
  type License,
  type LicenseHolder,
  type UserLicenses,
} from './license.ts';
import {
  findLicense,
  isNothing,
  licenseOf,
  refuse,
  refuseError,
  refuseOther,
  type LicensingConnection,
} from './license-answer.ts';
import { type Heard, listRows, matches, parametersOf, type Extent, type LicenseFilter } from './license-list.ts';
import { licenses, pageReader, type ReadPage } from './list-page.ts';
import {
  licensesOfUser,
  misreadInWords,
  misreadSigns,
  randomName,
  type KnownFilter,
  type Rows,
} from './user-licenses.ts';

type BeforeAttempt = () => Promise<void>;

export type LicensingApi = ReturnType<typeof licensingApi>;

/** Each licensing URL, and the meaning of its answers. @param random uniform in [0, 1): for a name that no user has */
export function licensingApi(open: () => Promise<LicensingConnection>, random: () => number) {
  const filter: KnownFilter = { reads: new Set() };
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
      const answer = await connection.send({ method, path: url, json: bodyOf(fields), repeat: 'safe', before });
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
          keyMade(answer) {
            const license = unless(Failure, () => findLicense(answer, connection));
            return license && differencesFrom(fields, license).length === 0 ? license.key : undefined;
          },
        });
        return creationFrom(answer, fields, connection);
      } catch (cause) {
        if (cause instanceof Failure && cause.kind === 'unknown') return unanswered(cause);
        throw cause;
      }
    },

    ...looksOver(open, readPage, random, filter),

    ...rowsOver(readPage, random),

    /** The same looks, of which each request decides about a POST. */
    deciding: (deciding: Deciding) =>
      looksOver(
        open,
        pageReader(async () => {
          const connection = await open();
          return { ...connection, send: (call) => connection.send({ ...call, deciding }) };
        }),
        random,
        filter,
      ),

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

function rowsOver(readPage: ReadPage, random: () => number) {
  return {
    /** Every row of the response, those of other users too. @throws Failure as `list` */
    rows: (filter: LicenseFilter, extent: Extent, heard?: Heard) => listRows(readPage, filter, extent, heard),
    /** A name that no user has. */
    nobody: () => randomName(random),
  };
}

function looksOver(
  open: () => Promise<LicensingConnection>,
  readPage: ReadPage,
  random: () => number,
  known: KnownFilter,
) {
  /** The licenses of one user, whole. @throws Failure incomplete where the list is not, or the filter may misread */
  const ofUser = async (holder: LicenseHolder, misread: 'refuse' | 'tell' = 'refuse'): Promise<UserLicenses> => {
    const rows: Rows = (only, heard) => listRows(readPage, only, 'whole', heard);
    const nameWith = async (app_code: number, sign: string) => (await open()).nameWith?.(app_code, sign);
    const found = await licensesOfUser(holder, { rows, random, filter: known, nameWith });
    if (found.misread === undefined || misread === 'tell') return found;
    throw new Failure('incomplete', misreadInWords(holder.remote_user, found.misread), {
      hint: 'Look for it in the whole list. If there is none, --trust-list goes on where a name is given.',
      retryable: false,
    });
  };
  return {
    /** All pages, filtered again by exact text. @throws Failure incomplete; with `part` only for a later page */
    async *list(filter: LicenseFilter = {}, extent: Extent = 'whole', heard?: Heard): AsyncGenerator<License> {
      let isEmpty = true;
      for await (const license of listRows(readPage, filter, extent, heard)) {
        if (!matches(license, filter)) continue;
        isEmpty = false;
        yield license;
      }
      const { remote_user } = filter;
      if (!isEmpty || extent === 'part' || remote_user === undefined || misreadSigns(remote_user).size === 0) return;
      yield* (await ofUser({ ...filter, remote_user })).exact;
    },
    ofUser,
  };
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
