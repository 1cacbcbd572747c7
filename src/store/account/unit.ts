import { Failure, labelled } from '../../core/failure.ts';
import { variable, type Environment } from '../../core/world.ts';
import { readField } from '../../schema/field.ts';
import { readEmail } from './profile.ts';
import { readBaseUrl, readSite } from './url.ts';

/** Where the key of a unit of the environment is. */
export type UnitKey =
  { readonly variable: string; readonly text: string } | { readonly variable: string; readonly file: string };

export interface LicensingUnit {
  readonly base_url: string;
  readonly app_code: number | undefined;
  readonly key: UnitKey;
}

export interface ChatUnit {
  readonly site: string;
  readonly email: string;
  readonly key: UnitKey;
}

/**
 * The licensing credential that the environment holds; undefined where it holds none of it. No key file is opened.
 * @throws Failure config naming what is missing or doubled, usage for a malformed value
 */
export function licensingUnit(env: Environment): LicensingUnit | undefined {
  const unit = unitOf(env, ['CHATELAINE_BASE_URL'], 'CHATELAINE_API_KEY');
  if (!unit) return undefined;
  const base_url = labelled('CHATELAINE_BASE_URL', () => readBaseUrl(unit.values[0] ?? ''));
  return { base_url, app_code: appCodeOf(env), key: unit.key };
}

/**
 * The chat credential that the environment holds; undefined where it holds none of it.
 * @throws Failure config naming what is missing or doubled, usage for a malformed value
 */
export function chatUnit(env: Environment): ChatUnit | undefined {
  const unit = unitOf(env, ['CHATELAINE_CHAT_SITE', 'CHATELAINE_CHAT_EMAIL'], 'CHATELAINE_CHAT_API_KEY');
  if (!unit) return undefined;
  const [site = '', email = ''] = unit.values;
  return {
    site: labelled('CHATELAINE_CHAT_SITE', () => readSite(site)),
    email: labelled('CHATELAINE_CHAT_EMAIL', () => readEmail(email)),
    key: unit.key,
  };
}

/**
 * CHATELAINE_APP_CODE: with the unit it completes it, alone it acts as --app-code.
 * @throws Failure usage when it is not an integer
 */
export function appCodeOf(env: Environment): number | undefined {
  const text = variable(env, 'CHATELAINE_APP_CODE');
  if (text === undefined) return undefined;
  return readField('CHATELAINE_APP_CODE', { kind: 'integer', help: 'Code of the application' }, text);
}

interface Unit {
  readonly values: readonly string[];
  readonly key: UnitKey;
}

function unitOf(env: Environment, names: readonly string[], keyName: string): Unit | undefined {
  const fileName = `${keyName}_FILE`;
  const [text, file] = [variable(env, keyName), variable(env, fileName)];
  const present = [...names, keyName, fileName].filter((name) => variable(env, name) !== undefined);
  if (present.length === 0) return undefined;
  if (text !== undefined && file !== undefined) {
    throw new Failure('config', `${keyName} and ${fileName} are both set`, { hint: 'Unset one of them.' });
  }
  const missing = names.filter((name) => variable(env, name) === undefined);
  const key = unitKey(keyName, text, fileName, file);
  if (key && missing.length === 0) return { values: names.map((name) => variable(env, name) ?? ''), key };
  throw incomplete(present, key ? missing : [...missing, `${keyName} (or ${fileName})`]);
}

function unitKey(
  name: string,
  text: string | undefined,
  fileName: string,
  file: string | undefined,
): UnitKey | undefined {
  if (text !== undefined) return { variable: name, text };
  return file === undefined ? undefined : { variable: fileName, file };
}

function incomplete(present: readonly string[], missing: readonly string[]): Failure {
  return new Failure(
    'config',
    `the environment holds only a part of a credential: ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing`,
    {
      hint: `Set what is missing, or unset ${present.join(', ')}: variables and profiles are never mixed.`,
    },
  );
}
