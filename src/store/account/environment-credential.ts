import { Failure } from '../../core/failure.ts';
import { variable, variableWithText, type Environment } from '../../core/system.ts';
import { readField, valuesOf } from '../../schema/field.ts';
import {
  accountFields,
  credentialFields,
  variableOf,
  variablesOf,
  type CredentialValues,
  type Kind,
  type ProfileField,
} from '../../schema/profile.ts';

export type EnvironmentKey =
  { readonly variable: string; readonly text: string } | { readonly variable: string; readonly file: string };

/** The environment's complete credential; opens no key file. @throws Failure config for a part of one; usage */
export function environmentCredential<K extends Kind>(
  env: Environment,
  kind: K,
): { readonly values: CredentialValues<K>; readonly key: EnvironmentKey } | undefined {
  const rows: Readonly<Record<string, ProfileField>> = credentialFields[kind];
  for (const name of Object.keys(variablesOf(kind))) variableWithText(env, name);
  const textOf = (name: string): string | undefined => variable(env, variableOf(kind, name));
  const belonging = Object.keys(rows).filter((name) => rows[name]?.environment !== undefined && !rows[name].alone);
  const present = belonging.filter((name) => textOf(name) !== undefined);
  const key = environmentKey(env, kind);
  if (present.length === 0 && !key) return undefined;
  const missing = belonging.filter((name) => rows[name]?.required && textOf(name) === undefined);
  if (!key || missing.length > 0) throw incomplete(kind, present, missing, key);
  const values = valuesOf(credentialFields[kind], (name, field) => {
    const text = rows[name]?.environment === undefined ? undefined : textOf(name);
    return text === undefined ? undefined : readField(variableOf(kind, name), field, text);
  });
  return { values, key };
}

/** CHATELAINE_APP_CODE: completes the environment's credential, alone acts as --app-code. @throws Failure usage */
export function appCodeOf(env: Environment): number | undefined {
  const name = variableOf('licensing', 'app_code');
  const text = variable(env, name);
  return text === undefined ? undefined : readField(name, accountFields.licensing.app_code, text);
}

function environmentKey(env: Environment, kind: Kind): EnvironmentKey | undefined {
  const [name, fileName] = [variableOf(kind, 'api_key'), variableOf(kind, 'api_key_file')];
  const [text, file] = [variable(env, name), variable(env, fileName)];
  if (text !== undefined && file !== undefined)
    throw new Failure('config', `${name} and ${fileName} are both set`, { hint: 'Unset one of them.' });
  if (text !== undefined) return { variable: name, text };
  return file === undefined ? undefined : { variable: fileName, file };
}

function incomplete(
  kind: Kind,
  present: readonly string[],
  missing: readonly string[],
  key: EnvironmentKey | undefined,
): Failure {
  const namesOf = (fields: readonly string[]): string[] => fields.map((name) => variableOf(kind, name));
  const keyNames = `${variableOf(kind, 'api_key')} (or ${variableOf(kind, 'api_key_file')})`;
  const lacking = [...namesOf(missing), ...(key ? [] : [keyNames])];
  const set = [...namesOf(present), ...(key ? [key.variable] : [])];
  return new Failure(
    'config',
    `the environment holds only a part of a credential: ${lacking.join(', ')} ${lacking.length > 1 ? 'are' : 'is'} missing`,
    { hint: `Set what is missing, or unset ${set.join(', ')}: variables and profiles are never mixed.` },
  );
}
