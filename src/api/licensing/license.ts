import type { LicenseFields } from '../../schema/license.ts';
import { writeJson, type JsonObject } from '../../core/json.ts';

/** A license: the object as the server sent it, and the key that was found in it. */
export interface License {
  /** Undefined where no field can be recognised as the key. */
  readonly key: string | undefined;
  /** As the server sent them; a server that answers with a bare key has sent `license_code` alone. */
  readonly fields: JsonObject;
}

/** Whose licenses are asked for; without a code, of every application that the key of the call serves. */
export interface LicenseHolder {
  readonly remote_user: string;
  readonly app_code?: number | undefined;
}

/** The licenses that a server lists for a user. */
export interface UserLicenses {
  readonly exact: readonly License[];
  /** Licenses of a name that the server may have made of the user's; empty where one matches exactly. */
  readonly near: readonly License[];
  /** Whether the list was filtered by the server; only a control query shows that it was not. */
  readonly filter: 'honoured' | 'ignored';
}

/** One text for one license: one key of one user of one application is one license, however often it is shown. */
export function identityOf(license: License): string {
  const { key, fields } = license;
  if (key === undefined) return writeJson(fields);
  return `${key}\n${textOf(license, 'remote_user') ?? ''}\n${textOf(license, 'app_code') ?? ''}`;
}

/** Each license once; rows without a key cannot be told apart. */
export function distinct(licenses: readonly License[]): readonly License[] {
  if (licenses.length < 2) return licenses;
  const shown = new Set<string>();
  return licenses.filter((license) => {
    const identity = identityOf(license);
    const isNew = license.key === undefined || !shown.has(identity);
    shown.add(identity);
    return isNew;
  });
}

/** Values for a license; one that is left out says nothing. */
export type EditedFields = { readonly [K in keyof LicenseFields]?: LicenseFields[K] | undefined };

/** The value of a field as text; undefined where the license does not have it, or it is neither text nor number. */
export function textOf({ fields }: License, name: keyof LicenseFields): string | undefined {
  const value = fields[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : undefined;
}

/**
 * How the license differs from what was asked for, as in `size_allowance 4 instead of 6`; a field that it does not have does not
 * differ (docs/exactly-once.md, What a write answers).
 */
export function differencesFrom(asked: EditedFields, license: License): string[] {
  return (['remote_user', 'app_code', 'size_allowance'] as const).flatMap((name) => {
    const answered = Array.isArray(license.fields[name]) ? 'a list' : textOf(license, name);
    const wanted = asked[name];
    if (wanted === undefined || answered === undefined || answered === String(wanted)) return [];
    return [`${name} ${quoted(answered)} instead of ${quoted(wanted)}`];
  });
}

function quoted(value: string | number): string {
  return typeof value === 'number' || /^\d+$/.test(value) ? String(value) : `'${value}'`;
}
